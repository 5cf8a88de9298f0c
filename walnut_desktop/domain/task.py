"""The task record (Rules T1, T7, T13, T15) and the checks of what a person may type into it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from walnut_desktop.domain.errors import InvalidInput
from walnut_desktop.domain.ids import Sid, TaskId
from walnut_desktop.domain.phase import Phase, status_of

MAX_TITLE = 500
HIDDEN_TITLE = ".metadata"
DEFAULT_CATEGORY = "personal"
PRIORITIES = ("immediate", "important", "backlog", "none")

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True)
class Task:
    """One task. Times are aware UTC. Absent text of `conversation_log` differs from empty text."""

    id: TaskId
    title: str
    created_at: datetime
    updated_at: datetime
    phase: str = Phase.TODO.value
    priority: str = "none"
    category: str = DEFAULT_CATEGORY
    project: str = DEFAULT_CATEGORY
    source: str = "local"
    description: str = ""
    summary: str = ""
    note: str = ""
    conversation_log: str | None = None
    parent_id: TaskId | None = None
    depends_on: tuple[TaskId, ...] = ()
    plan_session_id: Sid | None = None
    exec_session_id: Sid | None = None
    session_ids: tuple[Sid, ...] = ()
    needs_attention: bool = False
    starred: bool = False
    due_date: str | None = None
    tags: tuple[str, ...] = ()
    cwd: str | None = None
    host: str | None = None
    position: float = 0.0
    completed_at: datetime | None = None
    ext: Mapping[str, Any] = field(default_factory=dict)

    @property
    def status(self) -> str:
        """todo, in_progress or done, derived from the phase (Rule T7)."""
        return status_of(self.phase)

    @property
    def is_done(self) -> bool:
        """Whether the person closed it."""
        return self.phase == Phase.COMPLETE.value

    @property
    def is_hidden(self) -> bool:
        """Project settings live in hidden tasks (Rule T11)."""
        return self.title.startswith(HIDDEN_TITLE)


def storable(text: str) -> str:
    """The text without halves of surrogate pairs, as a cut emoji leaves them: those can't be stored."""
    return text.encode("utf-8", "replace").decode()


def clean_title(text: str) -> str:
    """A title fit to be stored: one line, trimmed, 1 to 500 characters. Raises InvalidInput."""
    title = _CONTROL.sub(" ", storable(text)).strip()
    if not title:
        raise InvalidInput("A task needs a title.")
    if len(title) > MAX_TITLE:
        raise InvalidInput(
            f"This title has {len(title)} characters; {MAX_TITLE} is the most.",
            "Put the rest into the description.",
        )
    if title.startswith(HIDDEN_TITLE):
        raise InvalidInput(
            f"A title can't start with “{HIDDEN_TITLE}”: that name is for project settings."
        )
    return title
