"""What is done next with a session's queue: every case, and what must never happen (Rules M1, M3, S5.4)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from walnut_desktop.domain.ids import MessageId, Sid
from walnut_desktop.domain.message import Message, MessageState
from walnut_desktop.sessions.next_step import MAX_AGE, MAX_TRIES, Do, Situation, Step, next_step

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
OPEN = (MessageState.PENDING, MessageState.PROCESSING, MessageState.DELIVERED)


def message(number: int, state: MessageState, *, tries: int = 0, hours: float = 0.0) -> Message:
    """An open message."""
    created = NOW - timedelta(hours=hours)
    return Message(
        MessageId(f"m{number}"), Sid("s"), f"text {number}", created, state=state, tries=tries
    )


@st.composite
def queues(draw: st.DrawFn) -> list[Message]:
    """Any queue of open messages."""
    return [
        message(
            number,
            draw(st.sampled_from(OPEN)),
            tries=draw(st.integers(0, MAX_TRIES + 1)),
            hours=draw(st.sampled_from([0.0, 23.0, 25.0])),
        )
        for number in range(draw(st.integers(0, 5)))
    ]


SITUATIONS = st.builds(
    Situation, st.sampled_from([True, False, None]), st.booleans(), st.booleans(), st.booleans()
)


@pytest.mark.rule("M1")
@given(queues(), SITUATIONS)
def test_each_step_has_a_reason_and_is_about_open_messages(
    queue: list[Message], now_is: Situation
) -> None:
    step = next_step(queue, now_is, NOW)
    assert step.reason
    assert set(step.messages) <= set(queue)
    assert bool(step.messages) == (step.do not in (Do.NOTHING, Do.WAIT))


@pytest.mark.rule("M3")
@given(queues(), SITUATIONS)
def test_a_second_process_is_never_started(queue: list[Message], now_is: Situation) -> None:
    if next_step(queue, now_is, NOW).do is Do.RESUME:
        assert now_is.alive is False, "only when the death is known"
        assert not now_is.starting
        assert not now_is.stopping
        assert now_is.caught_up
        assert all(one.state is MessageState.PENDING for one in queue), "doubts are looked up first"


@pytest.mark.rule("M1")
@given(queues(), SITUATIONS)
def test_nothing_is_sent_twice(queue: list[Message], now_is: Situation) -> None:
    step = next_step(queue, now_is, NOW)
    if step.do is Do.DELIVER:
        assert now_is.alive is True
        assert step.messages[0].state is not MessageState.DELIVERED
        assert len(step.messages) == 1


@pytest.mark.rule("M1")
@given(queues())
def test_a_living_process_gets_them_in_order(queue: list[Message]) -> None:
    step = next_step(queue, Situation(True, True, False, False), NOW)
    if step.do is Do.DELIVER and step.messages[0].state is MessageState.PENDING:
        assert step.messages[0] == next(m for m in queue if m.state is MessageState.PENDING)
    if any(m.state is MessageState.PENDING for m in queue):
        assert step.do in (Do.DELIVER, Do.FAIL, Do.PARK), "it never rests while it can go on"


@pytest.mark.parametrize(
    ("queue", "now_is", "do", "reason"),
    [
        ([], Situation(True, True, False, False), Do.NOTHING, "queue_empty"),
        (["pending"], Situation(None, True, False, False), Do.WAIT, "host_unreachable"),
        (["pending"], Situation(False, True, False, True), Do.WAIT, "stopping"),
        (["pending"], Situation(True, False, False, False), Do.WAIT, "catching_up"),
        (["pending"], Situation(True, True, False, False), Do.DELIVER, "process_lives"),
        (["pending"], Situation(False, True, False, False), Do.RESUME, "no_process"),
        (["pending"], Situation(False, True, True, False), Do.WAIT, "starting"),
        (["delivered"], Situation(False, True, True, False), Do.WAIT, "starting"),
        (["pending"], Situation(True, True, True, False), Do.DELIVER, "process_lives"),
        (["delivered"], Situation(True, True, False, False), Do.NOTHING, "all_delivered"),
        (
            ["delivered", "pending"],
            Situation(False, True, False, False),
            Do.LOOK_UP,
            "process_ended_with_messages",
        ),
        (
            ["processing", "pending"],
            Situation(True, True, False, False),
            Do.DELIVER,
            "handing_over_was_interrupted",
        ),
    ],
)
def test_the_table(queue: list[str], now_is: Situation, do: Do, reason: str) -> None:
    messages = [message(number, MessageState(word)) for number, word in enumerate(queue)]
    step = next_step(messages, now_is, NOW)
    assert (step.do, step.reason) == (do, reason)


@pytest.mark.rule("M1")
@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (message(0, MessageState.PENDING, tries=MAX_TRIES), (Do.FAIL, "tried_too_often")),
        (message(0, MessageState.PENDING, tries=MAX_TRIES - 1), (Do.RESUME, "no_process")),
        (
            message(0, MessageState.PENDING, hours=MAX_AGE / timedelta(hours=1) + 0.01),
            (Do.PARK, "too_old"),
        ),
        (
            message(0, MessageState.PENDING, hours=MAX_AGE / timedelta(hours=1)),
            (Do.RESUME, "no_process"),
        ),
    ],
)
def test_it_does_not_try_for_ever(first: Message, expected: tuple[Do, str]) -> None:
    step: Step = next_step([first], Situation(False, True, False, False), NOW)
    assert (step.do, step.reason) == expected
