"""The harness itself: the CLI is found or the skip says why, and nothing outlives a failed test."""

from __future__ import annotations

import os
import select
from pathlib import Path

import psutil
import pytest

from tests.real_cli import cli
from tests.real_cli.conftest import OpenSession


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("2.1.332 (Claude Code)\n", (2, 1, 332)),
        ("10.0.1", (10, 0, 1)),
        ("2.1", None),
        ("command not found", None),
        ("", None),
    ],
)
def test_the_version_is_read(text: str, version: tuple[int, int, int] | None) -> None:
    assert cli.parse_version(text) == version


def program(folder: Path, body: str) -> Path:
    path = folder / "claude"
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_an_old_cli_is_refused_with_both_versions(tmp_path: Path) -> None:
    reason = cli.why_unfit(program(tmp_path, "echo '2.1.327 (Claude Code)'"))
    assert "has version 2.1.327, the tests need 2.1.328" in reason


def test_a_new_cli_is_taken(tmp_path: Path) -> None:
    assert cli.why_unfit(program(tmp_path, "echo '2.2.0 (Claude Code)'")) == ""


def test_a_program_that_is_no_cli_is_refused(tmp_path: Path) -> None:
    assert "says no version (exit code 3)" in cli.why_unfit(program(tmp_path, "exit 3"))


def test_a_missing_program_is_refused(tmp_path: Path) -> None:
    assert "does not run" in cli.why_unfit(tmp_path / "nothing")


def test_the_override_decides_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cli.OVERRIDE, str(tmp_path / "nothing"))
    cli.look_for_claude.cache_clear()
    found = cli.look_for_claude()
    cli.look_for_claude.cache_clear()
    assert found.path is None
    assert found.reason.startswith("skipped: ")
    assert "does not run" in found.reason


@pytest.mark.real_cli
def test_closing_in_the_middle_of_a_tool_leaves_nothing_alive(
    open_session: OpenSession, project: Path
) -> None:
    """A tool's process leads its own session, so ending the CLI alone would not reach it."""
    os.mkfifo(project / "ready")
    ready = os.open(project / "ready", os.O_RDONLY | os.O_NONBLOCK)
    session = open_session("--allowedTools", "Bash")
    session.send(
        """[[tool Bash {"command": "trap '' TERM; echo up > ready; exec sleep 600"}]] [[say x]]"""
    )
    assert select.select([ready], [], [], 30)[0], session.story()
    os.close(ready)
    family = psutil.Process(session.process.pid).children(recursive=True)
    assert family
    session.close()
    assert session.process.returncode is not None
    assert not [process for process in family if process.is_running()]
