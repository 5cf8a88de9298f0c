"""What a session's event does to its task: the whole table (Rules T7, S7)."""

from __future__ import annotations

import itertools

import pytest

from walnut_desktop.domain.attention import Happening, Watching, decide_notify, sets_attention
from walnut_desktop.domain.errors import InvalidInput
from walnut_desktop.domain.phase import (
    PHASE_ORDER,
    Phase,
    PhaseEvent,
    label,
    parse_phase,
    status_of,
    step,
)

WORKING = {PhaseEvent.INPUT, PhaseEvent.TURN_STARTED, PhaseEvent.ANSWERED}
CALLING = {PhaseEvent.ASKED, PhaseEvent.FAILED}
UNKNOWN = "SOMETHING_NEW"


@pytest.mark.rule("T7")
def test_the_order_and_the_status() -> None:
    assert PHASE_ORDER == (
        "TODO",
        "IN_PROGRESS",
        "AGENT_COMPLETE",
        "AWAIT_HUMAN_ACTION",
        "HUMAN_VERIFIED",
        "POST_WORK_COMPLETED",
        "COMPLETE",
    )
    assert [status_of(phase) for phase in PHASE_ORDER] == ["todo", *["in_progress"] * 5, "done"]
    assert (status_of(UNKNOWN), label(UNKNOWN)) == ("in_progress", UNKNOWN)


@pytest.mark.rule("T7")
def test_a_phase_is_read_in_any_case_and_a_wrong_one_is_told_the_list() -> None:
    assert parse_phase(" in_progress ") is Phase.IN_PROGRESS
    with pytest.raises(InvalidInput) as caught:
        parse_phase("finished")
    assert "AGENT_COMPLETE" in caught.value.sentence()


@pytest.mark.rule("S7")
@pytest.mark.parametrize("phase", [*PHASE_ORDER, UNKNOWN])
@pytest.mark.parametrize("event", PhaseEvent)
def test_the_table(phase: str, event: PhaseEvent) -> None:
    moved = step(phase, event)
    after = moved.phase or phase
    assert moved.reason
    if phase in ("COMPLETE", "HUMAN_VERIFIED"):
        assert (moved.phase, moved.attention) == (None, None), "only the person takes this back"
    elif event in WORKING:
        assert (after, moved.attention) == ("IN_PROGRESS", False)
    elif event in CALLING:
        assert (after, moved.attention) == ("AWAIT_HUMAN_ACTION", True)
    elif event is PhaseEvent.TURN_OK:
        assert (after, moved.attention) == ("AGENT_COMPLETE", None)
    elif phase == "AGENT_COMPLETE":
        assert (after, moved.attention) == ("AWAIT_HUMAN_ACTION", True)
    else:
        assert (moved.phase, moved.attention) == (None, None)
    assert after != "COMPLETE" or phase == "COMPLETE"


@pytest.mark.rule("S7")
def test_who_looks_is_not_called() -> None:
    for active, shown, happening in itertools.product((True, False), (True, False), Happening):
        watching = Watching(active, shown)
        notice = decide_notify(happening, watching)
        assert notice.headline
        looking = active and shown
        assert sets_attention(watching) is not looking
        if looking:
            assert not notice.show
        elif not active:
            assert notice.show
        else:
            assert notice.show is (happening is not Happening.TURN_DONE)
