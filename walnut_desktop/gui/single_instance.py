"""A second start shows the first window and leaves (D17). The lock decides; this socket only talks."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger(__name__)

_LIMIT_S = 2.0


def _address(path: Path) -> str:
    """The path, or a shorter way to it where the kernel's limit for socket paths is too small."""
    return os.path.relpath(path) if len(str(path)) > 100 else str(path)


def show_the_other(path: Path, token: str) -> bool:
    """Ask the running app to show its window; False when it does not answer."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.settimeout(_LIMIT_S)
            sock.connect(_address(path))
            sock.sendall(json.dumps({"show": True, "token": token}).encode() + b"\n")
            return sock.recv(16) == b"ok\n"
    except OSError:
        return False


class ShowRequests:
    """Listens for second starts. `show` gets the desktop's activation token, if there is one."""

    def __init__(self, path: Path, show: Callable[[str], None]) -> None:
        self._path = path
        self._show = show
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Listen, for the owner only."""
        self._path.unlink(missing_ok=True)
        mask = os.umask(0o177)
        try:
            self._server = await asyncio.start_unix_server(self._serve, _address(self._path))
        finally:
            os.umask(mask)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = await asyncio.wait_for(reader.readline(), _LIMIT_S)
            request = json.loads(line)
            if isinstance(request, dict) and request.get("show"):
                self._show(str(request.get("token") or ""))
                writer.write(b"ok\n")
                await writer.drain()
        except (TimeoutError, ValueError, OSError) as error:
            log.info("a request to show the window was not readable: %s", error)
        finally:
            writer.close()

    def close(self) -> None:
        """Listen no more."""
        if self._server is not None:
            self._server.close()
            self._path.unlink(missing_ok=True)
