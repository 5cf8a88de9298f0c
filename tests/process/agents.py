"""A real daemon, mostly in this very process, with small bad agents (`tests.fakes.agents`) below it."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.fakes.agents import command
from tests.process.daemons import Daemon, daemon, eventually, lines
from walnut_desktop.daemon.__main__ import listen
from walnut_desktop.daemon.ending import Waits
from walnut_desktop.daemon.server import Server
from walnut_desktop.protocol.messages import Send

QUICK = Waits(asked=0.2, interrupted=0.2, terminated=0.3, killed=5.0)


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a short path."""
    return tmp_path_factory.mktemp("d") / "w"


class Desk(Daemon):
    """What a core would ask, with agents of our own."""

    async def agent(self, manner: str, *words: str, **changes: Any) -> str:
        """Start an agent of this manner; answers its session id."""
        given = {"argv": command(manner, *words), "env": {}, "config_dir": "", **changes}
        return str((await self.start(**given))["sid"])

    def said(self, sid: str) -> list[dict[str, Any]]:
        """The lines of its stream that can be read."""
        try:
            data = self.stream(sid).read_bytes()
        except FileNotFoundError:
            return []
        return [line for line in map(readable, data.split(b"\n")[:-1]) if line is not None]

    async def hear(self, sid: str, kind: str, count: int = 1) -> list[dict[str, Any]]:
        """Its lines of a kind, when there are so many."""
        return await self.hear_if(sid, lambda line: line.get("type") == kind, count)

    async def hear_if(
        self, sid: str, fits: Callable[[dict[str, Any]], bool], count: int = 1
    ) -> list[dict[str, Any]]:
        """Its lines that fit, when there are so many."""

        def heard() -> list[dict[str, Any]]:
            return [line for line in self.said(sid) if fits(line)]

        await eventually(lambda: len(heard()) >= count, f"{count} lines in {self.said(sid)[-3:]}")
        return heard()

    async def hand_over(self, sid: str, line: dict[str, Any]) -> str:
        """Send a message; answers its uuid."""
        number = str(uuid.uuid4())
        await self.host.request("send", Send(sid, number, line))
        return number


def readable(raw: bytes) -> dict[str, Any] | None:
    """The object of a line."""
    try:
        line = json.loads(raw)
    except ValueError:
        return None
    return line if isinstance(line, dict) else None


def lives(pid: int) -> bool:
    """Whether a process runs; one that nobody has taken the code of does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def gone(pid: int) -> None:
    """Wait for the end of a process."""
    await eventually(lambda: not lives(pid), f"the end of {pid}")


@asynccontextmanager
async def desk(home: Path, folder: Path, waits: Waits | None = QUICK) -> AsyncIterator[Desk]:
    """A daemon in this process, so that its patience can be shortened; it ends with the test."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    it = Desk(home, folder)
    server = Server(home, idle_exit_s=None, waits=waits)
    serving = asyncio.ensure_future(server.run(listen(it.socket)))
    try:
        await it.host.connect()
        yield it
    finally:
        await it.end()
        await eventually(lambda: not server._reaper._shells, "the end of the shells")
        server.leave()
        await serving


__all__ = ["Desk", "daemon", "desk", "eventually", "gone", "home", "lines", "lives"]
