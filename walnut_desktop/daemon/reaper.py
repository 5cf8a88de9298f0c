"""The one place where the end of a process is dealt with (Rule O10): idempotent, in this order.

Learn the exit code, close the stream with an end marker (so the rest of the output stands before it), drop
the files that mean “alive”, then tell.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional

from walnut_desktop.daemon import stream_file
from walnut_desktop.daemon.identity import is_alive
from walnut_desktop.daemon.processes import Watch
from walnut_desktop.daemon.registry import Owned, Registry, SessionFiles

EXIT_FILE_WAIT_S = 1.0
_POLL_S = 0.01
STDERR_TAIL = 4096


def read_exit_code(path: Path) -> Optional[int]:
    """The code that the shell has left, as a shell counts (128 + signal)."""
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def stderr_tail(files: SessionFiles) -> str:
    """The last 4 KB of what the agent wrote to stderr."""
    try:
        with files.errors.open("rb") as file:
            file.seek(max(0, files.errors.stat().st_size - STDERR_TAIL))
            return file.read().decode("utf-8", "replace").strip()
    except OSError:
        return ""


class Reaper:
    """Deals with ends; `tell` is called once per end with the event for the cores."""

    def __init__(self, registry: Registry, tell: Callable[[str, dict[str, Any]], None]) -> None:
        self._registry = registry
        self._tell = tell
        self._tasks: set[asyncio.Task[None]] = set()
        self._shells: set[Watch] = set()

    def process_ended(self, owned: Owned) -> None:
        """The watch has fired: reap in a task of its own."""
        task = asyncio.get_running_loop().create_task(self.reap(owned))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def reap(self, owned: Owned) -> None:
        """Deal with the end of this very process; the end of an earlier one can't touch a newer."""
        if self._registry.owned.get(owned.sid) is not owned:
            return
        code = await self._exit_code(owned)
        if self._registry.owned.get(owned.sid) is not owned:
            return
        del self._registry.owned[owned.sid]
        info = {
            "spawn": owned.spawn,
            "code": code,
            "intended": bool(owned.stopping),
            "stderr": stderr_tail(owned.files),
        }
        self._registry.exits[owned.sid] = info
        self.settle_files(owned.files, owned.spawn, code, intended=bool(owned.stopping))
        if owned.watch is not None:
            owned.watch.close()
        if owned.fifo is not None:
            owned.fifo.close()
        owned.ended.set()
        self._tell(owned.sid, {"event": "exit", "sid": owned.sid, **info})

    def settle_files(
        self, files: SessionFiles, spawn: str, code: Optional[int], *, intended: bool
    ) -> None:
        """Close the stream and remove what says “alive”. A full disk must not stop the rest."""
        with contextlib.suppress(OSError):
            stream_file.append_marker(
                files.stream,
                {
                    "type": "walnut",
                    "subtype": "process-end",
                    "spawn": spawn,
                    "code": code,
                    "intended": intended,
                },
            )
        for path in (files.fifo, files.pgid, files.exit):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)

    async def _exit_code(self, owned: Owned) -> Optional[int]:
        loop = asyncio.get_running_loop()
        until = loop.time() + EXIT_FILE_WAIT_S
        while True:
            code = read_exit_code(owned.files.exit)
            if code is not None:
                break
            shim_lives = owned.shim is not None and is_alive(owned.shim, self._registry.boot)
            if not shim_lives or loop.time() >= until:
                code = read_exit_code(owned.files.exit)
                break
            await asyncio.sleep(_POLL_S)
        self._take_shell(owned)
        return code

    def _take_shell(self, owned: Owned) -> None:
        """Wait for the shell too, now or when it ends (it stays for tools that run on): no zombie is left."""
        child = owned.child
        if child is None or child.poll() is not None or owned.shim is None:
            return

        def take() -> None:
            self._shells.discard(watch)
            child.wait()

        watch = Watch(owned.shim, self._registry.boot, take)
        self._shells.add(watch)
