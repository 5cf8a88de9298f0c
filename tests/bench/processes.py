"""Measures whole processes: a script is run in an interpreter of its own and prints one JSON object."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from typing import Any

EMPTY_WINDOW = """
import json, os, sys, time
begin = float(os.environ["BENCH_BEGIN"])
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow
app = QApplication([])
window = QMainWindow()
window.resize(1180, 780)
window.show()
def done():
    rss = int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    print(json.dumps({"seconds": time.time() - begin, "rss": rss}), flush=True)
    os._exit(0)
QTimer.singleShot(0, done)
app.exec()
"""


def run_script(script: str, env: dict[str, str] | None = None, *args: str) -> dict[str, Any]:
    """Run the script; BENCH_BEGIN in its environment is the time just before it was started."""
    import time

    whole = {**os.environ, "QT_QPA_PLATFORM": "offscreen", **(env or {})}
    whole.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its bytecode
    whole["BENCH_BEGIN"] = repr(time.time())
    done = subprocess.run(
        [sys.executable, "-c", script, *args],
        env=whole,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode != 0 or not done.stdout.strip():
        raise RuntimeError(f"a measured process failed: {done.stderr[-2000:]}")
    result: dict[str, Any] = json.loads(done.stdout.strip().split("\n")[-1])
    return result


def median_of(
    script: str, key: str, runs: int, env: dict[str, str] | None = None, *args: str
) -> float:
    """The median of one number over several runs."""
    return float(statistics.median(run_script(script, env, *args)[key] for _ in range(runs)))
