"""One connection with lanes (Rule F5): small messages first, then streams, then bulk pieces.

What waits to be written is never a queue of big things: stream and bulk sources are asked for their next
piece only when the socket takes it, and each has a credit that the other side renews as it consumes.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Optional, Protocol

from walnut_desktop.protocol.codec import Decoder, Frame, ProtocolError, encode_json

HIGH_WATER = 64 * 1024
READ_SIZE = 256 * 1024
MAX_QUEUED = 64 * 1024 * 1024


class Source(Protocol):
    """Something that has pieces to send whenever there is room."""

    def next_frame(self) -> Optional[bytes]:
        """The next encoded frame, or None when there is none (now)."""


class ChannelClosed(Exception):
    """The connection is gone."""


class Channel:
    """Reads frames into a callback and writes messages and sources by lane."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._small: deque[bytes] = deque()
        self._queued = 0
        self._lanes: tuple[deque[Source], deque[Source]] = (deque(), deque())
        self._wake = asyncio.Event()
        self._closed = False
        transport = writer.transport
        transport.set_write_buffer_limits(high=HIGH_WATER)

    @property
    def closed(self) -> bool:
        """Whether the connection has ended."""
        return self._closed

    def send(self, obj: dict[str, Any]) -> None:
        """Queue a small message. A peer that reads nothing for 64 MB of them is cut off."""
        if self._closed:
            raise ChannelClosed
        data = encode_json(obj)
        self._small.append(data)
        self._queued += len(data)
        if self._queued > MAX_QUEUED:
            self._cut()
            return
        self._wake.set()

    def add_source(self, source: Source, *, bulk: bool) -> None:
        """Ask `source` for pieces from now on whenever there is room."""
        lane = self._lanes[1 if bulk else 0]
        if source not in lane:
            lane.append(source)
        self._wake.set()

    def remove_source(self, source: Source) -> None:
        """Ask it no more."""
        for lane in self._lanes:
            if source in lane:
                lane.remove(source)

    def wake(self) -> None:
        """A source has something again."""
        self._wake.set()

    def close(self) -> None:
        """End the connection when what is on its way is written; both loops return."""
        if not self._closed:
            self._closed = True
            self._wake.set()
            self._writer.close()

    def _cut(self) -> None:
        """End it now: nobody reads there, so waiting for what is on its way would have no end."""
        if not self._closed:
            self._closed = True
            self._wake.set()
            self._small.clear()
            self._writer.transport.abort()

    async def read_loop(self, on_frame: Callable[[Frame], None]) -> None:
        """Hand every frame to `on_frame` until the connection ends. Raises ProtocolError on nonsense."""
        decoder = Decoder()
        try:
            while not self._closed:
                try:
                    data = await self._reader.read(READ_SIZE)
                except (ConnectionError, OSError):
                    return
                if not data:
                    return
                for frame in decoder.feed(data):
                    on_frame(frame)
        finally:
            self._cut()

    async def write_loop(self) -> None:
        """Write by lane until the connection ends."""
        try:
            while not self._closed:
                frame = self._next()
                if frame is None:
                    self._wake.clear()
                    await self._wake.wait()
                    continue
                self._writer.write(frame)
                await self._writer.drain()
        except (ConnectionError, OSError, RuntimeError):
            return
        finally:
            self.close()

    def _next(self) -> Optional[bytes]:
        if self._small:
            data = self._small.popleft()
            self._queued -= len(data)
            return data
        for lane in self._lanes:
            for _ in range(len(lane)):
                source = lane[0]
                lane.rotate(-1)  # sources of a lane take turns
                frame = source.next_frame()
                if frame is not None:
                    return frame
        return None


__all__ = ["Channel", "ChannelClosed", "ProtocolError", "Source"]
