"""The whole tour on a real X server with a window manager, and what happens without any display."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

LIMIT_S = 120


@pytest.fixture
def display() -> Iterator[str]:
    """An X server of its own with openbox on it."""
    missing = [name for name in ("Xvfb", "openbox") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"skipped: {' and '.join(missing)} not installed")
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1400x900x24", "-nolisten", "tcp"],
        pass_fds=(write,),
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    with os.fdopen(read) as pipe:
        name = f":{pipe.readline().strip()}"
    manager = subprocess.Popen(
        ["openbox"], env={**os.environ, "DISPLAY": name}, stderr=subprocess.DEVNULL
    )
    yield name
    for process in (manager, server):
        process.terminate()
        process.wait(10)


def tour(env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the tour in a process of its own."""
    command = [sys.executable, "-m", "walnut_desktop", "tour", "--json", *arguments]
    whole = {**os.environ, "WALNUT_PRACTICE_FAST": "1", **env}
    return subprocess.run(command, env=whole, capture_output=True, text=True, timeout=LIMIT_S)


@pytest.mark.rule("G1")
@pytest.mark.slow
def test_the_tour_on_a_real_display(display: str, tmp_path: Path) -> None:
    done = tour(
        {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}, "--screenshots", str(tmp_path / "shots")
    )
    report = json.loads(done.stdout)
    assert report["ok"], done.stdout + done.stderr
    assert done.returncode == 0
    pictures = sorted(path.name for path in (tmp_path / "shots").iterdir())
    assert len(pictures) == 2 * len(report["steps"])
    assert all(path.stat().st_size > 5_000 for path in (tmp_path / "shots").iterdir())


@pytest.mark.rule("G9")
def test_the_tour_without_a_display(tmp_path: Path) -> None:
    env = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "QT_QPA_PLATFORM": ""}
    done = tour(env, "--home", str(tmp_path / "w"))
    report = json.loads(done.stdout)
    assert report["ok"], done.stdout + done.stderr
    assert [step["name"] for step in report["steps"]][:2] == ["open the window", "add tasks"]
    assert all({"name", "ok", "seconds", "detail"} == set(step) for step in report["steps"])
    left = [
        process
        for process in psutil.process_iter(["cmdline"])
        if str(tmp_path) in " ".join(process.info["cmdline"] or [])
    ]
    _, alive = psutil.wait_procs(left, timeout=5)
    assert alive == []


def test_a_tour_that_fails_says_so(tmp_path: Path) -> None:
    settings = tmp_path / "w" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"agent": {"claude_program": "not-there-at-all"}}))
    done = tour(
        {"QT_QPA_PLATFORM": "offscreen"}, "--engine", "claude", "--home", str(settings.parent)
    )
    report = json.loads(done.stdout)
    assert not report["ok"]
    assert done.returncode == 1
    assert report["steps"][-1]["name"] == "start a session"
    assert "was not found" in report["steps"][-1]["detail"]


def test_a_window_without_a_display_says_so() -> None:
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY")
    }
    env["QT_QPA_PLATFORM"] = ""
    done = subprocess.run(
        [sys.executable, "-m", "walnut_desktop"],
        env=env,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 1
    assert "there is no display" in done.stderr
    assert "walnut-desktop tour" in done.stderr
