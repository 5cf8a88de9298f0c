"""Parents and children: any graph that old data may hold (Rule T13)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from walnut_desktop.domain.errors import ActiveChildrenError, InvalidInput
from walnut_desktop.domain.ids import TaskId
from walnut_desktop.domain.phase import PHASE_ORDER
from walnut_desktop.domain.task import Task
from walnut_desktop.domain.tree import check_parent, children_of, display_order, open_children

NOW = datetime(2026, 12, 1, tzinfo=UTC)
NAMES = [TaskId(f"t{number}") for number in range(12)]


@st.composite
def graphs(draw: st.DrawFn) -> list[Task]:
    """Tasks with any parents: missing ones, themselves, circles."""
    names = draw(st.lists(st.sampled_from(NAMES), unique=True))
    return [
        Task(
            id=name,
            title=draw(st.sampled_from(["x", "x", ".metadata"])),
            created_at=NOW + timedelta(seconds=draw(st.integers(0, 2))),
            updated_at=NOW,
            phase=draw(st.sampled_from(PHASE_ORDER)),
            parent_id=draw(st.none() | st.sampled_from(NAMES)),
            position=draw(st.sampled_from([0.0, 1.0, 2.0])),
        )
        for name in names
    ]


@pytest.mark.rule("T13")
@given(graphs())
def test_every_visible_task_shows_once_and_below_its_parent(tasks: list[Task]) -> None:
    rows = display_order(tasks)
    visible = [task for task in tasks if not task.is_hidden]
    assert sorted(row.task.id for row in rows) == sorted(task.id for task in visible)
    path: list[TaskId] = []
    for row in rows:
        assert row.depth <= len(path)
        del path[row.depth :]
        if row.depth:
            assert row.task.parent_id == path[-1]
        path.append(row.task.id)


@pytest.mark.rule("T13")
@given(graphs())
def test_only_what_has_no_reachable_parent_is_at_the_top(tasks: list[Task]) -> None:
    by_id = {task.id: task for task in tasks if not task.is_hidden}
    for row in display_order(tasks):
        above, seen = row.task, set[TaskId]()
        while above.parent_id in by_id and above.id not in seen:
            seen.add(above.id)
            above = by_id[above.parent_id]
        if above.id not in seen:  # no circle above it
            assert row.depth == len(seen), row.task.id


@pytest.mark.rule("T13")
@given(graphs())
def test_children_are_counted(tasks: list[Task]) -> None:
    visible = [task for task in tasks if not task.is_hidden]
    for row in display_order(tasks):
        children = [
            task for task in visible if task.parent_id == row.task.id and task.id != row.task.id
        ]
        assert row.children == len(children)
        assert row.open_children == sum(task.phase != "COMPLETE" for task in children)


@given(graphs())
def test_siblings_stand_by_position(tasks: list[Task]) -> None:
    rows = display_order([replace(task, parent_id=None) for task in tasks])
    places = [(row.task.position, row.task.created_at, row.task.id) for row in rows]
    assert places == sorted(places)


@pytest.mark.rule("T13")
@given(graphs(), st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_a_new_parent_never_closes_a_circle(
    tasks: list[Task], task_id: TaskId, parent_id: TaskId
) -> None:
    by_id = {task.id: task for task in tasks}
    if parent_id not in by_id:
        return
    try:
        assert check_parent(task_id, parent_id, by_id) is by_id[parent_id]
        refused = False
    except InvalidInput:
        refused = True
    above: TaskId | None = parent_id
    line: list[TaskId] = []
    while above is not None and above not in line:
        line.append(above)
        above = by_id[above].parent_id if above in by_id else None
    assert refused is (task_id in line)


@pytest.mark.rule("T13")
def test_open_children_and_what_is_said_of_them() -> None:
    def child(name: str, phase: str) -> Task:
        return Task(TaskId(name), name, NOW, NOW, phase=phase, parent_id=TaskId("p"))

    tasks = [child("a", "TODO"), child("b", "COMPLETE"), child("c", "HUMAN_VERIFIED")]
    other = replace(tasks[0], id=TaskId("d"), parent_id=None)
    assert len(children_of(TaskId("p"), [*tasks, other])) == 3
    assert [task.id for task in open_children(TaskId("p"), [*tasks, other])] == ["a", "c"]
    error = ActiveChildrenError([f"task {number}" for number in range(7)])
    assert (error.status, error.active_children) == (409, 7)
    assert "7 open subtasks" in str(error)
    assert "and 2 more" in str(error)
    assert "1 open subtask:" in str(ActiveChildrenError(["one"]))
