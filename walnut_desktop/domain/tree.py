"""Parents and children (Rule T13): order for display, open children, no cycles, who inherits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from walnut_desktop.domain.errors import InvalidInput
from walnut_desktop.domain.ids import TaskId
from walnut_desktop.domain.task import Task


class Row(NamedTuple):
    """A task in display order: its depth, and how many of its direct children are open."""

    task: Task
    depth: int
    children: int
    open_children: int


def children_of(task_id: TaskId, tasks: Iterable[Task]) -> list[Task]:
    """The direct children of a task."""
    return [task for task in tasks if task.parent_id == task_id]


def open_children(task_id: TaskId, tasks: Iterable[Task]) -> list[Task]:
    """The direct children that are not complete."""
    return [task for task in children_of(task_id, tasks) if not task.is_done]


def display_order(tasks: Iterable[Task]) -> list[Row]:
    """Every visible task once, parents before their children, siblings by position.

    A task whose parent is missing, or that sits in a cycle of old data, shows at the top level.
    """
    visible = [task for task in tasks if not task.is_hidden]
    known = {task.id for task in visible}
    by_parent: dict[TaskId | None, list[Task]] = {}
    for task in visible:
        parent = task.parent_id
        if parent is not None and (parent not in known or parent == task.id):
            parent = None
        by_parent.setdefault(parent, []).append(task)
    for group in by_parent.values():
        if len(group) > 1:
            group.sort(key=_place)
    rows: list[Row] = []
    seen: set[TaskId] = set()
    none: list[Task] = []
    stack = [(task, 0) for task in reversed(by_parent.get(None, none))]
    strays = iter(visible)
    while True:
        while stack:
            task, depth = stack.pop()
            if task.id in seen:
                continue
            seen.add(task.id)
            below = by_parent.get(task.id, none)
            if below:
                still_open = sum(not child.is_done for child in below)
                rows.append(Row(task, depth, len(below), still_open))
                stack.extend((child, depth + 1) for child in reversed(below))
            else:
                rows.append(Row(task, depth, 0, 0))
        if len(seen) == len(visible):
            return rows
        stray = next((task for task in strays if task.id not in seen), None)
        if stray is None:
            return rows
        stack.append((stray, 0))


def _place(task: Task) -> tuple[float, datetime, str]:
    return (task.position, task.created_at, task.id)


def check_parent(task_id: TaskId | None, parent_id: TaskId, tasks: Mapping[TaskId, Task]) -> Task:
    """The parent, if the task may hang below it; raises InvalidInput for itself or a descendant."""
    current: TaskId | None = parent_id
    seen: set[TaskId] = set()
    while current is not None and current not in seen:
        if current == task_id:
            raise InvalidInput("A task can't be below itself.")
        seen.add(current)
        above = tasks.get(current)
        current = above.parent_id if above else None
    return tasks[parent_id]
