"""Who is told what, and when (Rules S7, G2, G11): a table over what happened and who is looking."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Happening(str, Enum):
    """What can call the person."""

    TURN_DONE = "turn_done"
    PERMISSION = "permission"
    QUESTION = "question"
    PLAN = "plan"
    ERROR = "error"


class Watching(NamedTuple):
    """What the person looks at: whether the window is in front, and whether on this task."""

    window_active: bool
    task_shown: bool


class Notice(NamedTuple):
    """Whether to speak, with which headline, and the reason for the log."""

    show: bool
    headline: str
    reason: str


_HEADLINES = {
    Happening.TURN_DONE: "Finished a turn",
    Happening.PERMISSION: "Asks for permission",
    Happening.QUESTION: "Has a question",
    Happening.PLAN: "Plan ready for review",
    Happening.ERROR: "Ran into an error",
}


def decide_notify(happening: Happening, watching: Watching) -> Notice:
    """Speak unless the person looks at that task in the active window; a finished turn only when the
    window is not in front at all (D15)."""
    headline = _HEADLINES[happening]
    if watching.window_active and watching.task_shown:
        return Notice(False, headline, "person_is_looking")
    if watching.window_active and happening is Happening.TURN_DONE:
        return Notice(False, headline, "window_in_front")
    return Notice(True, headline, "person_is_away")


def sets_attention(watching: Watching) -> bool:
    """A red dot is for what the person has not seen: none for the task on screen in the active window."""
    return not (watching.window_active and watching.task_shown)
