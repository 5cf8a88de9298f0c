"""Which process is meant: never another one of the same number, no zombie, not init (Rules O7, O10)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.loop import eventually, on_loop
from walnut_desktop.daemon.identity import (
    Identity,
    boot_id,
    descendants,
    identify,
    is_alive,
    start_of,
)
from walnut_desktop.daemon.processes import Watch, send_signal

BOOT = boot_id()


@contextmanager
def running(*argv: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of ours, ended in any case."""
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def known(pid: int) -> Identity:
    """The identity of a process that lives."""
    who = identify(pid, BOOT)
    assert who is not None
    return who


@pytest.mark.rule("O10")
def test_a_process_is_itself_until_it_ends() -> None:
    with running("sleep", "60") as process:
        who = known(process.pid)
        assert is_alive(who, BOOT)
        assert Identity.from_json(who.to_json()) == who
        assert not is_alive(who._replace(start="1"), BOOT), "another one with this number"
        assert not is_alive(who, "another boot")
        assert not is_alive(who._replace(boot="another boot"), BOOT)
    assert not is_alive(who, BOOT)
    assert identify(process.pid, BOOT) is None


@pytest.mark.rule("S5.4")
def test_a_zombie_counts_as_dead() -> None:
    with running("cat") as process:
        who = known(process.pid)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended; nobody took it
        assert Path(f"/proc/{process.pid}").exists()
        assert start_of(process.pid) is None
        assert not is_alive(who, BOOT)
        assert send_signal(who, BOOT, signal.SIGTERM) is False


@pytest.mark.rule("O1")
@pytest.mark.parametrize("pid", [1, 0, -1, -4242])
def test_init_and_groups_are_never_meant(pid: int) -> None:
    assert start_of(pid) is None
    assert identify(pid, BOOT) is None
    assert send_signal(Identity(pid, "1", BOOT), BOOT, signal.SIGTERM) is False


@pytest.mark.parametrize("name", ["a) S 1 (b", "((", "a b", ") R 1 2 3"])
def test_brackets_in_a_name_do_not_confuse(tmp_path: Path, name: str) -> None:
    program = tmp_path / name
    shutil.copy(str(shutil.which("sleep")), program)
    with running(str(program), "60") as process:
        who = known(process.pid)
        assert who.start.isdigit()
        assert is_alive(who, BOOT)
        assert who in descendants(known(os.getpid()), BOOT)


@pytest.mark.rule("O1")
def test_only_the_very_process_is_signalled() -> None:
    with running("sleep", "60") as process:
        who = known(process.pid)
        assert send_signal(who._replace(start="1"), BOOT, signal.SIGKILL) is False
        assert send_signal(who._replace(boot="other"), BOOT, signal.SIGKILL) is False
        assert process.poll() is None
        assert send_signal(who, BOOT, signal.SIGTERM) is True
        assert process.wait(10) == -signal.SIGTERM


@pytest.mark.parametrize(
    "data",
    [
        {},
        None,
        5,
        [1],
        "x",
        {"pid": 1, "start": "1", "boot": "b"},
        {"pid": "5", "start": "1", "boot": "b"},
        {"pid": 5, "start": 1, "boot": "b"},
        {"pid": 5, "start": "1"},
        {"pid": True, "start": "1", "boot": "b"},
    ],
)
def test_what_is_no_identity(data: Any) -> None:
    assert Identity.from_json(data) is None


def test_descendants_are_found_at_any_depth_and_strangers_are_not() -> None:
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        "print(child.pid, flush=True)\n"
        "try:\n    sys.stdin.read()\nfinally:\n    child.kill()\n    child.wait()\n"
    )
    with running("sleep", "60") as stranger, running(sys.executable, "-c", code) as parent:
        assert parent.stdout is not None
        grandchild = int(parent.stdout.readline())
        own = [who.pid for who in descendants(known(os.getpid()), BOOT)]
        assert {parent.pid, grandchild, stranger.pid} <= set(own)
        assert own.index(parent.pid) < own.index(grandchild), "nearest first"
        assert [who.pid for who in descendants(known(parent.pid), BOOT)] == [grandchild]
        assert descendants(known(grandchild), BOOT) == []
        assert descendants(known(parent.pid)._replace(start="1"), BOOT) == []
        assert parent.stdin is not None
        parent.stdin.close()
        parent.wait(10)
        parent.stdin = None


@pytest.mark.rule("S2")
@on_loop
async def test_an_end_is_told_once() -> None:
    with running("sleep", "60") as process:
        told: list[str] = []
        watch = Watch(known(process.pid), BOOT, lambda: told.append("ended"))
        quiet = Watch(known(process.pid), BOOT, lambda: told.append("closed"))
        quiet.close()
        process.kill()
        await eventually(lambda: told, "the end")
        process.wait()
        watch.close()
        assert told == ["ended"]


@pytest.mark.rule("S2")
@on_loop
async def test_the_end_of_what_has_ended_is_told_too() -> None:
    told: list[str] = []
    Watch(Identity(os.getpid(), "ended", BOOT), BOOT, lambda: told.append("ended"))
    await eventually(lambda: told, "the end")
