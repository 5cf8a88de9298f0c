"""No file of the repository knows the machine it was written on or where packages come from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.source import ROOT, tracked_files

# Written with classes like [k], so that this file does not find itself.
MACHINE_PATH = re.compile(
    rb"(?<![\w.~*-])/(?:wor[k]|roo[t])/|(?<![\w.~*-])/(?:home|Users)/(?!user\b)[A-Za-z]\w*"
)
REGISTRY = re.compile(
    rb"\b(?:pyp[i]\.org|pythonhoste[d]\.org|npmj[s]\.(?:org|com)|yarnpk[g]\.com|de[b]\.debian\.org|archive\.ubunt[u]\.com)\b"
)


def occurrences(pattern: re.Pattern[bytes], path: Path) -> list[str]:
    """Where a pattern is in a text file."""
    data = path.read_bytes()
    if b"\0" in data[:4096]:
        return []
    name = path.relative_to(ROOT)
    return [
        f"{name}:{data.count(bytes([10]), 0, hit.start()) + 1}: {hit.group().decode(errors='replace')}"
        for hit in pattern.finditer(data)
    ]


def test_no_path_of_a_machine() -> None:
    assert [hit for path in tracked_files() for hit in occurrences(MACHINE_PATH, path)] == []


def test_no_host_of_a_package_registry() -> None:
    assert [hit for path in tracked_files() for hit in occurrences(REGISTRY, path)] == []


@pytest.mark.parametrize("path", ["home/anna/x", "Users/anna", "work/main", "root/.ssh"])
@pytest.mark.parametrize("before", ["", "at ", '"', "=", ":"])
def test_machine_paths_are_seen(before: str, path: str) -> None:
    assert MACHINE_PATH.search(f"{before}/{path}".encode())


@pytest.mark.parametrize(
    "text", ["/home/user/project", "~/work/x", "a/root/b", "/rooted/", "-home-user"]
)
def test_harmless_paths_are_not(text: str) -> None:
    assert MACHINE_PATH.search(text.encode()) is None
