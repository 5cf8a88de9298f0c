"""Applying a folded state to the records (design 3, step 5): pure, and doing it twice changes nothing.

From the session's record as it was and the state of its lines now follow its new record, the task's phase and
attention in the same write (Rule T15), the fates of messages, and what may call the person (Rule S7).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from walnut_desktop.domain import slots
from walnut_desktop.domain.attention import Happening
from walnut_desktop.domain.events import Event, Happened, HappeningOver
from walnut_desktop.domain.message import OPEN_STATES, Message, MessageState
from walnut_desktop.domain.phase import PhaseEvent, step
from walnut_desktop.domain.session import PendingRequest, Reason, Session, SessionStatus
from walnut_desktop.domain.task import Task
from walnut_desktop.transcript.fold import Fate, FoldState
from walnut_desktop.transcript.verdict import judge

_WORKING = (SessionStatus.STARTING, SessionStatus.RUNNING)
_ASKS = {
    "permission": Happening.PERMISSION,
    "question": Happening.QUESTION,
    "plan": Happening.PLAN,
}


class Outcome(NamedTuple):
    """What is to be written, and told."""

    session: Session
    task: Task | None
    events: tuple[Event, ...]


def ask_key(session: Session, request: PendingRequest) -> str:
    """The one name of a request's notice."""
    return f"{session.sid}:ask:{request.request_id}"


def advance(
    session: Session,
    task: Task | None,
    state: FoldState,
    alive: bool | None,
    *,
    seen: bool,
    now: datetime,
) -> Outcome:
    """The records after the lines of `state`. `seen`: the person looks at this task right now."""
    verdict = judge(state, alive)
    after = replace(
        session,
        status=verdict.status,
        reason=verdict.reason,
        error=verdict.error,
        mode=state.mode or session.mode,
        model=state.model or session.model,
        pending=tuple(state.pending.values()),
        background=tuple(state.background.values()),
        cost_usd=round(state.cost_usd, 6),
        turns=state.turns,
        retry=state.retry,
        consumed_offset=state.offset,
        stream_epoch=state.epoch,
        # A pid is cleared only when the process is known to be dead (Rule S5.4).
        pid=None if alive is False else session.pid,
    )
    if session.status is SessionStatus.STARTING and alive is not False and not state.turns:
        after = replace(after, status=SessionStatus.STARTING, reason=session.reason, error="")
    changed = after != replace(session, consumed_offset=after.consumed_offset)
    if changed:
        after = replace(after, updated_at=now, last_active_at=now)
    events = [*_requests(session, after), *_ends(session, after, state)]
    new_task = _task(task, session, after, state, seen=seen, now=now) if task else None
    return Outcome(after, new_task, tuple(events))


def _turn_over(before: Session, after: Session) -> bool:
    """A turn has come to its end since the last time: from working to not, or quickly in between."""
    if after.status in _WORKING and after.reason != "background_work":
        return False
    was_working = before.status in _WORKING and before.reason != "background_work"
    return was_working or after.turns > before.turns


def _requests(before: Session, after: Session) -> list[Event]:
    old = {request.request_id for request in before.pending}
    new = {request.request_id for request in after.pending}
    events: list[Event] = [
        Happened(
            key=ask_key(after, request),
            happening=_ASKS[request.kind],
            sid=after.sid,
            task_id=after.task_id,
            title=after.title,
            detail=request.description or request.tool_name,
        )
        for request in after.pending
        if request.request_id not in old
    ]
    events += [
        HappeningOver(ask_key(after, request))
        for request in before.pending
        if request.request_id not in new
    ]
    return events


def _ends(before: Session, after: Session, state: FoldState) -> list[Event]:
    if not _turn_over(before, after):
        return []
    number = f"{state.spawns}.{state.turns}"
    if after.status is SessionStatus.ERROR:
        key, happening, detail = f"{after.sid}:error:{number}", Happening.ERROR, after.error
    elif after.reason in (Reason.USER_STOPPED.value, Reason.TURN_INTERRUPTED.value):
        return []  # the person did it
    elif after.turns == 0:
        return []
    else:
        key, happening = f"{after.sid}:turn:{number}", Happening.TURN_DONE
        detail = state.last_text.strip().split("\n", 1)[0][:200]
    return [Happened(key, happening, after.sid, after.task_id, after.title, detail)]


def _phase_events(before: Session, after: Session) -> list[PhaseEvent]:
    if _turn_over(before, after):
        if after.status is SessionStatus.ERROR:
            return [PhaseEvent.FAILED]
        return [PhaseEvent.TURN_OK, PhaseEvent.TURN_SETTLED]
    old = {request.request_id for request in before.pending}
    if any(request.request_id not in old for request in after.pending):
        return [PhaseEvent.ASKED]
    if before.pending and not after.pending and after.status is SessionStatus.RUNNING:
        return [PhaseEvent.ANSWERED]
    if after.turns > before.turns and after.status is SessionStatus.RUNNING:
        return [PhaseEvent.TURN_STARTED]
    return []


def _task(
    task: Task, before: Session, after: Session, state: FoldState, *, seen: bool, now: datetime
) -> Task:
    new = task
    by_person = after.reason in (Reason.USER_STOPPED.value, Reason.TURN_INTERRUPTED.value)
    for event in _phase_events(before, after):
        move = step(new.phase, event)
        attention = move.attention
        if attention and (seen or by_person):
            attention = False  # a dot is for what the person has not seen
        new = replace(
            new,
            phase=new.phase if move.phase is None else move.phase,
            needs_attention=new.needs_attention if attention is None else attention,
        )
    if not after.holds_slot:
        new = slots.release(new, after.sid)  # Rule S5.5
    elif not before.holds_slot and slots.holder(new, after.slot) is None:
        new = slots.reserve(new, after.slot, after.sid)  # it is back: a resumed session
    return replace(new, updated_at=now) if new != task else task


def settle_messages(
    rows: Iterable[Message], fates: Mapping[str, Fate], now: datetime
) -> list[Message]:
    """The messages whose state moves on by what the agent said of them."""
    moved = []
    for row in rows:
        fate = fates.get(row.id)
        if fate is None or row.state not in OPEN_STATES:
            continue
        if fate is Fate.CONSUMED:
            moved.append(replace(row, state=MessageState.CONSUMED, reason="", consumed_at=now))
        elif fate is Fate.CANCELLED:
            moved.append(replace(row, state=MessageState.CANCELLED, reason="withdrawn"))
        elif fate is Fate.QUEUED and row.state is not MessageState.DELIVERED:
            moved.append(replace(row, state=MessageState.DELIVERED, delivered_at=now))
    return moved
