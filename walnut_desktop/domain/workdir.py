"""Where a session works (Rule T12): one chain, used by every way of starting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from walnut_desktop.domain.ids import TaskId
from walnut_desktop.domain.task import Task


class Workdir(NamedTuple):
    """The directory and which step of the chain gave it."""

    path: str
    step: str


def _safe_name(text: str) -> str:
    """A category or project as one path part: lower case, no separators, never `.` or `..`."""
    name = text.strip().lower().replace("/", "-").replace("\\", "-").replace("\x00", "")
    return name if name.strip(".") else "unnamed"


def project_memory(home: str, task: Task) -> str:
    """`<home>/memory/projects/<category>/<project>`."""
    return f"{home}/memory/projects/{_safe_name(task.category)}/{_safe_name(task.project)}"


def choose(
    explicit: str | None,
    task: Task | None,
    tasks: Mapping[TaskId, Task],
    default_cwd: str | None,
    home: str | None,
) -> Workdir | None:
    """Explicit, the task's own, a parent's, the project's default, the project's memory folder; else None.

    `home` is None for a remote host: the local memory folder means nothing there.
    """
    if explicit and explicit.strip():
        return Workdir(explicit.strip(), "explicit")
    current, seen = task, set[TaskId]()
    while current is not None and current.id not in seen:
        if current.cwd:
            return Workdir(current.cwd, "task" if current is task else "parent")
        seen.add(current.id)
        current = tasks.get(current.parent_id) if current.parent_id else None
    if default_cwd:
        return Workdir(default_cwd, "project")
    if task is not None and home:
        return Workdir(project_memory(home, task), "memory")
    return None
