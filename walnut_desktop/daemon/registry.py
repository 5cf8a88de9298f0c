"""The sessions whose processes this daemon owns: it has spawned or adopted them.

Each has a gate: start, send and stop of one session never overlap. The `.pgid` file of a living process is
how the next daemon finds it (Rules O2, O10).
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from walnut_desktop.daemon.fifo import Fifo
from walnut_desktop.daemon.identity import Identity
from walnut_desktop.daemon.processes import Watch
from walnut_desktop.protocol.endpoint import streams_dir


class SessionFiles:
    """The files of one session (Rule O2)."""

    def __init__(self, streams: Path, sid: str) -> None:
        self.stream = streams / f"{sid}.jsonl"
        self.errors = streams / f"{sid}.jsonl.err"
        self.fifo = streams / f"{sid}.pipe"
        self.pgid = streams / f"{sid}.pgid"
        self.exit = streams / f"{sid}.exit"


@dataclass
class Owned:
    """One living process of ours."""

    sid: str
    spawn: str
    agent: Identity
    shim: Optional[Identity]
    files: SessionFiles
    fifo: Optional[Fifo]
    adopted: bool = False
    stopping: str = ""  # the reason, once an end is intended
    torn: bool = False
    child: Optional[subprocess.Popen[bytes]] = None
    watch: Optional[Watch] = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def save(self) -> None:
        """Write `.pgid` durably: group, start times, boot, spawn, and whether an end is intended."""
        data: dict[str, Any] = {
            "v": 1,
            "pgid": self.shim.pid if self.shim else self.agent.pid,
            "agent": self.agent.to_json(),
            "shim": self.shim.to_json() if self.shim else None,
            "spawn": self.spawn,
            "stopping": self.stopping,
        }
        part = self.files.pgid.with_suffix(".pgid.part")
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.write(fd, json.dumps(data).encode())
            os.fsync(fd)
        finally:
            os.close(fd)
        part.replace(self.files.pgid)


class Registry:
    """All owned sessions, the last known exits, and the gates."""

    def __init__(self, home: Path, boot: str) -> None:
        self.home = home
        self.boot = boot
        self.streams = streams_dir(home)
        self.owned: dict[str, Owned] = {}
        self.exits: dict[str, dict[str, Any]] = {}
        self._gates: dict[str, asyncio.Lock] = {}

    def files(self, sid: str) -> SessionFiles:
        """Where the session's files are."""
        return SessionFiles(self.streams, sid)

    def gate(self, sid: str) -> asyncio.Lock:
        """The lock that a start, a send and a stop of the session take."""
        return self._gates.setdefault(sid, asyncio.Lock())

    def describe(self, sid: str) -> dict[str, Any]:
        """What a core is told about a session."""
        owned = self.owned.get(sid)
        if owned is not None:
            return {
                "sid": sid,
                "alive": True,
                "pid": owned.agent.pid,
                "spawn": owned.spawn,
                "adopted": owned.adopted,
                "stopping": bool(owned.stopping),
            }
        return {"sid": sid, "alive": False, "pid": None, **self.exits.get(sid, {})}
