"""What to do next with a session's queue (design 3, step 2): one pure decision with its reason.

The order of the questions is the point: what a crash may have done is looked up before anything is sent
again, and a process that lives is never joined by a second one (Rules M1, M3, S5.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from walnut_desktop.domain.message import Message, MessageState

MAX_TRIES = 3
MAX_AGE = timedelta(hours=24)


class Do(StrEnum):
    """The kinds of step."""

    NOTHING = "nothing"
    WAIT = "wait"
    LOOK_UP = "look_up"
    DELIVER = "deliver"
    RESUME = "resume"
    PARK = "park"
    FAIL = "fail"


class Step(NamedTuple):
    """The step, the messages it is about, and why."""

    do: Do
    messages: tuple[Message, ...]
    reason: str


class Situation(NamedTuple):
    """What is known of the session at this moment."""

    alive: bool | None  # None: the host is out of reach
    caught_up: bool  # everything that the agent has said so far is folded
    starting: bool  # its first start is going on, which does its own launching
    stopping: bool  # the person has asked for its end


def next_step(open_messages: Sequence[Message], now_is: Situation, now: datetime) -> Step:
    """The next step for the open messages (pending, processing, delivered), oldest first."""
    if not open_messages:
        return Step(Do.NOTHING, (), "queue_empty")
    if now_is.alive is None:
        return Step(Do.WAIT, (), "host_unreachable")
    if now_is.stopping:
        return Step(Do.WAIT, (), "stopping")
    if not now_is.caught_up:
        return Step(Do.WAIT, (), "catching_up")
    if now_is.starting and not now_is.alive:
        return Step(Do.WAIT, (), "starting")
    in_doubt = tuple(m for m in open_messages if m.state is not MessageState.PENDING)
    if not now_is.alive and in_doubt:
        # The process that had them is dead: what it took up stands in its files, the rest is lost with it.
        return Step(Do.LOOK_UP, in_doubt, "process_ended_with_messages")
    unsure = tuple(m for m in in_doubt if m.state is MessageState.PROCESSING)
    if unsure:
        # We ended in the middle of handing it over. The living process drops a uuid it knows (cli 4.3).
        return Step(Do.DELIVER, unsure[:1], "handing_over_was_interrupted")
    pending = tuple(m for m in open_messages if m.state is MessageState.PENDING)
    if not pending:
        return Step(Do.NOTHING, (), "all_delivered")
    first = pending[0]
    if first.tries >= MAX_TRIES:
        return Step(Do.FAIL, (first,), "tried_too_often")
    if now - first.created_at > MAX_AGE:
        return Step(Do.PARK, (first,), "too_old")
    if now_is.alive:
        return Step(Do.DELIVER, (first,), "process_lives")
    return Step(Do.RESUME, pending, "no_process")
