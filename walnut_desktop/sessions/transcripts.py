"""Opening the chat of a session: its newest part at once, older parts on wish, new lines as they come.

A transcript of 500 MB opens as fast as one of 1 MB: only its end is read (P2). The chat is made from the
stream file, which holds everything that the agent has said and every message that was handed to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import orjson

from walnut_desktop.domain.errors import HostUnreachable
from walnut_desktop.domain.ids import Sid
from walnut_desktop.hosts.host import Host
from walnut_desktop.hosts.link import Following
from walnut_desktop.protocol.messages import Attach, ReadStream
from walnut_desktop.runtime.spawner import Spawner
from walnut_desktop.transcript.blocks import Block, Change
from walnut_desktop.transcript.chat import ChatBuilder, join_older
from walnut_desktop.transcript.lines import LineSplitter, read_lines

WINDOW = 384 * 1024
OLDER_WINDOW = 768 * 1024
MAX_OLDER_WINDOW = 32 * 1024 * 1024


class Transcript:
    """One open chat. `on_changes` gets live changes, `on_reset` the blocks when they begin anew."""

    def __init__(
        self,
        sid: Sid,
        host: Host,
        spawner: Spawner,
        on_changes: Callable[[Sequence[Change]], None],
        on_reset: Callable[[Sequence[Block]], None],
    ) -> None:
        self.sid = sid
        self._host = host
        self._spawner = spawner
        self._on_changes = on_changes
        self._on_reset = on_reset
        self._builder = ChatBuilder()
        self._splitter = LineSplitter()
        self._attaching = asyncio.Lock()
        self._following: Following | None = None
        self._start = 0  # the first byte that is shown
        self._oldest: ChatBuilder = self._builder
        self._epoch = ""
        self._opening = True
        self._target = 0  # where the file ended when it was attached
        self._closed = False

    @property
    def more_above(self) -> bool:
        """Whether older parts are not shown yet."""
        return self._start > 0

    async def open(self) -> None:
        """Read the end of the file, show it, and go on with what comes."""
        size, start = await self._tail_start()
        self._start = start
        self._splitter = LineSplitter(start)
        await self._follow(size)

    async def _tail_start(self) -> tuple[int, int]:
        """The file's size, and the start of a line near its end."""
        size = await self._host.stream_size(self.sid)
        start = max(0, size - WINDOW)
        if start:
            data = await self._host.read_stream(ReadStream(self.sid, start, WINDOW))
            cut = (data or b"").find(b"\n")
            start = size if cut < 0 else start + cut + 1
            if cut < 0:
                start = await self._line_start_before(size)
        return size, start

    async def _line_start_before(self, end: int) -> int:
        """The start of the last whole line before `end`, looked for in growing steps."""
        step = OLDER_WINDOW
        while step < MAX_OLDER_WINDOW:
            start = max(0, end - step)
            data = await self._host.read_stream(ReadStream(self.sid, start, end - start)) or b""
            if not start:
                return 0
            cut = data.find(b"\n")
            if 0 <= cut < len(data) - 1:
                return start + cut + 1
            step *= 4
        return end

    async def _follow(self, expected: int) -> None:
        async with self._attaching:
            if self._following is None:
                await self._follow_now(expected)

    async def _follow_now(self, expected: int) -> None:
        def begin(following: Following) -> None:
            self._epoch = following.epoch
            if following.restarted:
                self._begin_anew()
            self._target = following.size

        request = Attach(self.sid, self._splitter.read_offset, self._epoch)
        self._target = expected
        following = await self._host.follow(request, self._take, begin)
        if self._closed:
            await self._host.unfollow(following)
            return
        self._following = following
        self._show_when_there()

    def _begin_anew(self) -> None:
        self._builder = ChatBuilder()
        self._oldest = self._builder
        self._splitter = LineSplitter()
        self._start = 0
        self._opening = True

    def _take(self, offset: int, data: bytes) -> None:
        if self._closed:
            return
        data = data[max(0, self._splitter.read_offset - offset) :]
        changes = self._builder.feed(read_lines(self._splitter, data, orjson.loads))
        if self._opening:
            self._show_when_there()
        elif changes:
            self._on_changes(changes)

    def _show_when_there(self) -> None:
        if self._opening and self._splitter.read_offset >= self._target:
            self._opening = False
            self._on_reset(list(self._builder.blocks.values()))

    async def load_older(self) -> list[Block]:
        """The part before what is shown; empty at the beginning."""
        if not self._start:
            return []
        end, window = self._start, OLDER_WINDOW
        while True:
            start = max(0, end - window)
            data = await self._host.read_stream(ReadStream(self.sid, start, end - start)) or b""
            cut = -1 if not start else data.find(b"\n")
            if not start or (0 <= cut < len(data) - 1) or window >= MAX_OLDER_WINDOW:
                break
            window *= 4
        first = start + cut + 1
        older = ChatBuilder()
        splitter = LineSplitter(first)
        older.feed(read_lines(splitter, data[cut + 1 :], orjson.loads))
        blocks = join_older(older, self._oldest)
        older.orphans.update(self._oldest.orphans)
        self._oldest = older
        self._start = first
        return blocks

    def link_lost(self) -> None:
        """The link is gone; what is shown stays."""
        self._following = None

    async def link_back(self) -> None:
        """Go on behind the last byte."""
        if not self._closed:
            await self._follow(self._splitter.read_offset)

    def close(self) -> None:
        """Show it no more; the helper stops sending."""
        self._closed = True
        following, self._following = self._following, None
        if following is not None:
            self._spawner.spawn(self._unfollow(following), f"close:{self.sid}")

    async def _unfollow(self, following: Following) -> None:
        try:
            await self._host.unfollow(following)
        except HostUnreachable:
            return
