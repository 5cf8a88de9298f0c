"""What can be done with tasks. Every change is one transaction, and tells what it changed."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from walnut_desktop.domain import tree
from walnut_desktop.domain.errors import ActiveChildrenError, Conflict, InvalidInput, NotFound
from walnut_desktop.domain.events import TaskChanged, TaskDeleted
from walnut_desktop.domain.ids import TaskId, make_task_id, resolve_prefix
from walnut_desktop.domain.phase import Phase, parse_phase
from walnut_desktop.domain.task import Task, clean_title, storable
from walnut_desktop.store.worker import Store, Unit


def change_phase(task: Task, phase: str, now: datetime) -> Task:
    """The task in another phase, with everything that belongs to it (Rules T7, T10, T15)."""
    if phase == Phase.COMPLETE.value:
        return replace(
            task,
            phase=phase,
            completed_at=task.completed_at or now,
            plan_session_id=None,
            exec_session_id=None,
            needs_attention=False,
            updated_at=now,
        )
    return replace(task, phase=phase, completed_at=None, updated_at=now)


def find(unit: Unit, task_id: str) -> Task:
    """The task that an id or a unique prefix names. Raises NotFound or AmbiguousId (Rule T17)."""
    task = unit.tasks.get(task_id)
    if task is None:
        task = unit.tasks.get(resolve_prefix(task_id, unit.tasks.titles()))
    if task is None:
        raise NotFound(f"There is no task “{task_id}”.")
    return task


class TaskService:
    """The use cases of tasks."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def all(self) -> list[Task]:
        """Every task, hidden ones left out."""
        tasks = await self._store.run(lambda unit: unit.tasks.all())
        return [task for task in tasks.values() if not task.is_hidden]

    async def get(self, task_id: str) -> Task:
        """One task by id or prefix."""
        return await self._store.run(lambda unit: find(unit, task_id))

    async def create(
        self, title: str, *, parent_id: str | None = None, cwd: str | None = None
    ) -> Task:
        """A new task at the end of its siblings; a child inherits place and source (Rule T13)."""
        clean = clean_title(title)

        def unit_of_work(unit: Unit) -> Task:
            parent = find(unit, parent_id) if parent_id else None
            task = Task(
                id=_new_id(unit),
                title=clean,
                created_at=unit.now,
                updated_at=unit.now,
                position=unit.tasks.last_position(parent.id if parent else None) + 1.0,
                cwd=storable(cwd) if cwd else None,
            )
            if parent is not None:
                task = replace(
                    task,
                    parent_id=parent.id,
                    category=parent.category,
                    project=parent.project,
                    source=parent.source,
                )
            unit.tasks.add(task)
            unit.emit(TaskChanged(task, created=True))
            return task

        return await self._store.run(unit_of_work)

    async def rename(self, task_id: str, title: str) -> Task:
        """Give it another title."""
        clean = clean_title(title)
        return await self._change(task_id, lambda task, _unit: replace(task, title=clean))

    async def set_phase(self, task_id: str, phase: str) -> Task:
        """Put it into a phase. Completing needs all children complete (Rule T13)."""
        wanted = parse_phase(phase).value

        def apply(task: Task, unit: Unit) -> Task:
            if wanted == Phase.COMPLETE.value:
                still_open = tree.open_children(task.id, unit.tasks.children(task.id))
                if still_open:
                    raise ActiveChildrenError([child.title for child in still_open])
            return change_phase(task, wanted, unit.now)

        return await self._change(task_id, apply)

    async def toggle_complete(self, task_id: str) -> Task:
        """Complete it, or open it again."""
        task = await self.get(task_id)
        return await self.set_phase(
            task.id, Phase.TODO.value if task.is_done else Phase.COMPLETE.value
        )

    async def open(self, task_id: str) -> Task:
        """The person looks at it: the red dot goes (Rule T15)."""
        return await self._change(task_id, lambda task, _unit: replace(task, needs_attention=False))

    async def set_cwd(self, task_id: str, cwd: str) -> Task:
        """The folder its sessions work in; empty follows the chain again."""
        return await self._change(
            task_id, lambda task, _unit: replace(task, cwd=storable(cwd).strip() or None)
        )

    async def set_note(self, task_id: str, note: str) -> Task:
        """Replace the note."""
        return await self._change(task_id, lambda task, _unit: replace(task, note=storable(note)))

    async def set_description(self, task_id: str, text: str) -> Task:
        """Replace the description."""
        return await self._change(
            task_id, lambda task, _unit: replace(task, description=storable(text))
        )

    async def delete(self, task_id: str) -> None:
        """Remove it; its children go up to its parent. Not while a session holds a slot."""

        def unit_of_work(unit: Unit) -> None:
            task = find(unit, task_id)
            if task.exec_session_id or task.plan_session_id:
                raise Conflict("This task has a running session.", "Stop it first.")
            for child in unit.tasks.children(task.id):
                moved = replace(child, parent_id=task.parent_id, updated_at=unit.now)
                unit.tasks.save(moved)
                unit.emit(TaskChanged(moved))
            for other in unit.tasks.all().values():
                if task.id in other.depends_on:
                    left = tuple(dep for dep in other.depends_on if dep != task.id)
                    unit.tasks.save(replace(other, depends_on=left))
                    unit.emit(TaskChanged(replace(other, depends_on=left)))
            unit.tasks.delete(task.id)
            unit.emit(TaskDeleted(task.id))

        await self._store.run(unit_of_work)

    async def move(self, task_id: str, parent_id: str | None) -> Task:
        """Hang it below another task, or with None at the top level. Never below itself."""

        def apply(task: Task, unit: Unit) -> Task:
            if parent_id is None:
                return replace(task, parent_id=None, position=unit.tasks.last_position(None) + 1.0)
            parent = find(unit, parent_id)
            tree.check_parent(task.id, parent.id, unit.tasks.all())
            if parent.source != task.source:
                raise InvalidInput("A task can't hang below one of another source.")
            position = unit.tasks.last_position(parent.id) + 1.0
            return replace(task, parent_id=parent.id, position=position)

        return await self._change(task_id, apply)

    async def _change(self, task_id: str, apply: Callable[[Task, Unit], Task]) -> Task:
        def unit_of_work(unit: Unit) -> Task:
            before = find(unit, task_id)
            after = apply(before, unit)
            if after == before:
                return before
            after = replace(after, updated_at=unit.now)
            unit.tasks.save(after)
            unit.emit(TaskChanged(after))
            return after

        return await self._store.run(unit_of_work)


def _new_id(unit: Unit) -> TaskId:
    milliseconds = int(unit.now.timestamp() * 1000)
    while True:
        task_id = make_task_id(milliseconds, secrets.randbits(16))
        if unit.tasks.get(task_id) is None:
            return task_id
