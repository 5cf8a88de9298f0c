"""A session's stream file: what the agent writes to stdout, and the marker lines that we add to it.

The first line of a new file names its epoch, a random id: inodes are used again at once, so nothing else
tells a wiped file from the old one (D8).
"""

from __future__ import annotations

import json
import os
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_HEAD = 256


def ensure(path: Path) -> str:
    """Make the file if it is missing or empty, and answer its epoch (empty for a foreign file)."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        if os.fstat(fd).st_size == 0:
            line = {
                "type": "walnut",
                "subtype": "stream",
                "epoch": secrets.token_hex(8),
                "version": 1,
            }
            os.write(fd, json.dumps(line).encode() + b"\n")
    finally:
        os.close(fd)
    return epoch_of(path)


def epoch_of(path: Path) -> str:
    """The epoch that the first line names, or an empty text."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD).split(b"\n", 1)[0]
        line = json.loads(head)
        return str(line.get("epoch") or "") if isinstance(line, dict) else ""
    except (OSError, ValueError):
        return ""


def append_marker(path: Path, line: dict[str, Any]) -> None:
    """Add one line of ours with the time. It begins on a line of its own even behind a torn one."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    data = json.dumps({**line, "at": now}, ensure_ascii=False, separators=(",", ":"))
    raw = data.encode("utf-8", "replace") + b"\n"
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(fd).st_size
        if size and os.pread(fd, 1, size - 1) != b"\n":
            raw = b"\n" + raw
        written = os.write(fd, raw)
        if written != len(raw):
            raise OSError("the marker was written only in part")
    finally:
        os.close(fd)


def size_of(path: Path) -> int:
    """The file's size; 0 when it is missing."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
