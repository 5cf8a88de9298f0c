"""Finds the real Claude CLI for the tests, or says in a sentence why they are skipped."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

OLDEST = (2, 1, 328)
"""Every fact the product relies on was measured on this version."""

OVERRIDE = "WALNUT_TEST_CLAUDE"
"""Names the CLI to test with, instead of the ones found."""


@dataclass(frozen=True, slots=True)
class Found:
    """The CLI, or why there is none."""

    path: Path | None
    reason: str = ""


@functools.cache
def look_for_claude() -> Found:
    """The CLI that the override names, else the one the Python agent SDK ships, else the one on PATH."""
    override = os.environ.get(OVERRIDE)
    candidates = (
        [Path(override)] if override else [path for path in (_bundled(), _on_path()) if path]
    )
    reasons: list[str] = []
    for candidate in candidates:
        reason = why_unfit(candidate)
        if not reason:
            return Found(candidate)
        reasons.append(reason)
    if not reasons:
        reasons.append("there is no claude, neither in the package claude-agent-sdk nor on PATH")
    return Found(None, "skipped: " + "; ".join(reasons))


def find_claude() -> Path | None:
    """The CLI to test with, if there is one that fits."""
    return look_for_claude().path


def why_unfit(path: Path) -> str:
    """Why this program can't be used; empty when it can."""
    try:
        answer = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{path} does not run ({error})"
    version = parse_version(answer.stdout)
    if version is None:
        return f"{path} --version says no version (exit code {answer.returncode})"
    if version < OLDEST:
        return f"{path} has version {_dotted(version)}, the tests need {_dotted(OLDEST)}"
    return ""


def parse_version(text: str) -> tuple[int, int, int] | None:
    """The version in `2.1.328 (Claude Code)`."""
    match = re.match(r"(\d+)\.(\d+)\.(\d+)\b", text.strip())
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def _bundled() -> Path | None:
    """The binary inside the package, found without importing the package."""
    spec = importlib.util.find_spec("claude_agent_sdk")
    for place in (spec.submodule_search_locations or []) if spec else []:
        binary = Path(place) / "_bundled" / "claude"
        if binary.is_file():
            return binary
    return None


def _on_path() -> Path | None:
    found = shutil.which("claude")
    return Path(found) if found else None


def _dotted(version: tuple[int, int, int]) -> str:
    return ".".join(str(part) for part in version)
