"""Following sessions (Rules S2, S4): one way, whether live, after a restart, or after a lost link.

The stream file is read from the last checkpoint on; the fold and `advance` do the rest. What has been applied
is stored with the state in one transaction, so that a restart goes on exactly there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from walnut_desktop.domain.attention import Watching
from walnut_desktop.domain.errors import HostUnreachable
from walnut_desktop.domain.events import Happened, MessageChanged, SessionChanged, TaskChanged
from walnut_desktop.domain.ids import Sid, TaskId
from walnut_desktop.domain.message import OPEN_STATES
from walnut_desktop.domain.session import Session, SessionStatus
from walnut_desktop.hosts.host import Host
from walnut_desktop.hosts.link import Following
from walnut_desktop.protocol.messages import Attach
from walnut_desktop.runtime.single_flight import SingleFlight
from walnut_desktop.runtime.spawner import Spawner
from walnut_desktop.sessions.advance import advance, settle_messages
from walnut_desktop.sessions.live import LiveSession
from walnut_desktop.store.worker import Store, Unit
from walnut_desktop.transcript.fold import Fate, FoldState

log = logging.getLogger(__name__)

EXIT_GRACE_S = 2.0


class LeftBehind(NamedTuple):
    """Sessions to follow, and those whose start was cut off."""

    sids: list[Sid]
    unborn: list[Session]


class Follower:
    """Keeps the live sessions and writes what they say into the records."""

    def __init__(self, store: Store, host: Host, spawner: Spawner) -> None:
        self._store = store
        self._host = host
        self._spawner = spawner
        self._live: dict[Sid, LiveSession] = {}
        self._applies = SingleFlight(spawner, self._apply, "apply")
        self.watching: Callable[[TaskId | None], Watching] = lambda _task: Watching(False, False)
        self.after_apply: Callable[[Sid], None] = lambda _sid: None
        host.on_exit = self._process_exited

    def get(self, sid: Sid) -> LiveSession | None:
        """The live session, if it is followed."""
        return self._live.get(sid)

    async def follow(self, sid: Sid) -> LiveSession:
        """Follow a session from its checkpoint on, or go on doing so. Raises HostUnreachable."""
        live = self._live.get(sid)
        if live is None:
            data = await self._store.run(lambda unit: unit.sessions.checkpoint(sid))
            state = FoldState.from_json(data) if data else None
            live = self._live.setdefault(sid, LiveSession(sid, state, self._changed))
        await self._attach(live)
        return live

    async def _attach(self, live: LiveSession) -> None:
        async with live.attaching:
            if live.following is None:
                await self._attach_now(live)

    async def _attach_now(self, live: LiveSession) -> None:
        def begin(following: Following) -> None:
            if following.restarted:
                live.restart()
            live.following = following
            live.alive = bool(following.session.get("alive"))

        request = Attach(live.sid, live.resume_offset(), live.state.epoch)
        await self._host.follow(request, live.take, begin)
        if live.caught_up:
            live.check()

    def link_lost(self) -> None:
        """Nothing is known of any process now, which says nothing about them (Rule S6)."""
        for live in self._live.values():
            live.following = None
            live.alive = None

    async def link_back(self) -> None:
        """Go on with every session where it was."""
        for live in list(self._live.values()):
            await self._attach(live)

    def forget(self, sid: Sid) -> None:
        """It never came to be, or nobody needs it any more."""
        live = self._live.pop(sid, None)
        if live is not None and live.following is not None:
            self._spawner.spawn(self._host.unfollow(live.following), f"unfollow:{sid}")

    async def settle(self, sid: Sid) -> None:
        """Wait until everything that was said is in the records."""
        await self._applies.settle(sid)

    def _changed(self, live: LiveSession) -> None:
        self._applies.ask(live.sid)

    def _process_exited(self, event: Mapping[str, Any]) -> None:
        live = self._live.get(Sid(str(event.get("sid"))))
        if live is not None:
            spawn = str(event.get("spawn") or "")
            self._spawner.spawn(self._settle_exit(live, spawn), f"exit:{live.sid}")

    async def _settle_exit(self, live: LiveSession, spawn: str) -> None:
        """The end marker in the stream comes first; on a full disk there is none, and this word counts."""
        ended = await live.wait_for(
            lambda it: it.state.process == "ended" or it.state.spawn != spawn, EXIT_GRACE_S
        )
        if not ended and live.state.spawn == spawn:
            live.alive = False
            live.check()

    async def _apply(self, key: Hashable) -> None:
        sid = Sid(str(key))
        live = self._live.get(sid)
        if live is None or live.starting:
            return
        state, alive, fates = live.snapshot(), live.is_alive(), live.take_fates()
        try:
            await self._store.run(lambda unit: self._write(unit, sid, state, alive, fates))
        except BaseException:
            live.give_back(fates)
            raise
        live.applied_offset = state.offset
        self.after_apply(sid)

    def _write(
        self,
        unit: Unit,
        sid: Sid,
        state: FoldState,
        alive: bool | None,
        fates: Mapping[str, Fate],
    ) -> None:
        session = unit.sessions.get(sid)
        if session is None or session.archived:
            return
        task = unit.tasks.get(session.task_id) if session.task_id else None
        watching = self.watching(session.task_id)
        seen = watching.window_active and watching.task_shown
        outcome = advance(session, task, state, alive, seen=seen, now=unit.now)
        rows = unit.messages.in_states(sid, OPEN_STATES)
        for message in settle_messages(rows, {**state.messages, **fates}, unit.now):
            unit.messages.save(message)
            unit.emit(MessageChanged(message))
        after = outcome.session
        if state.title and state.title != after.title:
            after = replace(after, title=state.title)
        unit.sessions.save(after)
        unit.sessions.save_checkpoint(sid, state.to_json())
        if outcome.task is not None and outcome.task != task:
            unit.tasks.save(outcome.task)
            unit.emit(TaskChanged(outcome.task))
        if replace(after, consumed_offset=0) != replace(session, consumed_offset=0):
            unit.emit(SessionChanged(after))
        for event in outcome.events:
            if not isinstance(event, Happened) or unit.notices.first_time(event.key, unit.now):
                unit.emit(event)

    async def follow_all(self, sids: Iterable[Sid]) -> None:
        """Follow each; one that can't be followed does not keep the others from it."""
        for sid in sids:
            try:
                await self.follow(sid)
            except HostUnreachable as error:
                log.warning("can't follow %s: %s", sid, error)


def left_behind(unit: Unit) -> LeftBehind:
    """What the app before this one has left: read before anything new is begun (Rule S4)."""
    may_live = (SessionStatus.RUNNING, SessionStatus.IDLE, SessionStatus.STARTING)
    sessions = [
        session
        for session in unit.sessions.all().values()
        if not session.archived and (session.status in may_live or session.pid is not None)
    ]
    sids = dict.fromkeys(session.sid for session in sessions)
    sids.update(dict.fromkeys(unit.messages.sessions_with_open()))
    unborn = [session for session in sessions if session.status is SessionStatus.STARTING]
    return LeftBehind(list(sids), unborn)
