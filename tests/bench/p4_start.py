"""P4: from start to a usable window with 5,000 tasks and 500 sessions, against an empty PySide6 window."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.bench import homes
from tests.bench.processes import EMPTY_WINDOW, median_of

APP = """
import json, os, sys, time
begin = float(os.environ["BENCH_BEGIN"])
from walnut_desktop.gui.quick_start import without_collection
starting = without_collection()  # as the app's own start does
starting.__enter__()
from pathlib import Path
from walnut_desktop.app.core import Core
from walnut_desktop.gui import application
from walnut_desktop.gui.desktop import Desktop
from walnut_desktop.runtime.paths import Paths
app = application.Application(["bench"])
async def work(stopping):
    core = Core(Paths(Path(sys.argv[1])))
    await core.start()
    desktop = Desktop(app, core, stopping.ask)
    await desktop.open()
    desktop.window.tasks.view.repaint()
    assert desktop.model.rowCount() == int(sys.argv[2]), desktop.model.rowCount()
    seconds = time.time() - begin
    rss = int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    await core.host.connect()
    await core.shut_helper_down()
    print(json.dumps({"seconds": seconds, "rss": rss}), flush=True)
    os._exit(0)
application.run(app, work)
"""
TASKS, SESSIONS, RUNS = 5_000, 500, 5


def run(tasks: int = TASKS, sessions: int = SESSIONS) -> dict[str, Any]:
    """Medians of whole processes."""
    with tempfile.TemporaryDirectory(prefix="wb-") as folder:
        home = Path(folder) / "w"
        homes.fill(home, tasks, sessions)
        args = (str(home), str(tasks))
        median_of(APP, "seconds", 1, None, *args)  # warms the caches of both
        median_of(EMPTY_WINDOW, "seconds", 1)
        app = median_of(APP, "seconds", RUNS, None, *args)
        empty = median_of(EMPTY_WINDOW, "seconds", RUNS)
    return {
        "value": round(app / empty, 3),
        "unit": "ratio",
        "detail": {
            "app_s": round(app, 3),
            "empty_s": round(empty, 3),
            "tasks": tasks,
            "sessions": sessions,
        },
    }
