"""Who else runs a session right now: the agents' own registry of running processes (D2, cli-protocol 9.3).

Two processes on one session fork its history without a word, so this is asked before every spawn.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple, Optional

from walnut_desktop.daemon.identity import start_of


class Holder(NamedTuple):
    """A living process that holds the session."""

    pid: int
    kind: str
    cwd: str


def find_holder(config_dir: str, sid: str) -> Optional[Holder]:
    """The living process that `<config_dir>/sessions/*.json` names for the session, if there is one."""
    folder = Path(config_dir).expanduser() / "sessions"
    try:
        files = list(folder.glob("*.json"))
    except OSError:
        return None
    for file in files:
        entry = _read(file)
        if entry.get("sessionId") != sid or not isinstance(entry.get("pid"), int):
            continue
        start = start_of(entry["pid"])
        told = entry.get("procStart")
        if start is not None and (told is None or str(told) == start):
            return Holder(entry["pid"], str(entry.get("kind") or ""), str(entry.get("cwd") or ""))
    return None


def _read(file: Path) -> dict[str, Any]:
    try:
        data = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
