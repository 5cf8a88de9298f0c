"""Names of things: typed ids, how task ids are made, and how a prefix finds its task (Rule T17)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NewType

from walnut_desktop.domain.errors import AmbiguousId, InvalidInput, NotFound

TaskId = NewType("TaskId", str)
Sid = NewType("Sid", str)
MessageId = NewType("MessageId", str)

MIN_PREFIX = 3
MAX_CANDIDATES = 10
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def make_task_id(milliseconds: int, random_16_bits: int) -> TaskId:
    """The base-36 of the millisecond clock, a dash, and 4 random hex digits."""
    digits = ""
    rest = milliseconds
    while rest:
        rest, digit = divmod(rest, 36)
        digits = _DIGITS[digit] + digits
    return TaskId(f"{digits or '0'}-{random_16_bits & 0xFFFF:04x}")


def resolve_prefix(given: str, titles: Mapping[TaskId, str]) -> TaskId:
    """The one task id that `given` names, whole or as a prefix of at least 3 characters.

    An exact match wins over longer ids. Raises NotFound, AmbiguousId (naming candidates), InvalidInput.
    """
    text = given.strip().lower()
    if TaskId(text) in titles:
        return TaskId(text)
    if len(text) < MIN_PREFIX:
        raise InvalidInput(
            f"“{given}” is too short for a task id.", f"Give at least {MIN_PREFIX} characters."
        )
    found = sorted(task_id for task_id in titles if task_id.startswith(text))
    if not found:
        raise NotFound(f"There is no task “{given}”.")
    if len(found) > 1:
        names = [f"{task_id} ({titles[task_id]})" for task_id in found[:MAX_CANDIDATES]]
        raise AmbiguousId(f"“{given}” fits {len(found)} tasks: {', '.join(names)}.", names)
    return found[0]
