"""Steering a session (Rule S11): send, answer, interrupt, stop. Shown as done only when the agent says so."""

from __future__ import annotations

import logging
import uuid as uuids
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from walnut_desktop.domain.errors import Conflict, DeliveryFailed, NotFound
from walnut_desktop.domain.events import MessageChanged, SessionChanged, TaskChanged
from walnut_desktop.domain.ids import MessageId, Sid
from walnut_desktop.domain.message import OPEN_STATES, Message, MessageState, clean_text
from walnut_desktop.domain.phase import PhaseEvent, step
from walnut_desktop.domain.session import PendingRequest, Reason, Session, SessionStatus
from walnut_desktop.engines import stream_json
from walnut_desktop.hosts.host import Host
from walnut_desktop.protocol.messages import RemoteError, SendRaw, Stop
from walnut_desktop.runtime.paths import Paths
from walnut_desktop.sessions.follow import Follower
from walnut_desktop.sessions.pump import Pump
from walnut_desktop.store.worker import Store, Unit

log = logging.getLogger(__name__)

STOP_TIMEOUT_S = 20.0
PARKED_BY_STOP = "You stopped the session before the agent took this message."


def _session(unit: Unit, sid: str) -> Session:
    session = unit.sessions.get(sid)
    if session is None:
        raise NotFound("This session is not known any more.")
    return session


class Steering:
    """What a person does to a running session."""

    def __init__(
        self, store: Store, host: Host, follower: Follower, pump: Pump, paths: Paths
    ) -> None:
        self._store = store
        self._host = host
        self._follower = follower
        self._pump = pump
        self._paths = paths

    async def send(self, sid: str, text: str) -> Message:
        """Queue a message: it is on disk when this answers (Rule M1). The rest happens by itself."""
        clean = clean_text(text)

        def unit_of_work(unit: Unit) -> Message:
            session = _session(unit, sid)
            if session.archived:
                raise Conflict("This session is archived.", "Start a new one.")
            message = unit.messages.add(
                Message(MessageId(str(uuids.uuid4())), session.sid, clean, unit.now)
            )
            self._bump(unit, session)
            unit.emit(MessageChanged(message))
            return message

        message = await self._store.run(unit_of_work)
        live = self._follower.get(Sid(sid))
        if live is not None:
            live.stopping = False
        self._pump.ask(Sid(sid))
        return message

    def _bump(self, unit: Unit, session: Session) -> None:
        task = unit.tasks.get(session.task_id) if session.task_id else None
        if task is None or session.pending:
            return  # while the agent waits for an answer the task stays with the person
        move = step(task.phase, PhaseEvent.INPUT)
        after = replace(
            task,
            phase=move.phase or task.phase,
            needs_attention=task.needs_attention if move.attention is None else move.attention,
        )
        if after != task:
            after = replace(after, updated_at=unit.now)
            unit.tasks.save(after)
            unit.emit(TaskChanged(after))

    async def retry(self, message_id: str) -> None:
        """Send a failed or parked message after all."""
        await self._move(message_id, MessageState.PENDING)

    async def discard(self, message_id: str) -> None:
        """Take a message back that the agent has not got."""
        await self._move(message_id, MessageState.CANCELLED)

    async def _move(self, message_id: str, state: MessageState) -> None:
        movable = (MessageState.FAILED, MessageState.PARKED, MessageState.PENDING)

        def unit_of_work(unit: Unit) -> Sid:
            row = unit.messages.get(message_id)
            if row is None:
                raise NotFound("This message is not known any more.")
            if row.state not in movable:
                raise Conflict("The agent has this message already.")
            after = replace(row, state=state, reason="", tries=0)
            if state is MessageState.PENDING:
                after = replace(after, created_at=unit.now)
                self._bump(unit, _session(unit, row.sid))
            unit.messages.save(after)
            unit.emit(MessageChanged(after))
            return row.sid

        sid = await self._store.run(unit_of_work)
        self._pump.ask(sid)

    async def allow(self, sid: str, request_id: str, *, always: bool = False) -> None:
        """Yes to a tool call; `always` accepts the agent's own first suggestion of a lasting rule."""
        request = await self._pending(sid, request_id)
        rules = always_rules(request) if always else []
        line = stream_json.allow_line(request_id, request.tool_input, rules)
        await self._answer(sid, request_id, line)

    async def deny(self, sid: str, request_id: str, message: str = "") -> None:
        """No to a tool call, with a word for the agent."""
        await self._pending(sid, request_id)
        await self._answer(sid, request_id, stream_json.deny_line(request_id, message))

    async def reply(self, sid: str, request_id: str, updated: Mapping[str, Any]) -> None:
        """Yes with changed input: the answers to a question (cli-protocol 6.4)."""
        await self._pending(sid, request_id)
        await self._answer(sid, request_id, stream_json.allow_line(request_id, updated))

    async def _pending(self, sid: str, request_id: str) -> PendingRequest:
        live = self._follower.get(Sid(sid)) or await self._follower.follow(Sid(sid))
        request = live.state.pending.get(request_id)
        if request is None:
            raise Conflict("The agent does not wait for this answer any more.")
        return request

    async def _answer(self, sid: str, request_id: str, line: Mapping[str, Any]) -> None:
        try:
            await self._host.request("send_raw", SendRaw(sid, dict(line), answers=request_id))
        except RemoteError as error:
            raise DeliveryFailed(f"The answer did not reach the agent: {error}") from None

    async def interrupt(self, sid: str) -> None:
        """Cut the running turn; the process stays (Rule S11)."""
        line = stream_json.control_line(f"walnut-{uuids.uuid4()}", {"subtype": "interrupt"})
        try:
            await self._host.request("send_raw", SendRaw(sid, line))
        except RemoteError as error:
            raise DeliveryFailed(f"The agent could not be interrupted: {error}") from None

    async def stop(self, sid: str) -> None:
        """End the process. Messages that it has not taken are parked first (Rule M6)."""
        await self._store.run(lambda unit: self._park(unit, sid))
        live = self._follower.get(Sid(sid))
        if live is not None:
            live.stopping = True
        request = Stop(sid, str(self._paths.home), initiator="human", reason="user")
        try:
            answer = await self._host.request("stop", request, STOP_TIMEOUT_S)
        except BaseException:
            if live is not None:
                live.stopping = False
            raise
        if live is not None:
            await live.wait_for(lambda it: it.is_alive() is False, 3.0)
            await self._follower.settle(Sid(sid))
            live.stopping = False
        if answer.get("stopped"):
            return
        if answer.get("reason") == "not_running":
            await self._store.run(lambda unit: self._mark_stopped(unit, sid))
            return
        raise Conflict(
            "The session was not stopped: it belongs to another Walnut.",
            "Stop it there.",
        )

    def _park(self, unit: Unit, sid: str) -> None:
        session = _session(unit, sid)
        for message in unit.messages.in_states(session.sid, OPEN_STATES):
            if message.state is MessageState.PENDING:
                parked = replace(message, state=MessageState.PARKED, reason=PARKED_BY_STOP)
                unit.messages.save(parked)
                unit.emit(MessageChanged(parked))

    def _mark_stopped(self, unit: Unit, sid: str) -> None:
        session = _session(unit, sid)
        if session.status in (SessionStatus.STOPPED, SessionStatus.ERROR):
            return
        after = replace(
            session,
            status=SessionStatus.STOPPED,
            reason=Reason.USER_STOPPED.value,
            pid=None,
            pending=(),
            updated_at=unit.now,
        )
        unit.sessions.save(after)
        unit.emit(SessionChanged(after))


def always_rules(request: PendingRequest) -> list[Mapping[str, Any]]:
    """The rule that “always” stands for: the agent's first suggestion that adds rules, else its first."""
    rules = [item for item in request.suggestions if item.get("type") == "addRules"]
    return list(rules[:1] or request.suggestions[:1])
