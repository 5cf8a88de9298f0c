"""The repository's own source, parsed once for all architecture tests."""

from __future__ import annotations

import ast
import functools
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Module:
    """One Python file: its path below the repository, its text and its tree."""

    name: str
    text: str
    tree: ast.Module

    def nodes(self) -> Iterator[ast.AST]:
        """Every node of the tree."""
        return ast.walk(self.tree)

    def at(self, node: ast.AST) -> str:
        """Where a node is, for a failure message."""
        return f"{self.name}:{getattr(node, 'lineno', 0)}"


@functools.cache
def modules(below: str) -> tuple[Module, ...]:
    """All Python files below a folder of the repository."""
    found: list[Module] = []
    for path in sorted((ROOT / below).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        found.append(Module(path.relative_to(ROOT).as_posix(), text, ast.parse(text)))
    return tuple(found)


@functools.cache
def tracked_files() -> tuple[Path, ...]:
    """The files that git knows; without git, everything that isn't hidden or made by a tool."""
    if shutil.which("git") and (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "-c", "safe.directory=*", "ls-files", "-z"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if not any(_is_made(part) for part in path.parts)]
    return tuple(path for path in paths if path.is_file())


def _is_made(part: str) -> bool:
    return (
        part.startswith(".")
        or part in ("__pycache__", "build", "dist")
        or part.endswith(".egg-info")
    )


def dotted(node: ast.expr) -> str:
    """`a.b.c` for names and attributes; a `?` stands for anything else in front."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return "?"


def calls(module: Module) -> Iterator[tuple[str, ast.Call]]:
    """Every call with the dotted name of what is called."""
    for node in module.nodes():
        if isinstance(node, ast.Call):
            yield dotted(node.func), node
