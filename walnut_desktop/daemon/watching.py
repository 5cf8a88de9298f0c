"""Tells which stream files have grown: one inotify instance for the whole folder (D26), else polling.

Each agent holds an inotify instance itself and a user has 128, so one for all files is all we may take.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import logging
import os
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Optional

log = logging.getLogger(__name__)

POLL_S = 0.05
NET_S = 5.0  # a slow look at everything, for what inotify may have lost
_IN_MODIFY, _IN_CREATE, _IN_MOVED_TO, _IN_Q_OVERFLOW = 0x2, 0x100, 0x80, 0x4000
_EVENT = struct.Struct("iIII")


def _open_inotify(folder: Path) -> Optional[int]:
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    fd = int(libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
    if fd < 0:
        log.warning("inotify is not to be had (%s): polling", errno.errorcode[ctypes.get_errno()])
        return None
    mask = _IN_MODIFY | _IN_CREATE | _IN_MOVED_TO
    if int(libc.inotify_add_watch(fd, os.fsencode(folder), mask)) < 0:
        os.close(fd)
        return None
    return fd


class FolderWatch:
    """Calls `on_grown(sid)` when a session's stream file has grown, and `on_all()` when any may have."""

    def __init__(
        self, folder: Path, on_grown: Callable[[str], None], on_all: Callable[[], None]
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._on_grown = on_grown
        self._on_all = on_all
        self._loop = asyncio.get_running_loop()
        self._fd = _open_inotify(folder)
        if self._fd is not None:
            self._loop.add_reader(self._fd, self._read)
        self._interval = POLL_S if self._fd is None else NET_S
        self._timer: Optional[asyncio.TimerHandle] = None
        self.active = False

    def set_active(self, *, active: bool) -> None:
        """Look by the clock only while somebody follows a stream: an idle daemon sleeps."""
        self.active = active
        if active and self._timer is None:
            self._timer = self._loop.call_later(self._interval, self._tick)
        elif not active and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tick(self) -> None:
        self._on_all()
        self._timer = self._loop.call_later(self._interval, self._tick) if self.active else None

    def _read(self) -> None:
        if self._fd is None:
            return
        try:
            data = os.read(self._fd, 65536)
        except BlockingIOError:
            return
        at, names = 0, set()
        while at + _EVENT.size <= len(data):
            _, mask, _, length = _EVENT.unpack_from(data, at)
            name = data[at + _EVENT.size : at + _EVENT.size + length].rstrip(b"\0")
            at += _EVENT.size + length
            if mask & _IN_Q_OVERFLOW:
                self._on_all()
            elif name.endswith(b".jsonl"):
                names.add(os.fsdecode(name)[: -len(".jsonl")])
        for sid in names:
            self._on_grown(sid)

    def close(self) -> None:
        """Watch no more."""
        self.set_active(active=False)
        if self._fd is not None:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = None
