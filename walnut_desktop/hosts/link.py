"""A link to one daemon: requests with answers, events, followed streams, and ranges of files (Rule F1).

The link knows nothing of what the lines mean, and nothing above it knows whether the host is near or far.
Trouble with the link is `HostUnreachable`; a refusal of the daemon is `RemoteError`; neither means “missing”.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from walnut_desktop.domain.errors import HostUnreachable
from walnut_desktop.protocol.channel import Channel, ChannelClosed
from walnut_desktop.protocol.codec import BulkPiece, Frame, ProtocolError, StreamPiece
from walnut_desktop.protocol.messages import Attach, ReadStream, RemoteError, to_wire
from walnut_desktop.runtime.spawner import Spawner

log = logging.getLogger(__name__)

REQUEST_TIMEOUT_S = 30.0
ACK_EVERY = 64 * 1024
OnData = Callable[[int, bytes], None]


@dataclass
class Following:
    """A followed stream file: `on_data(offset, bytes)` gets its bytes in order, without gap or overlap."""

    number: int
    size: int
    epoch: str
    restarted: bool
    session: Mapping[str, Any]


OnBegin = Callable[[Following], None]


@dataclass
class _Asked:
    """A request on its way. `opened` gets a good answer at once, before anything that follows it."""

    answer: asyncio.Future[dict[str, Any]]
    opened: Callable[[Mapping[str, Any]], None]


@dataclass
class _Follower:
    on_data: OnData
    acked: int


@dataclass
class _Transfer:
    parts: list[bytes]
    count: int
    done: asyncio.Future[bytes]


class Link:
    """One open connection to a daemon. Made by `hosts.local` (and, later, over SSH)."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        spawner: Spawner,
        on_event: Callable[[Mapping[str, Any]], None],
    ) -> None:
        self._channel = Channel(reader, writer)
        self._on_event = on_event
        self._next_id = 1
        self._asked: dict[int, _Asked] = {}
        self._followers: dict[int, _Follower] = {}
        self._transfers: dict[int, _Transfer] = {}
        self.closed = asyncio.Event()
        spawner.spawn(self._channel.write_loop(), "link-write")
        spawner.spawn(self._read(), "link-read")

    @property
    def is_open(self) -> bool:
        """Whether it takes requests; `closed` is set a moment after it does not."""
        return not self._channel.closed

    def close(self) -> None:
        """End the link; the daemon and its sessions go on."""
        self._channel.close()

    async def request(
        self,
        op: str,
        fields: Mapping[str, Any] | None = None,
        timeout: float = REQUEST_TIMEOUT_S,
        opened: Callable[[Mapping[str, Any]], None] = lambda _answer: None,
    ) -> dict[str, Any]:
        """Ask and wait for the answer. Raises RemoteError (refused) or HostUnreachable (no answer)."""
        number = self._next_id
        self._next_id += 1
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._asked[number] = _Asked(future, opened)
        try:
            self._channel.send({"id": number, "op": op, **(fields or {})})
            answer = await asyncio.wait_for(future, timeout)
        except ChannelClosed:
            raise HostUnreachable("The connection to the helper is closed.") from None
        except TimeoutError:
            raise HostUnreachable("The helper does not answer.") from None
        finally:
            self._asked.pop(number, None)
        if not answer.get("ok"):
            raise RemoteError(
                str(answer.get("error")), str(answer.get("message")), answer.get("detail")
            )
        return answer

    async def follow(self, request: Attach, on_data: OnData, begin: OnBegin) -> Following:
        """Follow a stream file from an offset on. `begin` is told before the first byte comes."""
        told: list[Following] = []

        def opened(answer: Mapping[str, Any]) -> None:
            following = Following(
                int(answer["stream"]),
                int(answer.get("size") or 0),
                str(answer.get("epoch") or ""),
                bool(answer.get("restarted")),
                answer.get("session") or {},
            )
            start = 0 if following.restarted else request.offset
            self._followers[following.number] = _Follower(on_data, start)
            told.append(following)
            begin(following)

        await self.request("attach", to_wire(request), opened=opened)
        return told[0]

    async def unfollow(self, following: Following) -> None:
        """Follow no more. A link that is gone has ended it already."""
        self._followers.pop(following.number, None)
        try:
            await self.request("detach", {"stream": following.number})
        except HostUnreachable:
            return

    async def read_stream(self, request: ReadStream) -> bytes | None:
        """A range of a stream file; None when there is no such file."""
        done: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        def opened(answer: Mapping[str, Any]) -> None:
            if not answer.get("missing"):
                self._transfers[int(answer["transfer"])] = _Transfer([], 0, done)

        answer = await self.request("read_stream", to_wire(request), opened=opened)
        if answer.get("missing"):
            return None
        try:
            return await done
        finally:
            if self._transfers.pop(int(answer["transfer"]), None) is not None:
                self._give_back(answer)

    def _give_back(self, answer: Mapping[str, Any]) -> None:
        """Nobody waits any more for what the daemon has opened."""
        for kind in ("stream", "transfer"):
            if kind in answer:
                self._tell({"id": 0, "op": "detach", kind: answer[kind]})

    async def _read(self) -> None:
        try:
            await self._channel.read_loop(self._on_frame)
        except ProtocolError as error:
            log.warning("link closed: %s", error)
        finally:
            gone = HostUnreachable("The connection to the helper is closed.")
            for asked in self._asked.values():
                if not asked.answer.done():
                    asked.answer.set_exception(gone)
            for transfer in self._transfers.values():
                if not transfer.done.done():
                    transfer.done.set_exception(gone)
            self.closed.set()

    def _on_frame(self, frame: Frame) -> None:
        if isinstance(frame, StreamPiece):
            self._stream_piece(frame)
        elif isinstance(frame, BulkPiece):
            self._bulk_piece(frame)
        elif "event" in frame:
            self._on_event(frame)
        else:
            self._answered(frame)

    def _answered(self, frame: dict[str, Any]) -> None:
        asked = self._asked.get(frame.get("id", 0))
        if asked is None or asked.answer.done():
            self._give_back(frame)
            return
        if frame.get("ok"):
            asked.opened(frame)
        asked.answer.set_result(frame)

    def _stream_piece(self, piece: StreamPiece) -> None:
        follower = self._followers.get(piece.stream)
        if follower is None:
            return  # still on the way when it was followed no more
        follower.on_data(piece.offset, piece.data)
        end = piece.offset + len(piece.data)
        if end - follower.acked >= ACK_EVERY:
            follower.acked = end
            self._tell({"op": "ack", "stream": piece.stream, "offset": end})

    def _bulk_piece(self, piece: BulkPiece) -> None:
        transfer = self._transfers.get(piece.transfer)
        if transfer is None:
            return
        transfer.parts.append(piece.data)
        transfer.count += len(piece.data)
        self._tell({"op": "ack", "transfer": piece.transfer, "count": transfer.count})
        if piece.last:
            del self._transfers[piece.transfer]
            if not transfer.done.done():
                transfer.done.set_result(b"".join(transfer.parts))

    def _tell(self, message: dict[str, Any]) -> None:
        if not self._channel.closed:
            self._channel.send(message)
