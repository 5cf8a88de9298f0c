"""The guard of tests/conftest.py: the person's files are out of reach, leftovers are found."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from tests import conftest

SLEEPER = "import sys; sys.stdin.read()"
PARENT = """
import subprocess, sys
command = [sys.executable, "-c", sys.argv[1]]
print(subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL).pid)
"""


def test_the_home_is_not_the_persons() -> None:
    real = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert Path.home() != real
    assert Path.home().is_relative_to(conftest.SCRATCH)


@pytest.mark.parametrize(
    "name", ["WALNUT_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"]
)
def test_every_place_for_files_is_inside_the_scratch_folder(name: str) -> None:
    assert Path(os.environ[name]).is_relative_to(conftest.SCRATCH)


def test_no_account_of_the_person_is_in_reach() -> None:
    assert not [name for name in os.environ if name.startswith(("ANTHROPIC_", "CLAUDE"))]


def test_a_child_is_seen_and_named() -> None:
    with subprocess.Popen([sys.executable, "-c", SLEEPER], stdin=subprocess.PIPE) as child:
        found = {process.pid: process for process in conftest.started_by_tests()}
        assert child.pid in found
        line = conftest.describe(found[child.pid])
        assert "test_a_child_is_seen_and_named" in line
        assert child.stdin is not None
        child.stdin.close()
    assert child.pid not in {process.pid for process in conftest.started_by_tests()}


def test_a_detached_process_is_seen_by_its_mark() -> None:
    """A double fork leaves no parent to follow; only the environment tells where it came from."""
    read_end, write_end = os.pipe()
    try:
        answer = subprocess.run(
            [sys.executable, "-c", PARENT, SLEEPER],
            stdin=read_end,
            stdout=subprocess.PIPE,
            check=True,
            text=True,
            timeout=20,
        )
        grandchild = int(answer.stdout)
        assert grandchild in {process.pid for process in conftest.started_by_tests()}
    finally:
        os.close(read_end)
        os.close(write_end)
