"""What is stored comes back as it was, whatever it holds."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.store.test_units import opened
from walnut_desktop.domain.ids import MessageId, Sid, TaskId
from walnut_desktop.domain.message import Message, MessageState
from walnut_desktop.domain.session import BackgroundTask, PendingRequest, Session, SessionStatus
from walnut_desktop.domain.task import Task
from walnut_desktop.store.worker import Unit

T = TypeVar("T")

TEXT = st.text(max_size=12)
NAMES = st.text(min_size=1, max_size=12)
TIMES = st.datetimes(
    datetime(1990, 1, 1),
    datetime(2100, 1, 1),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))]),
)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT, st.lists, max_leaves=4
)
OBJECTS = st.dictionaries(TEXT, JSON, max_size=3)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)

TASKS = st.builds(
    Task,
    id=NAMES.map(TaskId),
    title=TEXT,
    created_at=TIMES,
    updated_at=TIMES,
    phase=TEXT,
    priority=TEXT,
    category=TEXT,
    project=TEXT,
    source=TEXT,
    description=TEXT,
    summary=TEXT,
    note=TEXT,
    conversation_log=st.none() | TEXT,
    parent_id=st.none() | NAMES.map(TaskId),
    depends_on=st.lists(NAMES.map(TaskId), max_size=3).map(tuple),
    plan_session_id=st.none() | NAMES.map(Sid),
    exec_session_id=st.none() | NAMES.map(Sid),
    session_ids=st.lists(NAMES.map(Sid), max_size=3).map(tuple),
    needs_attention=st.booleans(),
    starred=st.booleans(),
    due_date=st.none() | TEXT,
    tags=st.lists(TEXT, max_size=3).map(tuple),
    cwd=st.none() | TEXT,
    host=st.none() | TEXT,
    position=NUMBERS,
    completed_at=st.none() | TIMES,
    ext=OBJECTS,
)

REQUESTS = st.builds(
    PendingRequest, NAMES, TEXT, OBJECTS, TEXT, TEXT, st.lists(OBJECTS, max_size=2).map(tuple), TEXT
)

SESSIONS = st.builds(
    Session,
    sid=NAMES.map(Sid),
    task_id=st.none() | NAMES.map(TaskId),
    title=TEXT,
    engine=TEXT,
    created_at=TIMES,
    updated_at=TIMES,
    host=st.none() | TEXT,
    cwd=TEXT,
    slot=TEXT,
    status=st.sampled_from(SessionStatus),
    reason=TEXT,
    error=TEXT,
    mode=TEXT,
    model=TEXT,
    pid=st.none() | st.integers(2, 2**31),
    consumed_offset=st.integers(0, 2**62),
    stream_epoch=TEXT,
    last_active_at=st.none() | TIMES,
    archived=st.booleans(),
    phase_before=TEXT,
    pending=st.lists(REQUESTS, max_size=2).map(tuple),
    background=st.lists(st.builds(BackgroundTask, TEXT, TEXT, TEXT), max_size=2).map(tuple),
    cost_usd=NUMBERS,
    turns=st.integers(0, 2**31),
    retry=TEXT,
    ext=OBJECTS,
)

MESSAGES = st.builds(
    Message,
    id=NAMES.map(MessageId),
    sid=NAMES.map(Sid),
    text=TEXT,
    created_at=TIMES,
    state=st.sampled_from(MessageState),
    reason=TEXT,
    tries=st.integers(0, 9),
    delivered_at=st.none() | TIMES,
    consumed_at=st.none() | TIMES,
)


def in_store(*units: Callable[[Unit], T]) -> list[T]:
    """What the units answer, each in a transaction of its own, on a fresh store."""

    async def main(home: Path) -> list[T]:
        async with opened(home) as store:
            return [await store.run(unit) for unit in units]

    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(main(Path(folder) / "w"))


@pytest.mark.rule("T16")
@settings(max_examples=30)
@given(TASKS, TASKS)
def test_a_task(task: Task, other: Task) -> None:
    changed = replace(other, id=task.id)

    def add(unit: Unit) -> None:
        unit.tasks.add(task)

    def save(unit: Unit) -> None:
        unit.tasks.save(changed)

    def get(unit: Unit) -> Any:
        return unit.tasks.get(task.id)

    def everything(unit: Unit) -> Any:
        return unit.tasks.all()

    _, first, all_first, _, second = in_store(add, get, everything, save, get)
    assert first == task
    assert all_first == {task.id: task}
    assert second == changed


@pytest.mark.rule("G10")
@settings(max_examples=30)
@given(SESSIONS, SESSIONS, OBJECTS)
def test_a_session_with_its_open_requests(
    session: Session, other: Session, checkpoint: dict[str, Any]
) -> None:
    changed = replace(other, sid=session.sid)

    def add(unit: Unit) -> None:
        unit.sessions.add(session)
        unit.sessions.save_checkpoint(session.sid, checkpoint)

    def save(unit: Unit) -> None:
        unit.sessions.save(changed)

    def get(unit: Unit) -> Any:
        return unit.sessions.get(session.sid), unit.sessions.checkpoint(session.sid)

    _, first, _, second = in_store(add, get, save, get)
    assert first == (session, checkpoint)
    assert second == (changed, checkpoint), "the checkpoint stays"


@pytest.mark.rule("M1")
@settings(max_examples=30)
@given(MESSAGES, MESSAGES)
def test_a_message(message: Message, other: Message) -> None:
    changed = replace(other, id=message.id, seq=1)

    def add(unit: Unit) -> Any:
        return unit.messages.add(message)

    def save(unit: Unit) -> None:
        unit.messages.save(changed)

    def get(unit: Unit) -> Any:
        return unit.messages.get(message.id)

    added, first, again, _, second = in_store(add, get, add, save, get)
    assert added == first == again == replace(message, seq=1), "the same id is the same message"
    assert second == changed


@pytest.mark.rule("M2")
def test_messages_keep_the_order_in_which_they_came() -> None:
    at = datetime(2026, 12, 1, tzinfo=UTC)
    times = [at, at - timedelta(hours=1), at + timedelta(hours=1)]  # the clock was set

    def fill(unit: Unit) -> Any:
        for number, time in enumerate(times):
            unit.messages.add(Message(MessageId(f"m{number}"), Sid("s"), "x", time))
        unit.messages.add(Message(MessageId("other"), Sid("t"), "x", at))
        return None

    def order(unit: Unit) -> Any:
        return [message.id for message in unit.messages.in_states(Sid("s"), MessageState)]

    assert in_store(fill, order)[1] == ["m0", "m1", "m2"]
