"""The lanes of a connection (Rule F5): small before streams before bulk; a sleeping reader costs little."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.fakes.loop import eventually, on_loop
from walnut_desktop.protocol.channel import MAX_QUEUED, Channel, ChannelClosed
from walnut_desktop.protocol.codec import (
    BulkPiece,
    Frame,
    ProtocolError,
    StreamPiece,
    encode_bulk,
    encode_stream,
)

PIECE = b"x" * 32 * 1024


class Pieces:
    """A source of numbered pieces."""

    def __init__(self, make: Callable[[int], bytes], count: int) -> None:
        self._make = make
        self._count = count
        self.given = 0

    def next_frame(self) -> bytes | None:
        """The next piece."""
        if self.given == self._count:
            return None
        self.given += 1
        return self._make(self.given - 1)


def bulk(transfer: int, count: int) -> Pieces:
    """Pieces of a bulk answer."""
    return Pieces(
        lambda n: encode_bulk(BulkPiece(transfer, False, n.to_bytes(4, "big") + PIECE)), count
    )


def stream(number: int, count: int) -> Pieces:
    """Pieces of a stream."""
    return Pieces(lambda n: encode_stream(StreamPiece(number, n, PIECE)), count)


@asynccontextmanager
async def connected(tmp_path: Path) -> AsyncIterator[tuple[Channel, Channel]]:
    """Two ends of a socket; the writer of the first is not running yet."""
    accepted: asyncio.Queue[Channel] = asyncio.Queue()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.put_nowait(Channel(reader, writer))

    server = await asyncio.start_unix_server(accept, str(tmp_path / "s"))
    reader, writer = await asyncio.open_unix_connection(str(tmp_path / "s"))
    near, far = Channel(reader, writer), await accepted.get()
    try:
        yield near, far
    finally:
        near.close()
        far.close()
        server.close()


async def write_all(
    near: Channel, far: Channel, enough: Callable[[list[Frame]], bool]
) -> list[Frame]:
    """Let the near end write and the far end read until there is enough."""
    got: list[Frame] = []
    loops = [
        asyncio.ensure_future(near.write_loop()),
        asyncio.ensure_future(far.read_loop(got.append)),
    ]
    await eventually(lambda: enough(got), "the frames")
    near.close()
    await asyncio.gather(*loops)
    return got


@pytest.mark.rule("F5")
@on_loop
async def test_small_messages_go_before_streams_and_streams_before_bulk(tmp_path: Path) -> None:
    async with connected(tmp_path) as (near, far):
        near.add_source(bulk(1, 20), bulk=True)
        near.add_source(stream(2, 20), bulk=False)
        for number in range(20):
            near.send({"n": number})
        got = await write_all(near, far, lambda frames: len(frames) == 60)
    kinds = [type(frame) for frame in got]
    assert kinds == [dict] * 20 + [StreamPiece] * 20 + [BulkPiece] * 20
    assert [frame["n"] for frame in got if isinstance(frame, dict)] == list(range(20))


@pytest.mark.rule("F5")
@on_loop
async def test_a_live_message_overtakes_a_big_answer_that_has_begun(tmp_path: Path) -> None:
    async with connected(tmp_path) as (near, far):
        big = bulk(1, 900)  # 28 MB
        near.add_source(big, bulk=True)
        got: list[Frame] = []
        loops = [
            asyncio.ensure_future(near.write_loop()),
            asyncio.ensure_future(far.read_loop(got.append)),
        ]
        await eventually(lambda: big.given > 100, "the big answer is on its way")
        near.send({"live": True})
        sent_at = big.given
        await eventually(lambda: {"live": True} in got, "the live message")
        place = got.index({"live": True})
        assert place - sent_at < 40, "only what was in the socket goes before it"
        near.close()
        await asyncio.gather(*loops)


@pytest.mark.rule("F5")
@on_loop
async def test_sources_of_a_lane_take_turns_and_each_keeps_its_order(tmp_path: Path) -> None:
    async with connected(tmp_path) as (near, far):
        for number in (1, 2, 3):
            near.add_source(stream(number, 10), bulk=False)
        got = await write_all(near, far, lambda frames: len(frames) == 30)
    pieces = [frame for frame in got if isinstance(frame, StreamPiece)]
    for number in (1, 2, 3):
        offsets = [piece.offset for piece in pieces if piece.stream == number]
        assert offsets == list(range(10))
    assert {piece.stream for piece in pieces[:3]} == {1, 2, 3}


@pytest.mark.rule("F5")
@on_loop
async def test_a_reader_that_sleeps_is_not_fed_and_goes_on_where_it_was(tmp_path: Path) -> None:
    async with connected(tmp_path) as (near, far):
        source = stream(1, 400)
        near.add_source(source, bulk=False)
        writing = asyncio.ensure_future(near.write_loop())
        given = -1
        while given != source.given:
            given = source.given
            await asyncio.sleep(0.05)
        assert 0 < given < 60, "about what the socket takes"
        got: list[Frame] = []
        reading = asyncio.ensure_future(far.read_loop(got.append))
        await eventually(lambda: len(got) == 400, "the rest")
        assert [frame.offset for frame in got if isinstance(frame, StreamPiece)] == list(range(400))
        near.close()
        await asyncio.gather(writing, reading)


@pytest.mark.rule("F5")
@on_loop
async def test_a_reader_that_never_reads_is_cut_off_at_the_bound(tmp_path: Path) -> None:
    async with connected(tmp_path) as (near, _far):
        writing = asyncio.ensure_future(near.write_loop())
        text = "x" * 1_000_000
        sent = 0
        while not near.closed:
            near.send({"text": text})
            sent += 1
            assert sent * len(text) < MAX_QUEUED * 1.1
            await asyncio.sleep(0)
        assert sent * len(text) > MAX_QUEUED * 0.9
        with pytest.raises(ChannelClosed):
            near.send({})
        await asyncio.wait_for(writing, 5)


@on_loop
async def test_nonsense_ends_the_connection(tmp_path: Path) -> None:
    async with connected(tmp_path) as (near, far):
        near._writer.write(b"GET / HTTP/1.1\r\n\r\n")
        with pytest.raises(ProtocolError):
            await far.read_loop(lambda _frame: None)
        assert far.closed


@on_loop
async def test_a_source_that_was_removed_is_not_asked(tmp_path: Path) -> None:
    async with connected(tmp_path) as (near, far):
        gone = stream(1, 5)
        near.add_source(gone, bulk=False)
        near.add_source(gone, bulk=False)
        near.remove_source(gone)
        near.remove_source(gone)
        near.send({"end": 1})
        assert await write_all(near, far, lambda frames: {"end": 1} in frames) == [{"end": 1}]
        assert gone.given == 0


@on_loop
async def test_the_end_of_one_side_ends_both_loops_of_the_other(tmp_path: Path) -> None:
    async with connected(tmp_path) as (near, far):
        loops = [
            asyncio.ensure_future(far.write_loop()),
            asyncio.ensure_future(far.read_loop(print)),
        ]
        near.close()
        await asyncio.wait_for(asyncio.gather(*loops), 5)
        assert far.closed
