"""One host as the core sees it: always the same object, whether its link is up or not (Rules F3, S6).

The first request connects by itself. A lost link is opened again with growing pauses; whoever follows a
session hears `on_link(True)` and goes on from its own offset.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from walnut_desktop.domain.errors import HostUnreachable
from walnut_desktop.hosts.link import Following, Link, OnBegin, OnData
from walnut_desktop.protocol.messages import Attach, ReadStream, RemoteError, Status, to_wire
from walnut_desktop.runtime.backoff import Backoff
from walnut_desktop.runtime.spawner import Spawner

log = logging.getLogger(__name__)


class Connector(Protocol):
    """What opens links: this machine, or SSH."""

    async def connect(self, on_event: Callable[[Mapping[str, Any]], None]) -> Link:
        """A fresh link, or HostUnreachable."""


class Host:
    """A daemon that is kept in reach."""

    def __init__(self, name: str | None, connector: Connector, spawner: Spawner) -> None:
        self.name = name
        self._connector = connector
        self._spawner = spawner
        self._link: Link | None = None
        self._connecting = asyncio.Lock()
        self._backoff = Backoff()
        self._closing = False
        self.capabilities: tuple[str, ...] = ()
        self.on_exit: Callable[[Mapping[str, Any]], None] = lambda _event: None
        self.on_link: Callable[[bool, str], None] = lambda _up, _detail: None

    @property
    def connected(self) -> bool:
        """Whether the link is up."""
        return self._link is not None and self._link.is_open

    async def request(self, op: str, message: Any = None, timeout: float = 30.0) -> dict[str, Any]:
        """Ask the daemon. Raises HostUnreachable or RemoteError."""
        link = await self._ready()
        return await link.request(op, None if message is None else to_wire(message), timeout)

    async def follow(
        self,
        request: Attach,
        on_data: OnData,
        begin: OnBegin = lambda _following: None,
    ) -> Following:
        """Follow a stream file over the present link; it ends with the link.

        `begin` is told before the first byte comes, so that a file begun anew is never mixed with the old.
        """
        return await (await self._ready()).follow(request, on_data, begin)

    async def unfollow(self, following: Following) -> None:
        """Follow no more."""
        if self._link is not None:
            try:
                await self._link.unfollow(following)
            except RemoteError as error:
                log.info("unfollow: %s", error)

    async def read_stream(self, request: ReadStream) -> bytes | None:
        """A range of a stream file; None when there is none."""
        return await (await self._ready()).read_stream(request)

    async def stream_size(self, sid: str) -> int:
        """The size of a session's stream file in bytes; 0 when there is none."""
        return int((await self.request("stat_stream", Status(sid))).get("size") or 0)

    async def connect(self) -> None:
        """Make sure that the link is up."""
        await self._ready()

    async def gone(self) -> None:
        """The daemon was asked to leave: wait until it has, and don't call it back."""
        self._closing = True
        if self._link is not None:
            await self._link.closed.wait()

    def close(self) -> None:
        """Let the link go. The daemon stays."""
        self._closing = True
        if self._link is not None:
            self._link.close()

    async def _ready(self) -> Link:
        if self._link is not None and self._link.is_open:
            return self._link
        async with self._connecting:
            if self._link is not None:
                if self._link.is_open:
                    return self._link
                await self._link.closed.wait()  # its end is told before a new beginning
            if self._closing:
                raise HostUnreachable("The app is closing.")
            link = await self._connector.connect(self._on_event)
            with contextlib.ExitStack() as undo:
                undo.callback(link.close)
                hello = await link.request("hello")
                undo.pop_all()
            self.capabilities = tuple(hello.get("capabilities") or ())
            self._link = link
            self._backoff.succeeded()
            self._spawner.spawn(self._watch(link), f"host-watch:{self.name or 'local'}")
        self.on_link(True, "")
        return link

    async def _watch(self, link: Link) -> None:
        await link.closed.wait()
        if self._closing:
            return
        self.on_link(False, "The helper is gone. Trying again…")
        while not self._closing:
            await asyncio.sleep(self._backoff.failed())
            try:
                await self._ready()
            except (HostUnreachable, RemoteError) as error:
                log.warning("reconnect failed: %s", error)
                continue
            return

    def _on_event(self, event: Mapping[str, Any]) -> None:
        if event.get("event") == "exit":
            self.on_exit(event)
