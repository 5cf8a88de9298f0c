"""Moves messages from the queue to the agent (Rules M1 to M3): one runner per session, step by step."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable, Iterable
from dataclasses import replace

from walnut_desktop.domain.errors import HostUnreachable, WalnutError
from walnut_desktop.domain.events import MessageChanged
from walnut_desktop.domain.ids import Sid
from walnut_desktop.domain.message import OPEN_STATES, Message, MessageState
from walnut_desktop.engines import stream_json
from walnut_desktop.hosts.host import Host
from walnut_desktop.protocol.messages import Lookup, RemoteError, Send
from walnut_desktop.runtime.clock import Clock
from walnut_desktop.runtime.single_flight import SingleFlight
from walnut_desktop.runtime.spawner import Spawner
from walnut_desktop.sessions.follow import Follower
from walnut_desktop.sessions.live import LiveSession
from walnut_desktop.sessions.next_step import Do, Situation, Step, next_step
from walnut_desktop.store.worker import Store, Unit
from walnut_desktop.transcript.fold import Fate
from walnut_desktop.transcript.verdict import died_at_birth

log = logging.getLogger(__name__)

BUSY_PAUSE_S = 1.0

_REASONS = {
    "too_old": "This message waited for more than a day. Send it again if it still holds.",
    "tried_too_often": "The agent's process ended three times before it took this message.",
    "too_long": "This message is too long to be handed over. Put the text into a file and name it.",
    "pipe_broken": "The way to the agent is broken. Stop the session, then send the message again.",
}


class Pump:
    """Runs `next_step` for a session until there is nothing to do."""

    def __init__(
        self, store: Store, host: Host, follower: Follower, clock: Clock, spawner: Spawner
    ) -> None:
        self._store = store
        self._host = host
        self._follower = follower
        self._clock = clock
        self._spawner = spawner
        self._flights = SingleFlight(spawner, self._run, "pump")
        self.resume: Callable[[Sid], Awaitable[None]]
        self.config_dir: Callable[[Sid], Awaitable[str]]
        self.why_not: Callable[[Sid], Awaitable[str]]

    def ask(self, sid: Sid) -> None:
        """Something may be to do for the session."""
        self._flights.ask(sid)

    async def _run(self, key: Hashable) -> None:
        sid = Sid(str(key))
        while True:
            rows = await self._store.run(lambda unit: unit.messages.in_states(sid, OPEN_STATES))
            if not rows:
                return
            try:
                live = await self._follower.follow(sid)
            except HostUnreachable:
                return  # the link's return asks again
            step = next_step(rows, self._situation(live), self._clock.now())
            if step.do in (Do.NOTHING, Do.WAIT):
                log.debug("pump sid=%s %s %s", sid, step.do, step.reason)
                return
            log.info("pump sid=%s %s %s", sid, step.do, step.reason)
            if not await self._perform(sid, live, step):
                return

    def _situation(self, live: LiveSession) -> Situation:
        starting = live.starting or live.first_start
        return Situation(live.is_alive(), live.caught_up, starting, live.stopping)

    async def _perform(self, sid: Sid, live: LiveSession, step: Step) -> bool:
        """Do the step; False when the runner should rest."""
        if step.do is Do.DELIVER:
            return await self._deliver(live, step.messages[0])
        if step.do is Do.LOOK_UP:
            return await self._look_up(sid, live, step.messages)
        if step.do is Do.RESUME:
            return await self._resume(sid, step.messages)
        state = MessageState.PARKED if step.do is Do.PARK else MessageState.FAILED
        await self._mark(step.messages, state, _REASONS[step.reason])
        return True

    async def _deliver(self, live: LiveSession, message: Message) -> bool:
        await self._mark([message], MessageState.PROCESSING)
        line = stream_json.user_line(message.text, message.id)
        try:
            await self._host.request("send", Send(live.sid, message.id, line))
        except HostUnreachable:
            return False  # its fate is not known: it stays “processing” and is looked into later
        except RemoteError as error:
            return await self._not_delivered(live, message, error)
        await self._delivered(message)
        return True

    async def _not_delivered(self, live: LiveSession, message: Message, error: RemoteError) -> bool:
        if error.error in ("not_running", "stopping"):
            await self._mark([message], MessageState.PENDING)
            await live.wait_for(lambda it: it.is_alive() is not True, 2.0)
            return not live.is_alive()
        if error.error == "busy":
            # The process lives and does not read: it stays in the queue, never a second process (M3).
            await self._mark(
                [message], MessageState.PENDING, "The agent does not read at the moment."
            )
            await asyncio.sleep(BUSY_PAUSE_S)
            return True
        reason = _REASONS.get(error.error, str(error))
        await self._mark([message], MessageState.FAILED, reason)
        return True

    async def _look_up(self, sid: Sid, live: LiveSession, messages: tuple[Message, ...]) -> bool:
        """What the ended process took up stands in its transcript; the rest goes out again (D1, 4.3)."""
        if died_at_birth(live.state):
            await self._mark(messages, MessageState.FAILED, await self.why_not(sid))
            return True
        uuids = [message.id for message in messages]
        folder = await self.config_dir(sid)
        try:
            answer = await self._host.request("lookup", Lookup(sid, list(uuids), folder))
        except (HostUnreachable, RemoteError) as error:
            log.warning("look-up failed sid=%s: %s", sid, error)
            return False
        found = set(answer.get("found") or ())
        known = live.state.messages
        for message in messages:
            if message.id in found or known.get(message.id) is Fate.CONSUMED:
                await self._mark([message], MessageState.CONSUMED)
            else:
                again = replace(message, tries=message.tries + 1)
                await self._mark([again], MessageState.PENDING)
        return True

    async def _resume(self, sid: Sid, messages: tuple[Message, ...]) -> bool:
        try:
            await self.resume(sid)
        except HostUnreachable:
            return False
        except WalnutError as error:
            await self._mark(messages, MessageState.FAILED, error.sentence())
            return False
        return True

    async def _delivered(self, message: Message) -> None:
        def unit_of_work(unit: Unit) -> None:
            row = unit.messages.get(message.id)
            if row is None or row.state is not MessageState.PROCESSING:
                return  # the agent was faster: it is consumed already
            after = replace(row, state=MessageState.DELIVERED, reason="", delivered_at=unit.now)
            unit.messages.save(after)
            unit.emit(MessageChanged(after))

        await self._store.run(unit_of_work)

    async def _mark(
        self, messages: Iterable[Message], state: MessageState, reason: str = ""
    ) -> None:
        def unit_of_work(unit: Unit) -> None:
            for message in messages:
                row = unit.messages.get(message.id)
                if row is None or row.state not in OPEN_STATES:
                    continue
                after = replace(row, state=state, reason=reason, tries=message.tries)
                if state is MessageState.CONSUMED:
                    after = replace(after, consumed_at=unit.now)
                unit.messages.save(after)
                unit.emit(MessageChanged(after))

        await self._store.run(unit_of_work)
