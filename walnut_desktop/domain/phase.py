"""The seven phases of a task (Rule T7): order, derived status, and how an agent's events move them.

`phase` is the truth. `status` is derived and never set alone. A stored phase that this version doesn't
know is kept as it is and shown as it is, so phases travel as plain strings and this module judges them.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from walnut_desktop.domain.errors import InvalidInput


class Phase(str, Enum):
    """Where a task stands."""

    TODO = "TODO"
    IN_PROGRESS = "IN_PROGRESS"
    AGENT_COMPLETE = "AGENT_COMPLETE"
    AWAIT_HUMAN_ACTION = "AWAIT_HUMAN_ACTION"
    HUMAN_VERIFIED = "HUMAN_VERIFIED"
    POST_WORK_COMPLETED = "POST_WORK_COMPLETED"
    COMPLETE = "COMPLETE"


PHASE_ORDER: tuple[str, ...] = tuple(phase.value for phase in Phase)

_LABELS = {
    Phase.TODO: "To do",
    Phase.IN_PROGRESS: "In progress",
    Phase.AGENT_COMPLETE: "Agent done",
    Phase.AWAIT_HUMAN_ACTION: "Needs you",
    Phase.HUMAN_VERIFIED: "Verified",
    Phase.POST_WORK_COMPLETED: "Wrapped up",
    Phase.COMPLETE: "Done",
}

# The person said so; no event of an agent takes it back (Rule S7: never past COMPLETE without the person).
_SETTLED = {Phase.COMPLETE.value, Phase.HUMAN_VERIFIED.value}


def is_known(phase: str) -> bool:
    """Whether this version knows the phase."""
    return phase in PHASE_ORDER


def label(phase: str) -> str:
    """The phase in words for the person; an unknown one as it is stored."""
    return _LABELS[Phase(phase)] if is_known(phase) else phase


def status_of(phase: str) -> str:
    """The derived status: todo, in_progress or done. An unknown phase counts as work in progress."""
    if phase == Phase.TODO.value:
        return "todo"
    return "done" if phase == Phase.COMPLETE.value else "in_progress"


def parse_phase(text: str) -> Phase:
    """The phase that input names, in any case; raises InvalidInput with the list."""
    try:
        return Phase(text.strip().upper())
    except ValueError:
        raise InvalidInput(
            f"“{text}” is no phase.", f"Use one of {', '.join(PHASE_ORDER)}."
        ) from None


class PhaseEvent(str, Enum):
    """What a session can tell its task."""

    INPUT = "input"  # a message was accepted for sending
    TURN_STARTED = "turn_started"
    TURN_OK = "turn_ok"
    TURN_SETTLED = "turn_settled"  # the finished turn becomes the person's business
    ASKED = "asked"  # a permission, a question or a plan waits
    ANSWERED = "answered"  # the last such request is gone while the turn goes on
    FAILED = "failed"


class PhaseStep(NamedTuple):
    """The new phase and attention; None means unchanged. `reason` is for the log."""

    phase: str | None
    attention: bool | None
    reason: str


def step(phase: str, event: PhaseEvent) -> PhaseStep:
    """What an event of a session does to a task's phase and attention (Rules S7, T15), as a table."""
    if phase in _SETTLED:
        return PhaseStep(None, None, "settled_by_person")
    if event in (PhaseEvent.INPUT, PhaseEvent.TURN_STARTED, PhaseEvent.ANSWERED):
        if phase == Phase.IN_PROGRESS.value:
            return PhaseStep(None, False, "working")
        return PhaseStep(Phase.IN_PROGRESS.value, False, "working")
    if event is PhaseEvent.TURN_OK:
        return PhaseStep(Phase.AGENT_COMPLETE.value, None, "turn_ok")
    if event is PhaseEvent.TURN_SETTLED:
        if phase != Phase.AGENT_COMPLETE.value:
            return PhaseStep(None, None, "not_agent_complete")
        return PhaseStep(Phase.AWAIT_HUMAN_ACTION.value, True, "needs_person")
    return PhaseStep(Phase.AWAIT_HUMAN_ACTION.value, True, event.value)
