"""A session that is being followed: its folded state, and whether its process lives."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from walnut_desktop.domain.ids import Sid
from walnut_desktop.hosts.link import Following
from walnut_desktop.transcript.fold import Fate, Fold, FoldState
from walnut_desktop.transcript.lines import LineSplitter, read_lines


class LiveSession:
    """Takes the bytes of the stream file in order and keeps the fold."""

    def __init__(self, sid: Sid, state: FoldState | None, on_change: Callable[[LiveSession], None]):
        self.sid = sid
        self.fold = Fold(state)
        self._splitter = LineSplitter(self.fold.state.offset)
        self._on_change = on_change
        self._signature: tuple[Any, ...] = ()
        self._fates: dict[str, Fate] = {}
        self._changed = asyncio.Event()
        self.attaching = asyncio.Lock()
        self.following: Following | None = None
        self.alive: bool | None = None
        self.stopping = False
        self.starting = False
        self.first_start = False  # the starter waits for its first words and deals with its end
        self.applied_offset = self.fold.state.offset

    @property
    def caught_up(self) -> bool:
        """Whether everything that the file held when it was attached is folded."""
        return self.following is not None and self._splitter.read_offset >= self.following.size

    @property
    def state(self) -> FoldState:
        """The state now; changes under the reader's hands (see `snapshot`)."""
        return self.fold.state

    def is_alive(self) -> bool | None:
        """Whether the process lives; the stream's own end marker is the last word."""
        if self.following is None:
            return None
        return False if self.fold.state.process == "ended" else self.alive

    def started(self, session: Mapping[str, Any]) -> None:
        """A process was started for it: it lives, unless its own end marker came before this answer."""
        self.alive = bool(session.get("alive"))
        spawn = session.get("spawn")
        if self.state.process == "ended" and not (spawn and self.state.spawn == spawn):
            self.state.process = "unknown"  # the marker of the new one is on its way
        self.check()

    def restart(self) -> None:
        """Another file lies there now: everything is folded afresh."""
        self.fold = Fold()
        self._splitter = LineSplitter()
        self._signature = ()

    def resume_offset(self) -> int:
        """Where a new link goes on: behind the last byte taken, torn line included."""
        return self._splitter.read_offset

    def take(self, offset: int, data: bytes) -> None:
        """Bytes have come. What was taken before is left out: no byte counts twice (Rule S4)."""
        have = self._splitter.read_offset
        if offset > have:
            raise ValueError(f"bytes {have} to {offset} of {self.sid} are missing")
        data = data[have - offset :]
        for line in read_lines(self._splitter, data, orjson.loads, skip_deltas=True):
            self.fold.feed(line)
        self._fates.update(self.fold.take_changes())
        if self.caught_up:
            self.check()

    def check(self) -> None:
        """Say so if anything changed that the records show."""
        state = self.fold.state
        signature = (
            self.is_alive(),
            state.process,
            state.spawns,
            state.turns,
            state.results,
            state.turn_open,
            state.settled,
            tuple(state.pending),
            tuple(state.background),
            state.mode,
            state.model,
            state.retry,
            state.title,
            len(self._fates),
        )
        grown = state.offset - self.applied_offset > 4_000_000
        if signature != self._signature or grown:
            self._signature = signature
            self._wake()
            self._on_change(self)

    def take_fates(self) -> dict[str, Fate]:
        """What became of messages since the last call."""
        fates, self._fates = self._fates, {}
        return fates

    def give_back(self, fates: dict[str, Fate]) -> None:
        """They could not be written: keep them for the next time."""
        self._fates = {**fates, **self._fates}

    def snapshot(self) -> FoldState:
        """The state as it is now, for another thread."""
        state = copy.copy(self.fold.state)
        state.pending = dict(state.pending)
        state.background = dict(state.background)
        state.messages = dict(state.messages)
        return state

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait_for(self, test: Callable[[LiveSession], bool], timeout: float) -> bool:
        """Wait until the test holds; False when the time is up first."""
        loop = asyncio.get_running_loop()
        until = loop.time() + timeout
        while not test(self):
            rest = until - loop.time()
            if rest <= 0:
                return False
            try:
                await asyncio.wait_for(self._changed.wait(), rest)
            except TimeoutError:
                return test(self)
        return True
