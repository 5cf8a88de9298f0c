"""Starting a session's process (Rule S1's half in the daemon): every check before anything is touched."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import signal
import sys
from pathlib import Path

from walnut_desktop.daemon import fifo, stream_file
from walnut_desktop.daemon.environment import agent_environment
from walnut_desktop.daemon.identity import identify, is_alive
from walnut_desktop.daemon.journal import Journal
from walnut_desktop.daemon.launch import (
    LaunchError,
    practice_command,
    resolve_program,
    spawn,
)
from walnut_desktop.daemon.live_registry import find_holder
from walnut_desktop.daemon.processes import Watch, send_signal
from walnut_desktop.daemon.reaper import Reaper
from walnut_desktop.daemon.registry import Owned, Registry, SessionFiles
from walnut_desktop.protocol.messages import RemoteError, Start

log = logging.getLogger(__name__)


class Starter:
    """Spawns agents under the gate of their session."""

    def __init__(self, registry: Registry, journal: Journal, reaper: Reaper) -> None:
        self._registry = registry
        self._journal = journal
        self._reaper = reaper

    async def start(self, request: Start) -> Owned:
        """The running process. Raises RemoteError with a word and a sentence; then nothing was made."""
        async with self._registry.gate(request.sid):
            before = self._registry.owned.get(request.sid)
            if before is not None and not is_alive(before.agent, self._registry.boot):
                await before.ended.wait()  # its end is being dealt with: milliseconds
            argv, cwd = self._check(request)
            return self._spawn(request, argv, cwd)

    def _check(self, request: Start) -> tuple[list[str], str]:
        sid = request.sid
        if sid in self._registry.owned:
            raise RemoteError("already_running", "This session has a running process already.")
        try:
            cwd = Path(request.cwd).expanduser()
        except RuntimeError:  # `~somebody` who is not there
            cwd = Path(request.cwd)
        if not cwd.is_absolute() or not cwd.is_dir():
            raise RemoteError("cwd_missing", f"The folder {cwd} does not exist.")
        if not os.access(cwd, os.R_OK | os.X_OK):
            raise RemoteError("cwd_forbidden", f"The folder {cwd} can't be entered.")
        if not request.argv:
            raise RemoteError("bad_request", "There is no program to start.")
        name = request.argv[0]
        if name == "@practice":
            argv = [*practice_command(), *request.argv[1:]]
        else:
            program = resolve_program(name, os.environ.get("PATH"))
            if program is None:
                raise RemoteError("program_missing", f"The program “{name}” was not found.")
            argv = [program, *request.argv[1:]]
        if request.config_dir:
            holder = find_holder(request.config_dir, sid)
            if holder is not None:
                raise RemoteError(
                    "held_elsewhere",
                    f"This session already runs in another process (pid {holder.pid}).",
                    {"pid": holder.pid},
                )
        if not request.resume and stream_file.size_of(self._registry.files(sid).stream):
            raise RemoteError("sid_in_use", "There is a session with this id already.")
        return argv, str(cwd)

    def _spawn(self, request: Start, argv: list[str], cwd: str) -> Owned:
        sid, files = request.sid, self._registry.files(request.sid)
        number = secrets.token_hex(6)
        env = agent_environment(
            os.environ, request.env, bundled=bool(getattr(sys, "frozen", False))
        )
        env["PWD"] = cwd
        try:
            pipe = self._make_files(request, files, number, cwd)
            try:
                launched = spawn(argv, cwd, env, files.fifo, files.stream, files.errors, files.exit)
            except LaunchError:
                pipe.close()
                raise
        except OSError as error:
            self._unmake(request, files, number)
            raise _no_disk(error) from None
        except LaunchError as error:
            self._unmake(request, files, number)
            raise RemoteError(error.word, str(error)) from None
        boot = self._registry.boot
        agent = identify(launched.pid, boot)
        shim = identify(launched.shim_pid, boot)
        if agent is None:
            # It has ended already; the shell tells the code, and the reaper the rest.
            agent = (shim or identify(os.getpid(), boot))._replace(  # type: ignore[union-attr]
                pid=launched.pid, start="ended"
            )
        owned = Owned(sid, number, agent, shim, files, pipe, child=launched.shim)
        self._registry.owned[sid] = owned
        self._registry.exits.pop(sid, None)
        owned.watch = Watch(agent, boot, lambda: self._reaper.process_ended(owned))
        try:
            owned.save()
        except OSError as error:
            # No later daemon would find it: better no process than one that nobody owns.
            owned.stopping = "disk"
            send_signal(agent, boot, signal.SIGKILL)
            raise _no_disk(error) from None
        log.info("started sid=%s pid=%s spawn=%s resume=%s", sid, agent.pid, number, request.resume)
        return owned

    def _make_files(self, request: Start, files: SessionFiles, number: str, cwd: str) -> fifo.Fifo:
        """The intent in the journal, the stream with its marker, and a fresh pipe."""
        kind = "resume" if request.resume else "new"
        self._journal.append(
            request.sid, kind, home=request.home, task=request.task, cwd=cwd, spawn=number
        )
        stream_file.ensure(files.stream)
        marker = {"subtype": "process-start", "spawn": number, "resume": request.resume}
        stream_file.append_marker(files.stream, {"type": "walnut", **marker})
        fifo.make(files.fifo)
        return fifo.Fifo(files.fifo)

    def _unmake(self, request: Start, files: SessionFiles, number: str) -> None:
        """Nothing came of it: a new session leaves nothing, an old one is closed again."""
        if request.resume:
            self._reaper.settle_files(files, number, None, intended=False)
            return
        for path in (files.stream, files.errors, files.fifo, files.exit):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def _no_disk(error: OSError) -> RemoteError:
    return RemoteError("disk", f"The session's files can't be written: {error.strerror or error}.")
