"""Tasks in the database: the one writer of their table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from walnut_desktop.domain.ids import TaskId
from walnut_desktop.domain.task import Task
from walnut_desktop.store.columns import (
    from_json,
    maybe_text,
    maybe_time,
    text_to_time,
    time_to_text,
    to_json,
)
from walnut_desktop.store.tables import TaskRow, rows, tuples


def to_row(task: Task) -> dict[str, Any]:
    """The columns of a task."""
    return {
        "id": task.id,
        "title": task.title,
        "phase": task.phase,
        "priority": task.priority,
        "category": task.category,
        "project": task.project,
        "source": task.source,
        "description": task.description,
        "summary": task.summary,
        "note": task.note,
        "conversation_log": task.conversation_log,
        "parent_id": task.parent_id,
        "depends_on": to_json(task.depends_on),
        "plan_session_id": task.plan_session_id,
        "exec_session_id": task.exec_session_id,
        "session_ids": to_json(task.session_ids),
        "needs_attention": task.needs_attention,
        "starred": task.starred,
        "due_date": task.due_date,
        "tags": to_json(task.tags),
        "cwd": task.cwd,
        "host": task.host,
        "position": task.position,
        "created_at": time_to_text(task.created_at),
        "updated_at": time_to_text(task.updated_at),
        "completed_at": maybe_text(task.completed_at),
        "ext": to_json(dict(task.ext)),
    }


# The columns in the order of the record's fields, so that a row becomes a task without naming each of them.
_ORDER = [field.name for field in fields(Task)]
_TIMES = [_ORDER.index(name) for name in ("created_at", "updated_at")]
_LISTS = [_ORDER.index(name) for name in ("depends_on", "session_ids", "tags")]
_FLAGS = [_ORDER.index(name) for name in ("needs_attention", "starred")]
_COMPLETED, _EXT = _ORDER.index("completed_at"), _ORDER.index("ext")


def from_values(values: Sequence[Any]) -> Task:
    """The task of its columns in the order of its fields."""
    row = list(values)
    for at in _TIMES:
        row[at] = text_to_time(row[at])
    for at in _LISTS:
        row[at] = () if row[at] == "[]" else tuple(from_json(row[at]))
    for at in _FLAGS:
        row[at] = bool(row[at])
    row[_COMPLETED] = maybe_time(row[_COMPLETED])
    row[_EXT] = from_json(row[_EXT])
    return Task(*row)


class Tasks:
    """Read and write inside a unit of work."""

    def all(self) -> dict[TaskId, Task]:
        """Every task by id."""
        tasks = map(from_values, rows(TaskRow, _ORDER))
        return {task.id: task for task in tasks}

    def get(self, task_id: str) -> Task | None:
        """The task with exactly this id."""
        found = rows(TaskRow, _ORDER, "id", task_id)
        return from_values(found[0]) if found else None

    def titles(self) -> dict[TaskId, str]:
        """Ids and titles, for finding by prefix."""
        found = tuples(TaskRow.select(TaskRow.id, TaskRow.title))
        return {TaskId(task_id): title for task_id, title in found}

    def children(self, task_id: TaskId) -> list[Task]:
        """The direct children."""
        return [from_values(row) for row in rows(TaskRow, _ORDER, "parent_id", task_id)]

    def last_position(self, parent_id: TaskId | None) -> float:
        """The greatest position among the siblings below a parent; 0 when there are none."""
        match = TaskRow.parent_id.is_null() if parent_id is None else TaskRow.parent_id == parent_id
        query = TaskRow.select(TaskRow.position).where(match)
        found = tuples(query.order_by(TaskRow.position.desc()).limit(1))
        return float(found[0][0]) if found else 0.0

    def add(self, task: Task) -> None:
        """Store a new one."""
        TaskRow.insert(to_row(task)).execute()

    def save(self, task: Task) -> None:
        """Store its new state."""
        values = to_row(task)
        del values["id"]
        TaskRow.update(values).where(TaskRow.id == task.id).execute()

    def delete(self, task_id: TaskId) -> None:
        """Remove it."""
        TaskRow.delete().where(TaskRow.id == task_id).execute()
