"""The use cases of tasks on a real store (Rules T7, T10, T13, T15, T17)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.loop import on_loop
from walnut_desktop.domain.errors import (
    ActiveChildrenError,
    AmbiguousId,
    Conflict,
    InvalidInput,
    NotFound,
)
from walnut_desktop.domain.events import Event, TaskChanged, TaskDeleted
from walnut_desktop.domain.ids import Sid, TaskId
from walnut_desktop.domain.task import Task
from walnut_desktop.runtime.bus import Bus
from walnut_desktop.runtime.clock import SystemClock
from walnut_desktop.runtime.paths import Paths
from walnut_desktop.store.worker import Store
from walnut_desktop.tasks.service import TaskService


class Desk:
    """The service, its store, and what it has told."""

    def __init__(self, store: Store, bus: Bus) -> None:
        self.store = store
        self.tasks = TaskService(store)
        self.told: list[Event] = []
        bus.subscribe(TaskChanged, self.told.append)
        bus.subscribe(TaskDeleted, self.told.append)

    async def change(self, task: Task, **fields: object) -> Task:
        """As a session would change it."""
        changed = replace(task, **fields)  # type: ignore[arg-type]
        await self.store.run(lambda unit: unit.tasks.save(changed))
        return changed


@asynccontextmanager
async def desk(home: Path) -> AsyncIterator[Desk]:
    """A service on a fresh home."""
    paths, bus = Paths(home), Bus()
    paths.make()
    store = Store(paths, SystemClock(), bus)
    await store.open()
    try:
        yield Desk(store, bus)
    finally:
        await store.close()


@pytest.mark.rule("T13")
@on_loop
async def test_a_child_inherits_place_and_source_and_comes_last(tmp_path: Path) -> None:
    async with desk(tmp_path / "w") as it:
        parent = await it.tasks.create("Parent")
        parent = await it.change(parent, category="home", project="shed", source="ms-todo")
        first = await it.tasks.create("First", parent_id=parent.id)
        second = await it.tasks.create("Second", parent_id=parent.id[:-1])
        assert (first.category, first.project, first.source) == ("home", "shed", "ms-todo")
        assert first.parent_id == second.parent_id == parent.id
        assert first.position < second.position
        assert [event.created for event in it.told if isinstance(event, TaskChanged)] == [True] * 3


@pytest.mark.rule("T13")
@on_loop
async def test_a_parent_completes_only_after_its_children(tmp_path: Path) -> None:
    async with desk(tmp_path / "w") as it:
        parent = await it.tasks.create("Parent")
        child = await it.tasks.create("Child", parent_id=parent.id)
        with pytest.raises(ActiveChildrenError, match="Child"):
            await it.tasks.set_phase(parent.id, "complete")
        assert (await it.tasks.get(parent.id)).phase == "TODO"
        await it.tasks.toggle_complete(child.id)
        assert (await it.tasks.toggle_complete(parent.id)).is_done
        assert not (await it.tasks.toggle_complete(parent.id)).is_done


@pytest.mark.rule("T7")
@pytest.mark.rule("T10")
@pytest.mark.rule("T15")
@on_loop
async def test_completing_frees_slots_clears_the_dot_and_keeps_its_time(tmp_path: Path) -> None:
    async with desk(tmp_path / "w") as it:
        task = await it.tasks.create("Task")
        sids = (Sid("a"), Sid("b"))
        await it.change(
            task,
            needs_attention=True,
            plan_session_id=sids[0],
            exec_session_id=sids[1],
            session_ids=sids,
        )
        done = await it.tasks.set_phase(task.id, "COMPLETE")
        assert (done.plan_session_id, done.exec_session_id) == (None, None)
        assert (done.session_ids, done.needs_attention, done.status) == (sids, False, "done")
        assert done.completed_at is not None
        again = await it.tasks.set_phase(task.id, "COMPLETE")
        assert again.completed_at == done.completed_at
        assert (await it.tasks.set_phase(task.id, "TODO")).completed_at is None
        with pytest.raises(InvalidInput):
            await it.tasks.set_phase(task.id, "finished")


@pytest.mark.rule("T15")
@on_loop
async def test_opening_takes_the_dot_and_says_so_once(tmp_path: Path) -> None:
    async with desk(tmp_path / "w") as it:
        task = await it.tasks.create("Task")
        await it.change(task, needs_attention=True)
        it.told.clear()
        assert not (await it.tasks.open(task.id)).needs_attention
        await it.tasks.open(task.id)
        assert len(it.told) == 1, "nothing has changed the second time"


@pytest.mark.rule("T13")
@on_loop
async def test_deleting_gives_the_children_to_the_grandparent(tmp_path: Path) -> None:
    async with desk(tmp_path / "w") as it:
        top = await it.tasks.create("Top")
        middle = await it.tasks.create("Middle", parent_id=top.id)
        leaf = await it.tasks.create("Leaf", parent_id=middle.id)
        waits = await it.change(await it.tasks.create("Waits"), depends_on=(middle.id, top.id))
        await it.tasks.delete(middle.id)
        assert (await it.tasks.get(leaf.id)).parent_id == top.id
        assert (await it.tasks.get(waits.id)).depends_on == (top.id,)
        with pytest.raises(NotFound):
            await it.tasks.get(middle.id)
        assert TaskDeleted(middle.id) in it.told
        busy = await it.change(await it.tasks.get(leaf.id), exec_session_id=Sid("s"))
        with pytest.raises(Conflict, match="running session"):
            await it.tasks.delete(busy.id)


@pytest.mark.rule("T13")
@on_loop
async def test_a_task_never_moves_below_itself_or_to_another_source(tmp_path: Path) -> None:
    async with desk(tmp_path / "w") as it:
        top = await it.tasks.create("Top")
        child = await it.tasks.create("Child", parent_id=top.id)
        leaf = await it.tasks.create("Leaf", parent_id=child.id)
        for below in (top, child, leaf):
            with pytest.raises(InvalidInput, match="below itself"):
                await it.tasks.move(top.id, below.id)
        other = await it.change(await it.tasks.create("Other"), source="ms-todo")
        with pytest.raises(InvalidInput, match="another source"):
            await it.tasks.move(leaf.id, other.id)
        moved = await it.tasks.move(leaf.id, None)
        assert moved.parent_id is None
        assert moved.position > other.position
        assert (await it.tasks.move(leaf.id, top.id)).parent_id == top.id


@pytest.mark.rule("T17")
@on_loop
async def test_every_use_case_takes_a_prefix_and_names_candidates(tmp_path: Path) -> None:
    async with desk(tmp_path / "w") as it:
        template = await it.tasks.create("Template")
        one, two = TaskId("abcd1111-1111"), TaskId("abcd2222-2222")
        for task_id in (one, two):
            await it.store.run(
                lambda unit, task_id=task_id: unit.tasks.add(replace(template, id=task_id))  # type: ignore[misc]
            )
        assert (await it.tasks.rename("ABCD1", "New")).id == one
        assert (await it.tasks.set_note("abcd2", "n")).note == "n"
        assert (await it.tasks.set_description("abcd2", "d")).description == "d"
        assert (await it.tasks.set_cwd("abcd2", " /x ")).cwd == "/x"
        assert (await it.tasks.set_cwd("abcd2", "  ")).cwd is None
        with pytest.raises(AmbiguousId) as caught:
            await it.tasks.set_phase("abcd", "TODO")
        assert len(caught.value.candidates) == 2


@pytest.mark.rule("T11")
@on_loop
async def test_hidden_tasks_are_not_listed(tmp_path: Path) -> None:
    async with desk(tmp_path / "w") as it:
        task = await it.tasks.create("Task")
        await it.change(await it.tasks.create("x"), title=".metadata")
        assert [one.id for one in await it.tasks.all()] == [task.id]


@pytest.mark.parametrize("text", ["half \ud83d", "\udfff"])
@on_loop
async def test_any_text_can_be_typed(tmp_path: Path, text: str) -> None:
    async with desk(tmp_path / "w") as it:
        task = await it.tasks.create(f"t {text}")
        await it.tasks.set_note(task.id, text)
        await it.tasks.set_description(task.id, text)
        await it.tasks.set_cwd(task.id, f"/{text}")
        await it.tasks.rename(task.id, f"r {text}")
        stored = await it.tasks.get(task.id)
        assert stored.note == text.encode("utf-8", "replace").decode()
