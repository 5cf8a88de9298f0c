"""One core's connection: reads its requests, runs them, and feeds it what it follows."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Optional

from walnut_desktop.daemon import stream_file
from walnut_desktop.daemon.feeding import BulkAnswer, FollowedStream
from walnut_desktop.daemon.registry import Registry
from walnut_desktop.protocol.channel import Channel, ChannelClosed
from walnut_desktop.protocol.codec import Frame, ProtocolError
from walnut_desktop.protocol.messages import (
    Attach,
    BadRequest,
    ReadStream,
    RemoteError,
    parse,
)

log = logging.getLogger(__name__)

Operation = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]
MAX_READ = 64 * 1024 * 1024


class Connection:
    """The server's side of one connection."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        registry: Registry,
        operations: Mapping[str, Operation],
    ) -> None:
        self.channel = Channel(reader, writer)
        self._registry = registry
        self._operations: dict[str, Operation] = {
            **operations,
            "attach": self._attach,
            "detach": self._detach,
            "read_stream": self._read_stream,
        }
        self._streams: dict[int, FollowedStream] = {}
        self._bulks: dict[int, BulkAnswer] = {}
        self._next_number = 1
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serve until the connection ends."""
        loop = asyncio.get_running_loop()
        writing = loop.create_task(self.channel.write_loop())
        try:
            await self.channel.read_loop(self._on_frame)
        except ProtocolError as error:
            log.warning("connection closed: %s", error)
        finally:
            self.channel.close()
            for stream in self._streams.values():
                stream.close()
            for bulk in self._bulks.values():
                bulk.close()
            self._streams.clear()
            self._bulks.clear()
            await writing

    @property
    def follows(self) -> bool:
        """Whether it follows any stream."""
        return bool(self._streams)

    def grown(self, sid: Optional[str]) -> None:
        """A stream file (or, with None, perhaps any) has grown."""
        if sid is None or any(stream.sid == sid for stream in self._streams.values()):
            self.channel.wake()

    def tell(self, event: Mapping[str, Any]) -> None:
        """Send an event, unless the connection has just ended."""
        if not self.channel.closed:
            self.channel.send(dict(event))

    def _on_frame(self, frame: Frame) -> None:
        if not isinstance(frame, dict):
            raise ProtocolError("a client sends messages only")
        if frame.get("op") == "ack":
            self._ack(frame)
            return
        task = asyncio.get_running_loop().create_task(self._answer(frame))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _ack(self, frame: Mapping[str, Any]) -> None:
        stream = self._streams.get(_number(frame, "stream"))
        if stream is not None and isinstance(frame.get("offset"), int):
            stream.ack(frame["offset"])
        bulk = self._bulks.get(_number(frame, "transfer"))
        if bulk is not None and isinstance(frame.get("count"), int):
            bulk.ack(frame["count"])
            if bulk.done:
                self.channel.remove_source(bulk)
                del self._bulks[bulk.transfer]
        self.channel.wake()

    async def _answer(self, frame: Mapping[str, Any]) -> None:
        answer: dict[str, Any] = {"id": frame.get("id"), "ok": True}
        operation = self._operations.get(str(frame.get("op")))
        try:
            if operation is None:
                raise BadRequest(f"there is no operation “{frame.get('op')}”")
            answer.update(await operation(frame))
        except BadRequest as error:
            answer.update(ok=False, error="bad_request", message=f"Bad request: {error}.")
        except RemoteError as error:
            answer.update(ok=False, error=error.error, message=str(error), detail=error.detail)
        except Exception:
            # The border of a request: one that goes wrong must not take the connection along.
            log.exception("request failed op=%s", frame.get("op"))
            answer.update(ok=False, error="internal", message="The helper met an unexpected error.")
        try:
            self.channel.send(answer)
        except ChannelClosed:
            return
        except ProtocolError as error:
            log.error("an answer can't be sent op=%s: %s", frame.get("op"), error)
            said = "The answer is too long."
            self.channel.send(
                {"id": answer["id"], "ok": False, "error": "internal", "message": said}
            )

    def _check_open(self) -> None:
        """What is opened for a connection is closed with it, so nothing is opened behind its end."""
        if self.channel.closed:
            raise RemoteError("closed", "The connection is closed.")

    async def _attach(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        request = parse(Attach, frame)
        self._check_open()
        path = self._registry.files(request.sid).stream
        size, epoch = stream_file.size_of(path), stream_file.epoch_of(path)
        offset = max(0, request.offset)
        restarted = offset > size or bool(request.epoch and request.epoch != epoch)
        number = self._next_number
        self._next_number += 1
        stream = FollowedStream(number, request.sid, path, 0 if restarted else offset)
        self._streams[number] = stream
        self.channel.add_source(stream, bulk=False)
        return {
            "stream": number,
            "size": size,
            "epoch": epoch,
            "restarted": restarted,
            "session": self._registry.describe(request.sid),
        }

    async def _detach(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        stream = self._streams.pop(_number(frame, "stream"), None)
        if stream is not None:
            self.channel.remove_source(stream)
            stream.close()
        bulk = self._bulks.pop(_number(frame, "transfer"), None)
        if bulk is not None:
            self.channel.remove_source(bulk)
            bulk.close()
        return {}

    async def _read_stream(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        request = parse(ReadStream, frame)
        self._check_open()
        path = self._registry.files(request.sid).stream
        if request.offset < 0 or not 0 <= request.length <= MAX_READ:
            raise BadRequest("“offset” and “length” must name a range of at most 64 MB")
        try:
            bulk = BulkAnswer(self._next_number, path, request.offset, request.length)
        except FileNotFoundError:
            return {"missing": True}
        self._next_number += 1
        self._bulks[bulk.transfer] = bulk
        self.channel.add_source(bulk, bulk=True)
        return {
            "transfer": bulk.transfer,
            "length": bulk.length,
            "size": stream_file.size_of(path),
            "epoch": stream_file.epoch_of(path),
        }


def _number(frame: Mapping[str, Any], name: str) -> int:
    value = frame.get(name)
    return value if isinstance(value, int) else 0
