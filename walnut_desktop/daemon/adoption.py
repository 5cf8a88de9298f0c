"""What a new daemon does with the processes of the one before it (Rule O10).

A `.pgid` file whose process lives (same pid, start time and boot) is adopted: it goes on as if nothing had
happened. Any other is the file of a dead process and is settled, with the exit code that its shell has left.
A pipe without such a file is a spawn that a daemon did not live to record: its process is looked for.
"""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any

from walnut_desktop.daemon.fifo import Fifo
from walnut_desktop.daemon.identity import Identity, is_alive, readers_of
from walnut_desktop.daemon.journal import Journal
from walnut_desktop.daemon.processes import Watch
from walnut_desktop.daemon.reaper import Reaper, read_exit_code, stderr_tail
from walnut_desktop.daemon.registry import Owned, Registry

log = logging.getLogger(__name__)


def adopt_all(registry: Registry, journal: Journal, reaper: Reaper) -> int:
    """Adopt every living process of this home; answer how many."""
    for path in registry.streams.glob("*.pipe"):
        sid = path.name[: -len(".pipe")]
        if not registry.files(sid).pgid.exists():
            _find_unrecorded(sid, registry, journal)
    count = 0
    for path in sorted(registry.streams.glob("*.pgid")):
        count += _adopt(path, registry, reaper)
    return count


def _find_unrecorded(sid: str, registry: Registry, journal: Journal) -> None:
    """A daemon ended between a spawn and its record: the process is known by its pipe."""
    files = registry.files(sid)
    ended = files.exit.exists()
    readers = [] if ended else readers_of(files.fifo.resolve(), registry.boot)
    pids = {who.pid for who, _ in readers}
    shim = next((who for who, parent in readers if parent not in pids), None)
    agent = next((who for who, parent in readers if shim and parent == shim.pid), shim)
    if agent is None:  # there is none, or it has ended: the record of a dead process says so
        agent = Identity(os.getpid(), "ended", registry.boot)
    log.warning("a spawn without a record sid=%s pid=%s", sid, agent.pid)
    try:
        Owned(sid, journal.last_spawn(sid), agent, shim, files, None).save()
    except OSError as error:
        log.warning("it can't be recorded now either: %s", error)


def _adopt(path: Path, registry: Registry, reaper: Reaper) -> bool:
    sid = path.name[: -len(".pgid")]
    data = _read(path)
    agent = Identity.from_json(data.get("agent") or {})
    shim = Identity.from_json(data.get("shim") or {})
    files = registry.files(sid)
    spawn = str(data.get("spawn") or "")
    stopping = str(data.get("stopping") or "")
    if agent is None or not is_alive(agent, registry.boot):
        code = read_exit_code(files.exit)
        registry.exits[sid] = {
            "spawn": spawn,
            "code": code,
            "intended": bool(stopping),
            "stderr": stderr_tail(files),
        }
        reaper.settle_files(files, spawn, code, intended=bool(stopping))
        log.info("found ended sid=%s code=%s", sid, code)
        return False
    try:
        fifo = Fifo(files.fifo)
    except OSError:
        fifo = None  # its pipe is lost: it can be followed and ended, but not written to
    owned = Owned(sid, spawn, agent, shim, files, fifo, adopted=True, stopping=stopping)
    registry.owned[sid] = owned
    owned.watch = Watch(agent, registry.boot, lambda: reaper.process_ended(owned))
    log.info("adopted sid=%s pid=%s", sid, agent.pid)
    return True


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
