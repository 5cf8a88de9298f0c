"""Everything that can be done with sessions, behind one object for windows, scripts and tests."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from walnut_desktop.domain.errors import HostUnreachable, NotFound
from walnut_desktop.domain.ids import Sid, TaskId
from walnut_desktop.domain.message import Message
from walnut_desktop.domain.session import Session
from walnut_desktop.engines.registry import Engines
from walnut_desktop.hosts.host import Host
from walnut_desktop.runtime.clock import Clock
from walnut_desktop.runtime.paths import Paths
from walnut_desktop.runtime.spawner import Spawner
from walnut_desktop.sessions.follow import Follower, LeftBehind, left_behind
from walnut_desktop.sessions.pump import Pump
from walnut_desktop.sessions.start import Starter, StartRequest
from walnut_desktop.sessions.steer import Steering
from walnut_desktop.sessions.transcripts import Transcript
from walnut_desktop.store.worker import Store
from walnut_desktop.transcript.blocks import Block, Change

log = logging.getLogger(__name__)


class SessionService:
    """The use cases of sessions."""

    def __init__(
        self,
        store: Store,
        host: Host,
        engines: Engines,
        paths: Paths,
        clock: Clock,
        spawner: Spawner,
    ) -> None:
        self._store = store
        self._host = host
        self._spawner = spawner
        self.follower = Follower(store, host, spawner)
        self.pump = Pump(store, host, self.follower, clock, spawner)
        self.starter = Starter(store, host, engines, paths, self.follower, self.pump)
        self._steering = Steering(store, host, self.follower, self.pump, paths)
        self._transcripts: weakref.WeakSet[Transcript] = weakref.WeakSet()
        self.follower.after_apply = self.pump.ask

    async def all(self) -> list[Session]:
        """Every session, oldest first."""
        return list((await self._store.run(lambda unit: unit.sessions.all())).values())

    async def of_task(self, task_id: TaskId) -> list[Session]:
        """The sessions of a task, oldest first."""
        return await self._store.run(lambda unit: unit.sessions.of_task(task_id))

    async def get(self, sid: str) -> Session:
        """One session. Raises NotFound."""
        session = await self._store.run(lambda unit: unit.sessions.get(sid))
        if session is None:
            raise NotFound("This session is not known any more.")
        return session

    async def messages(self, sid: Sid) -> list[Message]:
        """What is on its way to the agent, or did not get there."""
        return await self._store.run(lambda unit: unit.messages.unfinished(sid))

    async def start(self, request: StartRequest) -> Session:
        """Start a session on a task and hand over its first message (Rule S1)."""
        return await self.starter.start(request)

    async def send(self, sid: str, text: str) -> Message:
        """Queue a message."""
        return await self._steering.send(sid, text)

    async def retry(self, message_id: str) -> None:
        """Send a failed or parked message after all."""
        await self._steering.retry(message_id)

    async def discard(self, message_id: str) -> None:
        """Take back a message that the agent has not got."""
        await self._steering.discard(message_id)

    async def allow(self, sid: str, request_id: str, *, always: bool = False) -> None:
        """Allow a tool call."""
        await self._steering.allow(sid, request_id, always=always)

    async def deny(self, sid: str, request_id: str, message: str = "") -> None:
        """Deny a tool call."""
        await self._steering.deny(sid, request_id, message)

    async def reply(self, sid: str, request_id: str, updated: Mapping[str, Any]) -> None:
        """Answer a question."""
        await self._steering.reply(sid, request_id, updated)

    async def interrupt(self, sid: str) -> None:
        """Cut the running turn."""
        await self._steering.interrupt(sid)

    async def stop(self, sid: str) -> None:
        """End the session's process."""
        await self._steering.stop(sid)

    async def open_transcript(
        self,
        sid: str,
        on_changes: Callable[[Sequence[Change]], None],
        on_reset: Callable[[Sequence[Block]], None],
    ) -> Transcript:
        """The chat of a session; `on_reset` gets its newest part, `on_changes` what comes."""
        transcript = Transcript(Sid(sid), self._host, self._spawner, on_changes, on_reset)
        self._transcripts.add(transcript)
        await transcript.open()
        return transcript

    async def left_behind(self) -> LeftBehind:
        """What the app before this one has left; asked before anything new is begun."""
        return await self._store.run(left_behind)

    async def catch_up(self, left: LeftBehind) -> None:
        """On start (Rule S4): follow what may live, take back what never began, send what waits."""
        await self.follower.follow_all(left.sids)
        await self.starter.take_back_unborn(left.unborn)
        for sid in left.sids:
            self.pump.ask(sid)

    def link_lost(self) -> None:
        """The helper is gone for now."""
        self.follower.link_lost()
        for transcript in list(self._transcripts):
            transcript.link_lost()

    async def link_back(self) -> None:
        """The helper is back: everything goes on where it was."""
        try:
            await self.follower.link_back()
            for transcript in list(self._transcripts):
                await transcript.link_back()
        except HostUnreachable as error:
            log.warning("lost again while catching up: %s", error)
            return
        for sid in await self._store.run(lambda unit: unit.messages.sessions_with_open()):
            self.pump.ask(sid)
