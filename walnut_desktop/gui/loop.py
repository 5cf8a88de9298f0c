"""The one loop of window and core: qasync's class with timers that are precise and never early (D19, G3).

What this mends in the released qasync (each measured, each a test of ours): timers fire up to 5 % early, a
sleep under a millisecond returns at once, cancelled timers live on in Qt, and handles lack `when()`.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
import time
from collections import deque
from collections.abc import Callable
from contextvars import Context
from typing import Any

import qasync
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer

BUDGET_S = 0.008
_DRAIN = QEvent.Type(QEvent.registerEventType())


class _Drain(QObject):
    """Runs the loop's ready callbacks from Qt's event queue."""

    def __init__(self, run: Callable[[], None]) -> None:
        super().__init__()
        self._run = run

    def event(self, event: QEvent) -> bool:
        """Only our own event means anything; a callback's error goes to the loop's handler, not through."""
        if event.type() == _DRAIN:
            self._run()
            return True
        return super().event(event)


class Loop(qasync.QEventLoop):  # type: ignore[misc]
    """qasync's loop with a ready queue of its own and one precise timer."""

    def __init__(self, app: QCoreApplication) -> None:
        self._soon: deque[asyncio.Handle] = deque()
        self._later: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._order = itertools.count()
        self._cancelled = 0
        self._posted = False
        self._drain = _Drain(self._run_ready)
        self._alarm = QTimer()
        self._alarm.setSingleShot(True)
        self._alarm.setTimerType(Qt.TimerType.PreciseTimer)
        self._alarm.timeout.connect(self._run_due)
        super().__init__(app)

    # -- soon -------------------------------------------------------------------------------------

    def call_soon(
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Run the callback in one of the next turns of Qt's loop."""
        handle = asyncio.Handle(callback, args, self, context=context)
        self._soon.append(handle)
        self._post()
        return handle

    def _post(self) -> None:
        if not self._posted:
            self._posted = True
            QCoreApplication.postEvent(self._drain, QEvent(_DRAIN))

    def _run_ready(self) -> None:
        """Run what is ready now, for 8 ms at most: then Qt gets its turn."""
        self._posted = False
        until = time.monotonic() + BUDGET_S
        for _ in range(len(self._soon)):
            if not self._soon:
                break
            handle = self._soon.popleft()
            if not handle.cancelled():
                handle._run()  # noqa: SLF001 - what a loop is for
            if time.monotonic() >= until:
                break
        if self._soon:
            self._post()

    # -- later ------------------------------------------------------------------------------------

    def call_later(
        self,
        delay: float,
        callback: Callable[..., Any],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Run the callback after `delay` seconds, never earlier."""
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[..., Any],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Run the callback at the monotonic time `when`, never earlier."""
        handle = asyncio.TimerHandle(when, callback, args, self, context=context)
        handle._scheduled = True  # type: ignore[attr-defined]  # noqa: SLF001
        heapq.heappush(self._later, (when, next(self._order), handle))
        if self._later[0][2] is handle:
            self._arm()
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Cancelled timers go when they are the majority."""
        self._cancelled += 1
        if self._cancelled > 64 and self._cancelled * 2 > len(self._later):
            self._later = [item for item in self._later if not item[2].cancelled()]
            heapq.heapify(self._later)
            self._cancelled = 0
            self._arm()

    def _arm(self) -> None:
        if not self._later:
            self._alarm.stop()
            return
        wait_ms = (self._later[0][0] - self.time()) * 1000
        self._alarm.start(min(0x7FFFFFFF, max(0, math.ceil(wait_ms))))

    def _run_due(self) -> None:
        now = self.time()
        while self._later and self._later[0][0] <= now:
            _, _, handle = heapq.heappop(self._later)
            handle._scheduled = False  # type: ignore[attr-defined]  # noqa: SLF001
            if handle.cancelled():
                self._cancelled = max(0, self._cancelled - 1)
            else:
                self._soon.append(handle)
        if self._soon:
            self._post()
        self._arm()

    def live_timers(self) -> int:
        """How many timers wait, cancelled ones included (for tests)."""
        return len(self._later)

    def close(self) -> None:
        """Release everything; nothing that still waits will run."""
        self._alarm.stop()
        self._soon.clear()
        self._later.clear()
        super().close()
