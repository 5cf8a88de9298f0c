"""Tasks in the database: the one writer of their table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from walnut_desktop.domain.ids import Sid, TaskId
from walnut_desktop.domain.task import Task
from walnut_desktop.store.columns import (
    from_json,
    maybe_text,
    maybe_time,
    text_to_time,
    time_to_text,
    to_json,
)
from walnut_desktop.store.tables import TaskRow, dicts, tuples


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


def from_row(row: Mapping[str, Any]) -> Task:
    """The task of its columns."""
    return Task(
        id=TaskId(row["id"]),
        title=row["title"],
        phase=row["phase"],
        priority=row["priority"],
        category=row["category"],
        project=row["project"],
        source=row["source"],
        description=row["description"],
        summary=row["summary"],
        note=row["note"],
        conversation_log=row["conversation_log"],
        parent_id=row["parent_id"],
        depends_on=tuple(TaskId(item) for item in from_json(row["depends_on"])),
        plan_session_id=row["plan_session_id"],
        exec_session_id=row["exec_session_id"],
        session_ids=tuple(Sid(item) for item in from_json(row["session_ids"])),
        needs_attention=bool(row["needs_attention"]),
        starred=bool(row["starred"]),
        due_date=row["due_date"],
        tags=tuple(from_json(row["tags"])),
        cwd=row["cwd"],
        host=row["host"],
        position=row["position"],
        created_at=text_to_time(row["created_at"]),
        updated_at=text_to_time(row["updated_at"]),
        completed_at=maybe_time(row["completed_at"]),
        ext=from_json(row["ext"]),
    )


class Tasks:
    """Read and write inside a unit of work."""

    def all(self) -> dict[TaskId, Task]:
        """Every task by id."""
        tasks = (from_row(row) for row in dicts(TaskRow.select()))
        return {task.id: task for task in tasks}

    def get(self, task_id: str) -> Task | None:
        """The task with exactly this id."""
        rows = dicts(TaskRow.select().where(TaskRow.id == task_id))
        return from_row(rows[0]) if rows else None

    def titles(self) -> dict[TaskId, str]:
        """Ids and titles, for finding by prefix."""
        rows = tuples(TaskRow.select(TaskRow.id, TaskRow.title))
        return {TaskId(task_id): title for task_id, title in rows}

    def children(self, task_id: TaskId) -> list[Task]:
        """The direct children."""
        rows = dicts(TaskRow.select().where(TaskRow.parent_id == task_id))
        return [from_row(row) for row in rows]

    def last_position(self, parent_id: TaskId | None) -> float:
        """The greatest position among the siblings below a parent; 0 when there are none."""
        match = TaskRow.parent_id.is_null() if parent_id is None else TaskRow.parent_id == parent_id
        query = TaskRow.select(TaskRow.position).where(match)
        rows = tuples(query.order_by(TaskRow.position.desc()).limit(1))
        return float(rows[0][0]) if rows else 0.0

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
