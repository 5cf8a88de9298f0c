"""The spawn journal: one append-only file that says who started what (Rule O2).

The first line for a session names its owner for ever (Rule O4). An intent stands there before the process
exists, so that a spawn can't go unrecorded.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Optional

MAX_LINE = 4096


class Journal:
    """Reads the whole journal once, then appends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._first: dict[str, dict[str, Any]] = {}
        self._spawns: dict[str, str] = {}
        self._load()

    def _load(self) -> None:
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return
        for raw in data.split(b"\n"):
            try:
                line = json.loads(raw)
            except ValueError:
                continue  # a torn line of a crash: the intent before a spawn that never was
            if isinstance(line, dict) and isinstance(line.get("sid"), str):
                self._remember(line)

    def _remember(self, line: dict[str, Any]) -> None:
        self._first.setdefault(line["sid"], line)
        self._spawns[line["sid"]] = str(line.get("spawn") or "")

    def first(self, sid: str) -> Optional[dict[str, Any]]:
        """The line that decides who owns the session."""
        return self._first.get(sid)

    def last_spawn(self, sid: str) -> str:
        """The number of the session's latest spawn."""
        return self._spawns.get(sid, "")

    def append(self, sid: str, kind: str, **fields: Any) -> None:
        """Write one line durably. Raises OSError when that fails: then nothing may be spawned."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = {"v": 1, "sid": sid, "at": now, "kind": kind, **fields}
        data = json.dumps(line, separators=(",", ":")).encode()
        if len(data) > MAX_LINE:
            line = {
                key: line[key] for key in ("v", "sid", "at", "kind", "home", "spawn") if key in line
            }
            data = json.dumps(line, separators=(",", ":")).encode()
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            size = os.fstat(fd).st_size
            if size and os.pread(fd, 1, size - 1) != b"\n":
                data = b"\n" + data
            if os.write(fd, data + b"\n") != len(data) + 1:
                raise OSError("the journal was written only in part")
            os.fdatasync(fd) if hasattr(os, "fdatasync") else os.fsync(fd)
        finally:
            os.close(fd)
        self._remember(line)
