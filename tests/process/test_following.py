"""Following streams over one link: no gap, no overlap, nothing held up (Rules S4, F5)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from tests.fakes.loop import on_loop
from tests.process.agents import Desk, desk, eventually, home
from walnut_desktop.daemon import feeding, stream_file
from walnut_desktop.domain.errors import HostUnreachable
from walnut_desktop.protocol.codec import encode_json
from walnut_desktop.protocol.messages import Attach, ReadStream, Status

__all__ = ["home"]


class Reader:
    """Takes what is followed; a gap or an overlap is an error."""

    def __init__(self, offset: int = 0) -> None:
        self.offset = offset
        self.data = bytearray()

    def take(self, at: int, data: bytes) -> None:
        """The next bytes."""
        assert at == self.offset + len(self.data), f"{at} after {self.offset + len(self.data)}"
        self.data += data

    @property
    def end(self) -> int:
        """Behind the last byte."""
        return self.offset + len(self.data)


@pytest.mark.rule("S4")
@on_loop
async def test_readers_from_anywhere_see_every_byte_while_lines_come(
    home: Path, tmp_path: Path
) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("ticks")
        await it.hear(sid, "tick", 50)
        readers: list[Reader] = []
        for number in range(30):
            size = it.stream(sid).stat().st_size
            reader = Reader(size * number // 29)
            await it.host.follow(Attach(sid, reader.offset), reader.take)
            readers.append(reader)
        await it.hear(sid, "tick", 300)
        await it.hand_over(sid, {"type": "user"})
        await it.hear_if(sid, lambda line: line.get("subtype") == "process-end")
        whole = it.stream(sid).read_bytes()
        await eventually(lambda: all(one.end == len(whole) for one in readers), "all to the end")
        assert all(bytes(one.data) == whole[one.offset :] for one in readers)
        ticks = [line["number"] for line in await it.hear(sid, "tick")]
        assert ticks == list(range(len(ticks)))


@pytest.mark.rule("F5")
@on_loop
async def test_a_huge_answer_does_not_hold_live_lines_up(home: Path, tmp_path: Path) -> None:
    async with desk(home, tmp_path) as it:
        big = await it.agent("floods", "28")
        await it.hear_if(big, lambda line: line.get("type") == "ready")
        sid = await it.agent("ticks")
        reader = Reader()
        await it.host.follow(Attach(sid), reader.take)
        await eventually(lambda: reader.end > 200, "live lines")
        size = await it.host.stream_size(big)
        reading = asyncio.ensure_future(it.host.read_stream(ReadStream(big, 0, size)))
        loop, waits, before = asyncio.get_running_loop(), list[float](), reader.end
        while not reading.done():
            begun = loop.time()
            await it.hello()
            waits.append(loop.time() - begun)
        data = await reading
        assert data == it.stream(big).read_bytes()[:size]
        assert len(data) > 27_000_000
        assert reader.end > before, "live lines came meanwhile"
        assert len(waits) > 5
        assert max(waits) < 0.5, "small answers, too"


@pytest.mark.rule("F5")
@on_loop
async def test_a_reader_that_sleeps_takes_no_memory_and_holds_nobody_up(
    home: Path, tmp_path: Path
) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("floods", "5")
        await it.hear(sid, "ready")
        reader, writer = await asyncio.open_unix_connection(str(it.socket), limit=1024)
        writer.write(encode_json({"id": 1, "op": "attach", "sid": sid, "offset": 0}))
        other = Reader()
        await it.host.follow(Attach(sid), other.take)
        size = it.stream(sid).stat().st_size
        await eventually(lambda: other.end >= size, "the other has everything")
        taken = 0
        while taken < feeding.STREAM_WINDOW:
            taken += len(await reader.read(65536))
        with suppress(TimeoutError):
            while taken < size:
                taken += len(await asyncio.wait_for(reader.read(65536), 0.2))
        assert taken < feeding.STREAM_WINDOW + 100_000, "without a word of thanks no more comes"
        writer.close()


@pytest.mark.rule("S10")
@on_loop
async def test_what_is_no_text_travels_as_it_is(home: Path, tmp_path: Path) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("garbles")
        await it.hear(sid, "after")
        reader = Reader()
        await it.host.follow(Attach(sid), reader.take)
        await eventually(lambda: bytes(reader.data).endswith(b'{"type":"to'), "the torn line")
        assert b"\xff\xfe\x00 no text\n" in reader.data
        await it.hand_over(sid, {"exit": 0})
        end = await it.hear_if(sid, lambda line: line.get("subtype") == "process-end")
        assert end, "the marker stands on a line of its own"
        await eventually(lambda: reader.end == it.stream(sid).stat().st_size, "the rest")


@pytest.mark.rule("S4")
@on_loop
async def test_another_file_in_its_place_is_read_from_its_beginning(
    home: Path, tmp_path: Path
) -> None:
    path = home / "sessions" / "streams" / "s1.jsonl"
    epoch = stream_file.ensure(path)
    async with desk(home, tmp_path) as it:
        path.unlink()
        new = stream_file.ensure(path)
        with path.open("ab") as file:
            file.write(b"x" * 100_000)
        order: list[str] = []
        reader = Reader()

        def take(at: int, data: bytes) -> None:
            order.append("data")
            reader.take(at, data)

        following = await it.host.follow(
            Attach("s1", 5000, epoch), take, lambda told: order.append(f"begins {told.restarted}")
        )
        assert (following.restarted, following.epoch) == (True, new)
        await eventually(lambda: reader.end == path.stat().st_size, "everything of the new one")
        assert order[:2] == ["begins True", "data"]
        same = await it.host.follow(Attach("s1", 5000, new), Reader(5000).take)
        assert not same.restarted
        shorter = await it.host.follow(Attach("s1", 1 << 40, new), Reader().take)
        assert shorter.restarted


@pytest.mark.rule("F5")
@on_loop
async def test_who_follows_no_more_leaves_nothing_behind(home: Path, tmp_path: Path) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("floods", "3")
        await it.hear(sid, "ready")
        size = it.stream(sid).stat().st_size
        link = await it.host._ready()
        open_before = len(list(Path("/proc/self/fd").iterdir()))
        for _ in range(100):
            following = await it.host.follow(Attach(sid), lambda _at, _data: None)
            await it.host.unfollow(following)
        for _ in range(5):
            reading = asyncio.ensure_future(it.host.read_stream(ReadStream(sid, 0, size)))
            await asyncio.sleep(0.005)
            reading.cancel()
            await asyncio.wait([reading])
        assert await it.host.read_stream(ReadStream(sid, 0, size)) is not None
        await it.hello()
        assert len(list(Path("/proc/self/fd").iterdir())) <= open_before + 1
        assert (link._followers, link._transfers, link._asked) == ({}, {}, {})
        reader = Reader()
        await it.host.follow(Attach(sid), reader.take)
        await eventually(lambda: reader.end == size, "a new one has everything")


@pytest.mark.rule("F1")
@on_loop
async def test_ranges_of_files(home: Path, tmp_path: Path) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("echo")
        await it.hear(sid, "ready")
        whole = it.stream(sid).read_bytes()
        assert await it.host.read_stream(ReadStream("none", 0, 10)) is None, "missing"
        assert await it.host.stream_size("none") == 0
        for offset, length in (
            (0, 10),
            (5, 1),
            (len(whole) - 3, 100),
            (len(whole), 5),
            (1 << 50, 1),
            (0, 0),
        ):
            got = await it.host.read_stream(ReadStream(sid, offset, length))
            assert got == whole[offset : offset + length]


@pytest.mark.rule("F3")
@on_loop
async def test_a_lost_link_is_told_before_the_new_one(home: Path, tmp_path: Path) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("echo")
        told: list[bool] = []
        it.host.on_link = lambda up, _detail: told.append(up)
        (await it.host._ready()).close()
        assert not it.host.connected
        assert (await it.host.request("status", Status(sid)))["session"]["alive"]
        await eventually(lambda: told == [False, True], "both")
        assert it.host.connected


@pytest.mark.rule("S6")
@on_loop
async def test_a_link_that_is_cut_is_trouble_not_missing(home: Path, tmp_path: Path) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("floods", "20")
        await it.hear(sid, "ready")
        link = await it.host._ready()
        reading = asyncio.ensure_future(link.read_stream(ReadStream(sid, 0, 20_000_000)))
        asking = asyncio.ensure_future(link.request("hello"))
        await asyncio.sleep(0)
        link.close()
        for waiting in (reading, asking):
            with pytest.raises(HostUnreachable):
                await waiting
        with pytest.raises(HostUnreachable):
            await link.request("hello")
        with pytest.raises(HostUnreachable):
            await link.read_stream(ReadStream(sid, 0, 10))
        assert isinstance(it, Desk)
