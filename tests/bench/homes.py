"""Homes to measure with: many tasks and sessions, and streams of any size."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from tests.bench import streams
from walnut_desktop.domain.ids import Sid, TaskId
from walnut_desktop.domain.session import Session, SessionStatus
from walnut_desktop.domain.task import Task
from walnut_desktop.protocol.endpoint import streams_dir
from walnut_desktop.runtime.bus import Bus
from walnut_desktop.runtime.clock import SystemClock
from walnut_desktop.runtime.paths import Paths
from walnut_desktop.store.worker import Store, Unit


def fill(home: Path, tasks: int, sessions: int, sizes: tuple[int, ...] = ()) -> list[TaskId]:
    """Make a home; the first tasks get a stopped session with a stream of the given sizes."""
    paths = Paths(home)
    paths.make()
    sids = [Sid(f"00000000-0000-4000-8000-{number:012d}") for number in range(sessions)]

    def unit_of_work(unit: Unit) -> list[TaskId]:
        ids: list[TaskId] = []
        for number in range(tasks):
            task_id = TaskId(f"bench{number:06d}-0000")
            task = Task(
                task_id, f"Task number {number}", unit.now, unit.now, position=float(number)
            )
            if number % 5 == 4:
                task = replace(task, parent_id=ids[number - 1])
            unit.tasks.add(task)
            ids.append(task_id)
        for number, sid in enumerate(sids):
            session = Session(
                sid, ids[number % len(ids)], f"Task number {number}", "practice", unit.now, unit.now
            )
            unit.sessions.add(replace(session, status=SessionStatus.STOPPED, reason="user_stopped"))
        return ids

    async def work() -> list[TaskId]:
        store = Store(paths, SystemClock(), Bus())
        await store.open()
        ids = await store.run(unit_of_work)
        await store.close()
        return ids

    ids = asyncio.run(work())
    for number, size in enumerate(sizes):
        streams.write(streams_dir(home) / f"{sids[number]}.jsonl", size)
    return ids
