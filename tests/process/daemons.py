"""A real daemon on a home of its own, asked over its real socket; it and its agents end with the test."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from walnut_desktop.domain.errors import HostUnreachable
from walnut_desktop.engines.base import LaunchSpec
from walnut_desktop.engines.practice import PracticeAgent
from walnut_desktop.engines.stream_json import user_line
from walnut_desktop.hosts.host import Host
from walnut_desktop.hosts.local import LocalHost
from walnut_desktop.protocol.endpoint import socket_path, streams_dir
from walnut_desktop.protocol.messages import (
    Attach,
    RemoteError,
    Send,
    Shutdown,
    Start,
    Status,
    Stop,
)
from walnut_desktop.runtime.spawner import Spawner

LIMIT_S = 20.0


async def eventually(test: Callable[[], object], what: str) -> None:
    """Wait until the test holds."""
    loop = asyncio.get_running_loop()
    end = loop.time() + LIMIT_S
    while not test():
        assert loop.time() < end, f"not in time: {what}"
        await asyncio.sleep(0.01)


class Daemon:
    """What a core would ask of its daemon."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home = home
        self.folder = folder
        self.spawner = Spawner()
        self.host = Host(None, LocalHost(home, self.spawner), self.spawner)
        self.exits: list[dict[str, Any]] = []
        self.host.on_exit = lambda event: self.exits.append(dict(event))

    @property
    def socket(self) -> Path:
        """Where it listens."""
        return socket_path(self.home, os.environ.get("XDG_RUNTIME_DIR", ""), os.getuid())

    def stream(self, sid: str) -> Path:
        """The file of a session's output."""
        return streams_dir(self.home) / f"{sid}.jsonl"

    async def hello(self) -> dict[str, Any]:
        """Who it is."""
        return await self.host.request("hello")

    async def start(self, *, resume: str = "", **changes: Any) -> dict[str, Any]:
        """Start the practice agent."""
        sid = resume or str(uuid.uuid4())
        launch = PracticeAgent(str(self.home / "practice")).launch(LaunchSpec(sid, bool(resume)))
        request = {
            "sid": sid,
            "argv": launch.argv,
            "cwd": str(self.folder),
            "home": str(self.home),
            "resume": bool(resume),
            "env": launch.env,
            "config_dir": launch.config_dir,
            **changes,
        }
        return dict((await self.host.request("start", Start(**request)))["session"])

    async def send(self, sid: str, text: str) -> None:
        """Hand a message over."""
        number = str(uuid.uuid4())
        await self.host.request("send", Send(sid, number, user_line(text, number)))

    async def status(self, sid: str) -> dict[str, Any]:
        """What is known of a session."""
        return dict((await self.host.request("status", Status(sid)))["session"])

    async def stop(self, sid: str, **changes: Any) -> dict[str, Any]:
        """End a session."""
        return await self.host.request(
            "stop", Stop(**{"sid": sid, "home": str(self.home), **changes})
        )

    async def attach(self, sid: str, offset: int, into: bytearray) -> None:
        """Collect the stream from the offset on; a gap or an overlap is an error."""

        def take(at: int, data: bytes) -> None:
            assert at == offset + len(into), f"{at} after {offset + len(into)}"
            into.extend(data)

        await self.host.follow(Attach(sid, offset), take)

    async def end(self) -> None:
        """End the agents and the daemon."""
        with suppress(HostUnreachable, RemoteError):
            await self.host.request("shutdown", Shutdown(str(self.home), end_sessions=True))
            await self.host.gone()
        self.host.close()
        await self.spawner.close()


@asynccontextmanager
async def daemon(home: Path, folder: Path) -> AsyncIterator[Daemon]:
    """A daemon that is running."""
    it = Daemon(home, folder)
    await it.host.connect()
    try:
        yield it
    finally:
        await it.end()


def run(home: Path, folder: Path, test: Callable[[Daemon], Awaitable[None]]) -> None:
    """Run a test on a daemon of its own."""

    async def main() -> None:
        async with daemon(home, folder) as it:
            await asyncio.wait_for(test(it), 3 * LIMIT_S)

    asyncio.run(main())


def lines(data: bytes) -> list[dict[str, Any]]:
    """The whole lines of a stream."""
    return [json.loads(raw) for raw in data.split(b"\n")[:-1]]
