"""Where a session works: each step of the chain alone, and which comes first (Rule T12)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from walnut_desktop.domain.ids import TaskId
from walnut_desktop.domain.task import Task
from walnut_desktop.domain.workdir import Workdir, choose, project_memory

NOW = datetime(2026, 12, 1, tzinfo=UTC)


def task(name: str, parent: str | None = None, cwd: str | None = None) -> Task:
    """A task of the project Shed."""
    parent_id = TaskId(parent) if parent else None
    return Task(
        TaskId(name), name, NOW, NOW, category="Home", project="Shed", parent_id=parent_id, cwd=cwd
    )


CHAIN = [task("child", "mother"), task("mother", "grandmother"), task("grandmother")]


@pytest.mark.rule("T12")
@pytest.mark.parametrize(
    ("explicit", "cwds", "default", "home", "expected"),
    [
        ("/x", ["/c", "/m", "/g"], "/d", "/h", Workdir("/x", "explicit")),
        (" /x ", [None, None, None], None, None, Workdir("/x", "explicit")),
        ("  ", ["/c", "/m", "/g"], "/d", "/h", Workdir("/c", "task")),
        (None, [None, "/m", "/g"], "/d", "/h", Workdir("/m", "parent")),
        (None, [None, None, "/g"], "/d", "/h", Workdir("/g", "parent")),
        (None, [None, None, None], "/d", "/h", Workdir("/d", "project")),
        (None, ["", "", ""], "", "/h", Workdir("/h/memory/projects/home/shed", "memory")),
        (None, [None, None, None], None, None, None),
    ],
)
def test_each_step(
    explicit: str | None,
    cwds: list[str | None],
    default: str | None,
    home: str | None,
    expected: Workdir | None,
) -> None:
    chain = [replace(one, cwd=cwd) for one, cwd in zip(CHAIN, cwds, strict=True)]
    tasks = {one.id: one for one in chain}
    assert choose(explicit, chain[0], tasks, default, home) == expected


@pytest.mark.rule("T12")
def test_a_circle_and_a_missing_parent_end_the_chain() -> None:
    first, second = task("a", "b"), task("b", "a")
    both = {first.id: first, second.id: second}
    assert choose(None, first, both, "/d", None) == Workdir("/d", "project")
    assert choose(None, task("c", "gone"), {}, "/d", None) == Workdir("/d", "project")
    assert choose(None, None, {}, None, "/h") is None


@pytest.mark.rule("T12")
@given(st.text(), st.text())
def test_the_memory_folder_never_leaves_its_place(category: str, project: str) -> None:
    path = project_memory("/h", replace(task("a"), category=category, project=project))
    parts = path.split("/")
    assert parts[:4] == ["", "h", "memory", "projects"]
    assert len(parts) == 6
    assert all(part and part.strip(".") and "\x00" not in part for part in parts[4:])
    assert path == project_memory(
        "/h", replace(task("b"), category=f" {category} ", project=project)
    )
