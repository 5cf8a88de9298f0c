"""The daemon itself: the socket, the connections, and the table of operations."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional

from walnut_desktop import __version__
from walnut_desktop.daemon import stream_file
from walnut_desktop.daemon.adoption import adopt_all
from walnut_desktop.daemon.canonical import find_messages, has_transcript
from walnut_desktop.daemon.connection import Connection
from walnut_desktop.daemon.ending import Ender, Waits
from walnut_desktop.daemon.identity import boot_id
from walnut_desktop.daemon.journal import Journal
from walnut_desktop.daemon.reaper import Reaper
from walnut_desktop.daemon.registry import Registry
from walnut_desktop.daemon.sending import Sender
from walnut_desktop.daemon.starting import Starter
from walnut_desktop.daemon.watching import FolderWatch
from walnut_desktop.protocol import capabilities
from walnut_desktop.protocol.endpoint import PROTOCOL_VERSION
from walnut_desktop.protocol.messages import (
    Lookup,
    RemoteError,
    Send,
    SendRaw,
    Shutdown,
    Start,
    Status,
    Stop,
    parse,
)

log = logging.getLogger(__name__)


class Server:
    """Owns everything of one home; `run` returns when it is told to leave."""

    def __init__(self, home: Path, *, idle_exit_s: Optional[float], waits: Optional[Waits]) -> None:
        self._home = home
        self._registry = Registry(home, boot_id())
        self._journal = journal = Journal(home / "sessions" / "spawns.jsonl")
        self._reaper = Reaper(self._registry, self._tell)
        self._starter = Starter(self._registry, journal, self._reaper)
        self._sender = Sender(self._registry)
        self._ender = Ender(self._registry, journal, waits)
        self._connections: set[Connection] = set()
        self._leave = asyncio.Event()
        self._idle_exit_s = idle_exit_s
        self._idle_timer: Optional[asyncio.TimerHandle] = None
        self._watch: Optional[FolderWatch] = None
        self._operations = {
            "hello": self._hello,
            "ping": self._ping,
            "start": self._start,
            "send": self._send,
            "send_raw": self._send_raw,
            "stop": self._stop,
            "status": self._status,
            "list": self._list,
            "lookup": self._lookup,
            "stat_stream": self._stat_stream,
            "discard": self._discard,
            "shutdown": self._shutdown,
        }

    def leave(self) -> None:
        """Go, and leave the agents running."""
        self._leave.set()

    async def run(self, listener: socket.socket) -> None:
        """Adopt, then serve until told to leave."""
        self._registry.streams.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._watch = FolderWatch(self._registry.streams, self._grown, lambda: self._grown(None))
        adopted = adopt_all(self._registry, self._journal, self._reaper)
        server = await asyncio.start_unix_server(self._accept, sock=listener)
        log.info("serving home=%s pid=%s adopted=%s", self._home, os.getpid(), adopted)
        self._consider_leaving()
        try:
            await self._leave.wait()
        finally:
            server.close()
            for connection in list(self._connections):
                connection.channel.close()
            self._watch.close()
            for owned in self._registry.owned.values():
                if owned.watch is not None:
                    owned.watch.close()
            log.info("leaving, %s sessions run on", len(self._registry.owned))

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = _peer_uid(writer.get_extra_info("socket"))
        if peer is not None and peer != os.getuid():
            log.warning("refused a connection of uid %s", peer)
            writer.close()
            return
        connection = Connection(reader, writer, self._registry, self._operations)
        self._connections.add(connection)
        if self._watch is not None:
            self._watch.set_active(active=True)
        try:
            await connection.run()
        except asyncio.CancelledError:
            connection.channel.close()
        finally:
            self._connections.discard(connection)
            if self._watch is not None:
                self._watch.set_active(active=bool(self._connections))
            self._consider_leaving()

    def _consider_leaving(self) -> None:
        """With nobody connected and nothing to keep alive there is no reason to stay."""
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None
        if self._idle_exit_s is not None and not self._connections:
            loop = asyncio.get_running_loop()
            self._idle_timer = loop.call_later(self._idle_exit_s, self._leave_if_idle)

    def _leave_if_idle(self) -> None:
        if not self._connections and not self._registry.owned:
            self.leave()
        else:
            self._consider_leaving()

    def _grown(self, sid: Optional[str]) -> None:
        for connection in self._connections:
            connection.grown(sid)

    def _tell(self, sid: str, event: dict[str, Any]) -> None:
        for connection in self._connections:
            connection.grown(sid)
            connection.tell(event)

    # -- operations -------------------------------------------------------------------------------

    async def _hello(self, _frame: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "version": __version__,
            "protocol": PROTOCOL_VERSION,
            "capabilities": list(capabilities.ALL),
            "home": str(self._home),
            "pid": os.getpid(),
        }

    async def _ping(self, _frame: Mapping[str, Any]) -> dict[str, Any]:
        return {}

    async def _start(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        request = parse(Start, frame)
        await self._starter.start(request)
        return {"session": self._registry.describe(request.sid)}

    async def _send(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        await self._sender.send(parse(Send, frame))
        return {}

    async def _send_raw(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        await self._sender.send_raw(parse(SendRaw, frame))
        return {}

    async def _stop(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        return await self._ender.stop(parse(Stop, frame))

    async def _status(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        return {"session": self._registry.describe(parse(Status, frame).sid)}

    async def _list(self, _frame: Mapping[str, Any]) -> dict[str, Any]:
        return {"sessions": [self._registry.describe(sid) for sid in self._registry.owned]}

    async def _lookup(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        request = parse(Lookup, frame)
        folder = request.config_dir or "~/.claude"
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(None, find_messages, folder, request.sid, request.uuids)
        return {"found": sorted(found), "transcript": has_transcript(folder, request.sid)}

    async def _stat_stream(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        path = self._registry.files(parse(Status, frame).sid).stream
        return {"size": stream_file.size_of(path), "epoch": stream_file.epoch_of(path)}

    async def _discard(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        """Remove what a start that failed has left; never of a living session."""
        sid = parse(Status, frame).sid
        if sid in self._registry.owned:
            raise RemoteError("already_running", "The session runs.")
        files = self._registry.files(sid)
        for path in (files.stream, files.errors, files.fifo, files.pgid, files.exit):
            path.unlink(missing_ok=True)
        return {}

    async def _shutdown(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        """Leave; with `end_sessions` end every session of the asking home first."""
        request = parse(Shutdown, frame)
        if request.end_sessions:
            stops = [Stop(sid=sid, home=request.home) for sid in self._registry.owned]
            await asyncio.gather(*(self._ender.stop(stop) for stop in stops))
        asyncio.get_running_loop().call_later(0.05, self.leave)
        return {"left": [self._registry.describe(sid) for sid in self._registry.owned]}


def _peer_uid(sock: Any) -> Optional[int]:
    """The uid of the other end, or None where the system does not say."""
    if sock is None or not hasattr(socket, "SO_PEERCRED"):
        return None
    data = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", data)[1])
