"""The two session slots of a task (Rule T10)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from walnut_desktop.domain import slots
from walnut_desktop.domain.errors import SlotTakenError
from walnut_desktop.domain.ids import Sid, TaskId
from walnut_desktop.domain.task import Task

NOW = datetime(2026, 12, 1, tzinfo=UTC)
TASK = Task(TaskId("t"), "t", NOW, NOW)
A, B = Sid("a"), Sid("b")
SLOTS = ("plan", "exec")


@pytest.mark.rule("T10")
@pytest.mark.parametrize("slot", SLOTS)
def test_a_free_slot_is_given_and_remembered(slot: str) -> None:
    task = slots.reserve(TASK, slot, A)
    other = "exec" if slot == "plan" else "plan"
    assert slots.holder(task, slot) == A
    assert slots.holder(task, other) is None, "the other one stays free"
    assert task.session_ids == (A,)
    assert slots.reserve(task, slot, A) == task, "twice is once"


@pytest.mark.rule("T10")
@pytest.mark.parametrize("slot", SLOTS)
def test_a_taken_slot_names_who_holds_it(slot: str) -> None:
    task = slots.reserve(TASK, slot, A)
    with pytest.raises(SlotTakenError) as caught:
        slots.reserve(task, slot, B)
    assert (caught.value.slot, caught.value.holder) == (slot, A)
    assert (caught.value.code, caught.value.status) == ("blocked", 409)


@pytest.mark.rule("T10")
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["reserve", "release", "forget"]),
            st.sampled_from(SLOTS),
            st.sampled_from([A, B]),
        ),
        max_size=12,
    )
)
def test_a_slot_never_changes_hands_without_a_release(steps: list[tuple[str, str, Sid]]) -> None:
    task = TASK
    for verb, slot, sid in steps:
        before = {name: slots.holder(task, name) for name in SLOTS}
        try:
            if verb == "reserve":
                task = slots.reserve(task, slot, sid)
            else:
                task = slots.release(task, sid) if verb == "release" else slots.forget(task, sid)
        except SlotTakenError:
            assert before[slot] not in (None, sid)
        for name in SLOTS:
            after = slots.holder(task, name)
            assert after in (before[name], sid) or (after is None and before[name] == sid)
            if verb != "reserve":
                assert after != sid
            if after is not None and before[name] not in (None, after):
                raise AssertionError(f"{name} went from {before[name]} to {after}")
        assert len(set(task.session_ids)) == len(task.session_ids)
        if verb == "forget":
            assert sid not in task.session_ids


@pytest.mark.rule("T10")
@pytest.mark.parametrize(
    ("mode", "slot"),
    [("plan", "plan"), ("default", "exec"), ("acceptEdits", "exec"), ("bypassPermissions", "exec")],
)
def test_which_slot_a_mode_takes(mode: str, slot: str) -> None:
    assert slots.slot_for_mode(mode) == slot
