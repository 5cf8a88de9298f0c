"""Which process is meant: a pid alone proves nothing, since pids are used again.

An identity is pid, start time and boot. The start time is the kernel's own number, so no clock change
touches it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Optional

_PROC = Path("/proc")
_PROC_STAT = (_PROC / "self/stat").exists()


class Identity(NamedTuple):
    """One process, for ever."""

    pid: int
    start: str
    boot: str

    def to_json(self) -> dict[str, Any]:
        """As it stands in files."""
        return {"pid": self.pid, "start": self.start, "boot": self.boot}

    @classmethod
    def from_json(cls, data: Any) -> Optional[Identity]:
        """The identity of a file, or None when it is incomplete or anything else."""
        if not isinstance(data, Mapping):
            return None
        pid, start, boot = data.get("pid"), data.get("start"), data.get("boot")
        if isinstance(pid, int) and pid > 1 and isinstance(start, str) and isinstance(boot, str):
            return cls(pid, start, boot)
        return None


def boot_id() -> str:
    """A name for this boot of the machine."""
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        done = subprocess.run(
            ["sysctl", "-n", "kern.boottime"], capture_output=True, text=True, check=False
        )
        return done.stdout.strip() or "unknown"


class _Stat(NamedTuple):
    state: str
    parent: int
    start: str


def _stat(pid: int) -> Optional[_Stat]:
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except (OSError, ValueError):
        return None
    # The name in brackets may itself hold brackets and blanks: cut behind the last one.
    fields = text[text.rfind(")") + 2 :].split()
    if len(fields) < 20:
        return None
    return _Stat(fields[0], int(fields[1]), fields[19])


def _start_by_ps(pid: int) -> Optional[str]:
    done = subprocess.run(
        ["ps", "-o", "lstart=", "-o", "stat=", "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    line = done.stdout.strip()
    if not line:
        return None
    start, _, state = line.rpartition(" ")
    return None if state.startswith("Z") else start.strip()


def start_of(pid: int) -> Optional[str]:
    """The start time of a living process; None when there is none, a zombie included."""
    if pid <= 1:
        return None
    if not _PROC_STAT:
        return _start_by_ps(pid)
    stat = _stat(pid)
    return None if stat is None or stat.state in ("Z", "X") else stat.start


def identify(pid: int, boot: str) -> Optional[Identity]:
    """The identity of a living process."""
    start = start_of(pid)
    return None if start is None else Identity(pid, start, boot)


def is_alive(who: Identity, boot: str) -> bool:
    """Whether exactly this process lives: same boot, same start time, no zombie."""
    return who.boot == boot and start_of(who.pid) == who.start


def descendants(who: Identity, boot: str) -> list[Identity]:
    """All living processes below this one, nearest first (Linux; elsewhere none can be listed cheaply).

    None when it has ended: what is below its number then belongs to somebody else.
    """
    if not is_alive(who, boot):
        return []
    by_parent: dict[int, list[Identity]] = {}
    for name in [entry.name for entry in _PROC.iterdir()] if _PROC_STAT else []:
        stat = _stat(int(name)) if name.isdigit() else None
        if stat is not None and stat.state not in ("Z", "X"):
            by_parent.setdefault(stat.parent, []).append(Identity(int(name), stat.start, boot))
    found: list[Identity] = []
    todo = [who.pid]
    while todo:
        below = by_parent.pop(todo.pop(0), [])
        found.extend(below)
        todo.extend(child.pid for child in below)
    return found


def readers_of(path: Path, boot: str) -> list[tuple[Identity, int]]:
    """The living processes whose standard input is this file, each with its parent's pid (Linux)."""
    found = []
    for name in [entry.name for entry in _PROC.iterdir()] if _PROC_STAT else []:
        try:
            reads = name.isdigit() and (_PROC / name / "fd/0").readlink() == path
        except OSError:
            continue  # somebody else's, or gone
        stat = _stat(int(name)) if reads else None
        if stat is not None and stat.state not in ("Z", "X"):
            found.append((Identity(int(name), stat.start, boot), stat.parent))
    return found
