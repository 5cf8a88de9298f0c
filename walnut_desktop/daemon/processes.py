"""The only place that signals (Rule O1), and only a process whose start time was just checked.

On Linux a pidfd is opened first and checked after, so that the signal can't reach a process that got the
same number in between.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Optional

from walnut_desktop.daemon.identity import Identity, is_alive

POLL_S = 0.5


def open_pidfd(who: Identity, boot: str) -> Optional[int]:
    """A descriptor that means exactly this process, or None when it is gone or the system has none."""
    if who.pid <= 1 or not hasattr(os, "pidfd_open"):
        return None
    try:
        fd = os.pidfd_open(who.pid)
    except OSError:
        return None
    if not is_alive(who, boot):
        os.close(fd)
        return None
    return fd


def send_signal(who: Identity, boot: str, number: signal.Signals) -> bool:
    """Signal exactly this process; False when it is gone. A pid of 1 or less is never signalled."""
    if who.pid <= 1:
        return False
    if hasattr(signal, "pidfd_send_signal"):
        fd = open_pidfd(who, boot)
        if fd is None:
            return False
        try:
            signal.pidfd_send_signal(fd, number)
        except ProcessLookupError:
            return False
        finally:
            os.close(fd)
        return True
    if not is_alive(who, boot):
        return False
    try:
        os.kill(who.pid, number)
    except ProcessLookupError:
        return False
    return True


class Watch:
    """Calls back once when a process has ended: by pidfd at once, elsewhere by asking every half second."""

    def __init__(self, who: Identity, boot: str, on_end: Callable[[], None]) -> None:
        self._who = who
        self._boot = boot
        self._on_end: Optional[Callable[[], None]] = on_end
        self._loop = asyncio.get_running_loop()
        self._timer: Optional[asyncio.TimerHandle] = None
        self._fd = open_pidfd(who, boot)
        if self._fd is not None:
            self._loop.add_reader(self._fd, self._ended)
        else:
            self._timer = self._loop.call_later(0, self._poll)

    def _poll(self) -> None:
        if is_alive(self._who, self._boot):
            self._timer = self._loop.call_later(POLL_S, self._poll)
        else:
            self._ended()

    def _ended(self) -> None:
        on_end = self._on_end
        self.close()
        if on_end is not None:
            on_end()

    def close(self) -> None:
        """Watch no more."""
        self._on_end = None
        if self._fd is not None:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
