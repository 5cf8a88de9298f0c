"""`walnut-desktop daemon`: takes the home's lock, listens, and keeps agents alive.

The lock is the kernel's: who holds it is the daemon. The socket is bound under another name and renamed over
the old one, so that there is never a moment without one.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import logging
import logging.handlers
import os
import secrets
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from walnut_desktop.daemon import limits
from walnut_desktop.protocol.endpoint import daemon_dir, socket_path

EXIT_ALREADY_RUNNING = 3


def take_lock(path: Path) -> Optional[int]:
    """The lock's descriptor (never inherited by agents), or None when another daemon holds it."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    os.ftruncate(fd, 0)
    os.write(fd, f"{os.getpid()}\n".encode())
    return fd


def listen(path: Path) -> socket.socket:
    """A socket that only its owner can reach (0600 in a folder 0700)."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.parent.stat().st_uid != os.getuid():
        raise PermissionError(f"{path.parent} belongs to somebody else")
    part = path.with_name(f".{secrets.token_hex(4)}.sock")
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        sock.bind(str(part))
    finally:
        os.umask(mask)
    sock.listen(64)
    part.rename(path)
    return sock


def _log_to(path: Path) -> None:
    handler = logging.handlers.RotatingFileHandler(path, maxBytes=2_000_000, backupCount=3)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


async def _serve(home: Path, idle_exit_s: Optional[float]) -> None:
    from walnut_desktop.daemon.server import Server

    server = Server(home, idle_exit_s=idle_exit_s, waits=None)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.leave)
    # A handler, not “ignore”: what is ignored here would be ignored in every agent, too.
    loop.add_signal_handler(signal.SIGHUP, lambda: None)
    path = socket_path(home, os.environ.get("XDG_RUNTIME_DIR", ""), os.getuid())
    await server.run(listen(path))


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Run the daemon in the foreground. Exit code 3: one runs already."""
    parser = argparse.ArgumentParser(
        prog="walnut-desktop daemon",
        description="Keeps agent sessions alive. The app starts it by itself when it is needed.",
    )
    parser.add_argument("--home", help="data directory (default: $WALNUT_HOME or ~/.open-walnut)")
    parser.add_argument(
        "--idle-exit",
        type=float,
        default=900.0,
        metavar="SECONDS",
        help="leave after so long without a connection and without a session; 0 stays (default: 900)",
    )
    options = parser.parse_args(argv)
    given = options.home or os.environ.get("WALNUT_HOME") or "~/.open-walnut"
    home = Path(given).expanduser().resolve()
    folder = daemon_dir(home)
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = take_lock(folder / "lock")
    except OSError as error:
        sys.stderr.write(f"walnut-desktop daemon: {folder} can't be used: {error.strerror}.\n")
        return 1
    if lock is None:
        sys.stderr.write("walnut-desktop daemon: one runs already for this home.\n")
        return EXIT_ALREADY_RUNNING
    _log_to(folder / "daemon.log")
    limits.raise_own()
    try:
        asyncio.run(_serve(home, options.idle_exit or None))
    except Exception:
        # The last border: leave a trace, and let the app start another one.
        logging.getLogger(__name__).exception("the daemon ends with an error")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
