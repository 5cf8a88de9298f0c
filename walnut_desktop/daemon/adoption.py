"""What a new daemon does with the processes of the one before it (Rule O10).

A `.pgid` file whose process lives (same pid, start time and boot) is adopted: it goes on as if nothing had
happened. Any other is the file of a dead process and is settled, with the exit code that its shell has left.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from walnut_desktop.daemon.fifo import Fifo
from walnut_desktop.daemon.identity import Identity, is_alive
from walnut_desktop.daemon.processes import Watch
from walnut_desktop.daemon.reaper import Reaper, read_exit_code
from walnut_desktop.daemon.registry import Owned, Registry

log = logging.getLogger(__name__)


def adopt_all(registry: Registry, reaper: Reaper) -> int:
    """Adopt every living process of this home; answer how many."""
    count = 0
    for path in sorted(registry.streams.glob("*.pgid")):
        count += _adopt(path, registry, reaper)
    return count


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
            "stderr": "",
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
