"""P2: opening a 500 MB transcript to its first paint, against a 1 MB one; and whether the CPU rests after."""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication

from tests.bench import homes
from tests.gui.rig import Rig, eventually
from walnut_desktop.gui import application

BIG, SMALL, ROUNDS = 500_000_000, 1_000_000, 7


async def _open(rig: Rig, number: int, task_id: Any) -> float:
    """Milliseconds from choosing the task until its newest words are painted."""
    view = rig.desktop.window.chat.transcript
    begin = time.perf_counter()
    rig.desktop.window.tasks.choose(task_id)
    await eventually(lambda: len(view.surface.rows) > 0, f"transcript {number}")
    view.repaint()
    assert view.placed, "something is painted"
    return (time.perf_counter() - begin) * 1000


async def _measure(app: application.Application, home: Path, big: int) -> dict[str, Any]:
    ids = homes_of(home, big)
    rig = Rig(app, home, home, "practice")
    await rig.open()
    try:
        rig.desktop.window.tasks.choose(ids[2])
        times: dict[int, list[float]] = {0: [], 1: []}
        for _ in range(ROUNDS):
            for number in (0, 1):
                times[number].append(await _open(rig, number, ids[number]))
                rig.desktop.window.tasks.choose(ids[2])
                await asyncio.sleep(0.05)
        cpu, end = time.process_time(), time.monotonic() + 1.0
        await eventually(lambda: time.monotonic() > end, "a second at rest")
        idle = time.process_time() - cpu
    finally:
        await rig.end()
    large, small = statistics.median(times[0]), statistics.median(times[1])
    return {
        "value": round(large / small, 3),
        "unit": "ratio",
        "detail": {
            "big_ms": round(large, 1),
            "small_ms": round(small, 1),
            "bytes": big,
            "cpu_after_s": round(idle, 4),
        },
    }


def homes_of(home: Path, big: int) -> list[Any]:
    """The ids that `fill` made, in order."""
    from walnut_desktop.domain.ids import TaskId

    return [TaskId(f"bench{number:06d}-0000") for number in range(3)] if big else []


def run(big: int = BIG) -> dict[str, Any]:
    """One app on a home with both."""
    with tempfile.TemporaryDirectory(prefix="wb-") as folder:
        home = Path(folder) / "w"
        homes.fill(home, 3, 2, (big, SMALL))
        app = QApplication.instance() or application.Application([sys.argv[0]])
        assert isinstance(app, application.Application)
        result: dict[str, Any] = {}

        async def work(_stopping: application.Stopping) -> int:
            result.update(await _measure(app, home, big))
            return 0

        application.run(app, work)
        return result
