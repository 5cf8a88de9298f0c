"""Where a home's daemon listens: one socket path, the same for everybody who computes it.

The kernel takes about 107 bytes for a socket path (103 on macOS). A home with a longer path gets a short
folder of its own, named by a hash of the home.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

MAX_PATH = 100
PROTOCOL_VERSION = 1


def daemon_dir(home: Path) -> Path:
    """Lock, log and (if its path is short enough) socket of the home's daemon."""
    return home / "daemon"


def streams_dir(home: Path) -> Path:
    """Our copies of the agents' output, one file per session."""
    return home / "sessions" / "streams"


def socket_path(home: Path, runtime_dir: str, uid: int) -> Path:
    """The socket of the daemon of `home`. `runtime_dir` is $XDG_RUNTIME_DIR or empty."""
    plain = daemon_dir(home) / "daemon.sock"
    if len(str(plain).encode()) <= MAX_PATH:
        return plain
    name = f"walnut-{uid}-{hashlib.sha256(str(home).encode()).hexdigest()[:16]}"
    if runtime_dir:
        path = Path(runtime_dir) / name / "daemon.sock"
        if len(str(path).encode()) <= MAX_PATH:
            return path
    return Path("/tmp") / name / "daemon.sock"  # noqa: S108 - the daemon checks whose folder it is
