"""From lines to records: every capture, step by step; doing it twice changes nothing (Rules S7, T15, S5)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.transcript import captures
from walnut_desktop.domain.attention import Happening
from walnut_desktop.domain.events import Event, Happened, HappeningOver
from walnut_desktop.domain.ids import MessageId, Sid, TaskId
from walnut_desktop.domain.message import Message, MessageState
from walnut_desktop.domain.phase import PHASE_ORDER
from walnut_desktop.domain.session import Session, SessionStatus
from walnut_desktop.domain.task import Task
from walnut_desktop.sessions.advance import Outcome, advance, settle_messages
from walnut_desktop.transcript.fold import Fate, Fold, FoldState
from walnut_desktop.transcript.lines import Line

NOW = datetime(2026, 12, 1, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)
SID = Sid("s")
TASK = Task(
    TaskId("t"), "t", NOW, NOW, phase="IN_PROGRESS", exec_session_id=SID, session_ids=(SID,)
)
SESSION = Session(SID, TASK.id, "t", "claude", NOW, NOW, pid=42)


class Records:
    """A session and its task, moved on line by line."""

    def __init__(self, *, seen: bool = False) -> None:
        self.session = SESSION
        self.task = TASK
        self.fold = Fold()
        self.events: list[Event] = []
        self.seen = seen
        self.phases: list[str] = []

    def apply(self, alive: bool | None = True) -> Outcome:
        """Write what the lines so far say."""
        outcome = advance(
            self.session, self.task, self.fold.state, alive, seen=self.seen, now=LATER
        )
        assert outcome.task is not None
        if outcome.task.phase != self.task.phase:
            self.phases.append(outcome.task.phase)
        self.session, self.task = outcome.session, outcome.task
        self.events += outcome.events
        return outcome

    def take(self, lines: list[Line], step: int = 1) -> None:
        """Lines come, and are applied every so often."""
        for number, line in enumerate(lines):
            self.fold.feed(line)
            if number % step == 0 or number == len(lines) - 1:
                self.apply()

    def happened(self) -> list[Happening]:
        """What would have called the person."""
        return [event.happening for event in self.events if isinstance(event, Happened)]


def lived(name: str, step: int = 1, *, seen: bool = False) -> Records:
    """The records after a whole capture."""
    records = Records(seen=seen)
    records.take(captures.load(name).lines(), step)
    return records


@pytest.mark.rule("S4")
@given(st.sampled_from(captures.NAMES), st.data())
def test_twice_is_once(name: str, data: st.DataObject) -> None:
    lines = captures.load(name).lines()
    records = Records()
    records.take(lines[: data.draw(st.integers(0, len(lines)))], data.draw(st.integers(1, 9)))
    for alive in (True, None, False):
        records.apply(alive)
        again = records.apply(alive)
        assert again.events == ()
        assert (again.session, again.task) == (records.session, records.task)


@pytest.mark.rule("S7")
@pytest.mark.parametrize("name", captures.NAMES)
def test_at_each_line_the_records_agree_with_each_other(name: str) -> None:
    records = Records()
    for line in captures.load(name, end=True).lines():
        records.fold.feed(line)
        state = records.fold.state
        records.apply(state.process != "ended")
        session, task = records.session, records.task
        assert task.phase in PHASE_ORDER
        assert task.phase not in ("COMPLETE", "HUMAN_VERIFIED", "TODO"), "that is the person's"
        assert not task.needs_attention or task.phase == "AWAIT_HUMAN_ACTION"
        assert (task.exec_session_id == SID) is session.holds_slot
        if session.pending:
            assert task.phase == "AWAIT_HUMAN_ACTION"
            assert session.status is SessionStatus.RUNNING
        assert bool(session.error) is (session.status is SessionStatus.ERROR)
        assert (session.pid is None) is (state.process == "ended")
    assert not records.session.holds_slot


@pytest.mark.rule("S7")
@pytest.mark.parametrize(
    ("name", "phases"),
    [
        ("01-simple-turn", ["AWAIT_HUMAN_ACTION"]),
        ("02-two-turns-fifo", ["AWAIT_HUMAN_ACTION", "IN_PROGRESS", "AWAIT_HUMAN_ACTION"]),
        ("10-permission-allow", ["AWAIT_HUMAN_ACTION", "IN_PROGRESS", "AWAIT_HUMAN_ACTION"]),
        ("50-ask-user-question", ["AWAIT_HUMAN_ACTION", "IN_PROGRESS", "AWAIT_HUMAN_ACTION"]),
        ("23-api-error-400", ["AWAIT_HUMAN_ACTION"]),
    ],
)
def test_how_the_task_moves(name: str, phases: list[str]) -> None:
    assert lived(name).phases == phases


@pytest.mark.rule("T15")
@pytest.mark.parametrize(
    ("name", "happened"),
    [
        ("01-simple-turn", [Happening.TURN_DONE]),
        ("02-two-turns-fifo", [Happening.TURN_DONE] * 2),
        ("10-permission-allow", [Happening.PERMISSION, Happening.TURN_DONE]),
        (
            "15-permission-parallel",
            [Happening.PERMISSION, Happening.PERMISSION, Happening.TURN_DONE],
        ),
        ("47-plan-mode-approve", [Happening.PLAN, Happening.TURN_DONE]),
        ("50-ask-user-question", [Happening.QUESTION, Happening.TURN_DONE]),
        ("23-api-error-400", [Happening.ERROR]),
        ("84-rate-limit-rejected", [Happening.ERROR]),
        ("19-interrupt-streaming", []),
    ],
)
def test_who_is_called_for_what(name: str, happened: list[Happening]) -> None:
    records = lived(name)
    assert records.happened() == happened
    keys = [event.key for event in records.events if isinstance(event, Happened)]
    assert len(set(keys)) == len(keys), "each has a name of its own"
    asked = {key for key in keys if ":ask:" in key}
    over = {event.key for event in records.events if isinstance(event, HappeningOver)}
    assert asked == over, "what was asked is over at the end"
    assert records.task.needs_attention is bool(happened)


@pytest.mark.rule("T15")
@pytest.mark.parametrize("name", ["01-simple-turn", "10-permission-allow", "23-api-error-400"])
def test_no_dot_for_who_looks(name: str) -> None:
    records = lived(name, seen=True)
    assert not records.task.needs_attention
    assert records.task.phase == "AWAIT_HUMAN_ACTION"


@pytest.mark.rule("S7")
@pytest.mark.parametrize("phase", ["COMPLETE", "HUMAN_VERIFIED"])
def test_what_the_person_settled_stays(phase: str) -> None:
    records = Records()
    records.task = replace(records.task, phase=phase)
    records.take(captures.load("02-two-turns-fifo").lines())
    assert records.task.phase == phase
    assert not records.task.needs_attention


@pytest.mark.rule("S4")
@pytest.mark.parametrize("name", captures.NAMES)
def test_how_often_it_is_applied_does_not_change_where_it_ends(name: str) -> None:
    fine, coarse = lived(name, 1), lived(name, 10**9)
    drop = {"last_active_at": None}
    assert replace(fine.session, **drop) == replace(coarse.session, **drop)  # type: ignore[arg-type]
    assert fine.task.phase == coarse.task.phase


# -- ends ------------------------------------------------------------------------------------------


def ended(name: str, cut: float = 1.0, *, intended: bool = False) -> Records:
    """The records after a part of a capture and the end of its process."""
    lines = captures.load(name).lines()
    records = Records()
    records.take(lines[: max(1, int(len(lines) * cut))])
    end = {"type": "walnut", "subtype": "process-end", "code": 1, "intended": intended}
    records.fold.feed(Line(end, records.fold.state.offset, records.fold.state.offset + 1))
    records.apply(False)
    return records


@pytest.mark.rule("S5.4")
@pytest.mark.rule("S5.5")
def test_a_process_that_dies_in_its_work_is_an_error_and_frees_the_slot() -> None:
    records = ended("27-killed-mid-turn")
    assert records.session.status is SessionStatus.ERROR
    assert "middle of its work" in records.session.error
    assert records.session.pid is None
    assert records.task.exec_session_id is None
    assert records.task.session_ids == (SID,), "the history stays"
    assert records.happened() == [Happening.ERROR]
    assert records.task.needs_attention


@pytest.mark.rule("S5.4")
def test_an_error_of_a_living_process_keeps_pid_and_slot() -> None:
    records = lived("23-api-error-400")
    assert records.session.status is SessionStatus.ERROR
    assert records.session.pid == 42


@pytest.mark.rule("S11")
def test_a_stop_by_the_person_calls_nobody() -> None:
    records = ended("27-killed-mid-turn", intended=True)
    assert (records.session.status, records.session.reason) == (
        SessionStatus.STOPPED,
        "user_stopped",
    )
    assert records.happened() == []
    assert not records.task.needs_attention
    assert records.task.exec_session_id is None


@pytest.mark.rule("S5.5")
def test_the_end_of_an_idle_process_is_quiet() -> None:
    records = ended("01-simple-turn")
    assert records.session.status is SessionStatus.STOPPED
    assert records.happened() == [Happening.TURN_DONE]
    assert records.task.exec_session_id is None


@pytest.mark.rule("S6")
@pytest.mark.parametrize("name", ["27-killed-mid-turn", "17-permission-pending-killed"])
def test_a_process_of_which_nothing_is_known_is_not_dead(name: str) -> None:
    records = Records()
    records.take(captures.load(name).lines())
    before = records.session, records.task
    outcome = records.apply(None)
    assert outcome.session.pid == 42
    assert (outcome.session, outcome.task) == before
    assert outcome.events == ()


@pytest.mark.rule("T10")
def test_a_session_that_comes_back_takes_its_slot_if_it_is_free() -> None:
    records = ended("01-simple-turn")
    start = {"type": "walnut", "subtype": "process-start", "spawn": "again", "resume": True}
    records.fold.feed(Line(start, records.fold.state.offset, records.fold.state.offset + 1))
    free, taken = records.task, replace(records.task, exec_session_id=Sid("other"))
    for task, holder in ((free, SID), (taken, Sid("other"))):
        outcome = advance(records.session, task, records.fold.state, True, seen=False, now=LATER)
        assert outcome.task is not None
        assert outcome.task.exec_session_id == holder


# -- messages --------------------------------------------------------------------------------------


@pytest.mark.rule("M1")
@given(
    st.dictionaries(st.sampled_from(["a", "b", "c"]), st.sampled_from(Fate)),
    st.lists(st.sampled_from(MessageState), min_size=3, max_size=3),
)
def test_messages_only_move_on(fates: dict[str, Fate], states: list[MessageState]) -> None:
    rows = [
        Message(MessageId(name), SID, name, NOW, state=state)
        for name, state in zip("abc", states, strict=True)
    ]
    moved = {row.id: row for row in settle_messages(rows, fates, LATER)}
    order = list(MessageState)
    for row in rows:
        after = moved.get(row.id)
        if row.state in (
            MessageState.CONSUMED,
            MessageState.FAILED,
            MessageState.PARKED,
            MessageState.CANCELLED,
        ):
            assert after is None, "only what is on its way moves"
        elif after is not None:
            assert order.index(after.state) > order.index(row.state)
        elif fates.get(row.id) in (Fate.CONSUMED, Fate.CANCELLED):
            raise AssertionError(f"{row} did not move")
    assert settle_messages(moved.values(), fates, LATER) == []


def test_a_state_without_lines_says_nothing() -> None:
    outcome = advance(SESSION, TASK, FoldState(), True, seen=False, now=LATER)
    assert outcome.session.status is SessionStatus.STARTING
    assert outcome.events == ()
    assert outcome.task == TASK
