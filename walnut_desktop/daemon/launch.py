"""Starting an agent's process: detached, stdout in the stream file, stdin a pipe that never ends (D3).

Each agent gets a tiny shell as its parent (D3b). The shell is a child subreaper where the system has such, so
that tools which detach themselves stay below it, and it leaves the exit code in a file, so that the code is
known even when the daemon was not there.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Optional

from walnut_desktop.daemon import limits

_PR_SET_CHILD_SUBREAPER = 36
_PID_FD = 9
_LIBC = ctypes.CDLL(None)  # loaded here: between fork and exec that could wait for ever

# fd 9 tells the pid. The traps are set, not ignored: an ignored signal would be inherited by the agent.
SHIM = """
trap : HUP INT TERM
exit_file=$1
shift
/bin/sh -c 'echo $$ >&9; exec 9>&-; exec "$@"' sh "$@"
code=$?
exec </dev/null >/dev/null 2>&1 9>&-
echo "$code" >"$exit_file.part" && mv "$exit_file.part" "$exit_file"
children=/proc/$$/task/$$/children
while [ -r "$children" ]; do
  kids=
  read -r kids <"$children"
  [ -n "$kids" ] || break
  sleep 1
done
"""

_EXTRA_PLACES = (
    "~/.local/bin",
    "~/.claude/local",
    "~/.npm-global/bin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
)


class LaunchError(Exception):
    """The process could not be started; `word` names why."""

    def __init__(self, word: str, message: str) -> None:
        super().__init__(message)
        self.word = word


class Launched(NamedTuple):
    """The shell and the agent below it."""

    shim: subprocess.Popen[bytes]
    shim_pid: int
    pid: int


def resolve_program(name: str, path: Optional[str]) -> Optional[str]:
    """The program's full path: as given, on PATH, or where such agents are usually installed."""
    if os.sep in name:
        full = Path(name).expanduser()
        return str(full) if os.access(full, os.X_OK) and not full.is_dir() else None
    places = [str(Path(place).expanduser()) for place in _EXTRA_PLACES]
    return shutil.which(name, path=os.pathsep.join([path or os.defpath, *places]))


def practice_command() -> list[str]:
    """How this program runs its own practice agent."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "practice"]
    return [sys.executable, "-m", "walnut_desktop.practice"]


def _prepare_child(pid_pipe: int) -> None:
    """Runs in the child before it becomes the shell: one descriptor at a known place, and the subreaper.

    What we ignore (a program in the background ignores SIGQUIT) would be ignored by the agent and its tools.
    """
    os.dup2(pid_pipe, _PID_FD)
    os.set_inheritable(_PID_FD, True)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    limits.give_back()
    if sys.platform.startswith("linux"):
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def spawn(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    fifo: Path,
    stream: Path,
    errors: Path,
    exit_file: Path,
) -> Launched:
    """Start it and wait (a few ms) until its pid is known. Raises LaunchError."""
    exit_file.unlink(missing_ok=True)
    fds: list[int] = []
    pid_read, pid_write = os.pipe()
    fds += [pid_read, pid_write]
    try:
        stdin = os.open(fifo, os.O_RDWR | os.O_CLOEXEC)
        fds.append(stdin)
        stdout = os.open(stream, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        fds.append(stdout)
        stderr = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        fds.append(stderr)
        shim = subprocess.Popen(
            ["/bin/sh", "-c", SHIM, "walnut-agent", str(exit_file), *argv],
            cwd=cwd,
            env=dict(env),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            close_fds=False,  # every descriptor of ours closes itself at exec
            preexec_fn=lambda: _prepare_child(pid_write),  # noqa: PLW1509 - the daemon has one thread
        )
        os.close(pid_write)
        fds.remove(pid_write)
        text = os.read(pid_read, 32)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise LaunchError("spawn_failed", f"The agent could not be started: {error}.") from None
    finally:
        for fd in fds:
            os.close(fd)
    if not text.strip().isdigit():
        raise LaunchError("spawn_failed", "The agent's process ended before it began.")
    return Launched(shim, shim.pid, int(text))
