"""The daemon of this machine: reached over its socket, started when it is not there (Rule G4)."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from walnut_desktop.domain.errors import HostUnreachable
from walnut_desktop.hosts.link import Link
from walnut_desktop.protocol.endpoint import daemon_dir, socket_path
from walnut_desktop.runtime.spawner import Spawner

log = logging.getLogger(__name__)

START_TIMEOUT_S = 10.0
_POLL_S = 0.01


def daemon_command(home: Path) -> list[str]:
    """How this program starts its own daemon, from source or from a bundle (D30)."""
    if getattr(sys, "frozen", False):
        program = Path(sys.executable).with_name("walnut-daemon")
        start = [str(program)] if program.exists() else [sys.executable, "daemon"]
    else:
        start = [sys.executable, "-m", "walnut_desktop.daemon"]
    return [*start, "--home", str(home)]


class LocalHost:
    """Opens links to the home's daemon."""

    def __init__(self, home: Path, spawner: Spawner) -> None:
        self._home = home
        self._spawner = spawner
        self._path = socket_path(home, os.environ.get("XDG_RUNTIME_DIR", ""), os.getuid())

    async def connect(self, on_event: Callable[[Mapping[str, Any]], None]) -> Link:
        """A link to the running daemon, which is started if need be. Raises HostUnreachable."""
        link = await self._try(on_event)
        if link is not None:
            return link
        pid = await self._start()
        loop = asyncio.get_running_loop()
        until = loop.time() + START_TIMEOUT_S
        while loop.time() < until:
            link = await self._try(on_event)
            if link is not None:
                return link
            if _has_ended(pid) and loop.time() < until - 2.0:
                until = (
                    loop.time() + 2.0
                )  # it gave up, or another start was faster: look a little longer
            await asyncio.sleep(_POLL_S)
        raise HostUnreachable(
            "The helper that keeps the sessions alive could not be started.",
            f"Its log is {daemon_dir(self._home) / 'daemon.log'}.",
        )

    async def _try(self, on_event: Callable[[Mapping[str, Any]], None]) -> Link | None:
        try:
            if self._path.parent.stat().st_uid != os.getuid():
                raise HostUnreachable(
                    f"The folder {self._path.parent} belongs to somebody else.",
                    "Remove it, or set XDG_RUNTIME_DIR.",
                )
            reader, writer = await asyncio.open_unix_connection(str(self._path))
        except (FileNotFoundError, ConnectionRefusedError):
            return None
        except OSError as error:
            raise HostUnreachable(
                f"The helper's socket can't be used: {error.strerror or error}."
            ) from None
        return Link(reader, writer, self._spawner, on_event)

    async def _start(self) -> int:
        """Start the daemon as nobody's child: it outlives the app, and leaves no zombie behind."""
        folder = daemon_dir(self._home)
        self._home.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (folder / "daemon.err").open("wb") as errors:
            shell = await asyncio.create_subprocess_exec(
                "/bin/sh",
                "-c",
                _DETACH,
                *daemon_command(self._home),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
                cwd="/",
            )
        told, _ = await shell.communicate()
        pid = int(told) if told.strip().isdigit() else 0
        log.info("started the daemon pid=%s", pid)
        return pid


# The shell leaves at once, so that the daemon belongs to init.
_DETACH = '"$0" "$@" </dev/null >/dev/null & echo $!'


def _has_ended(pid: int) -> bool:
    """Whether the process is gone, as far as the system tells."""
    return sys.platform.startswith("linux") and not Path(f"/proc/{pid}").exists()
