"""The Qt application and how it ends: only when our own main coroutine returns (model-codebases 4.3).

`app.quit()` under living coroutines would tear them; so every wish to quit (menu, session end, signal) only
sets an event, and main closes things in order.
"""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from PySide6.QtCore import QEvent, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from walnut_desktop.gui.guard import never_raises
from walnut_desktop.gui.loop import Loop

log = logging.getLogger(__name__)


class Application(QApplication):
    """Turns Qt's wish to quit into ours."""

    def __init__(self, arguments: list[str]) -> None:
        super().__init__(arguments)
        self.setApplicationName("walnut-desktop")
        self.setApplicationDisplayName("Walnut Desktop")
        self.setDesktopFileName("walnut-desktop")
        self.setQuitOnLastWindowClosed(False)
        self.setQuitLockEnabled(False)
        self.on_quit: Callable[[], None] | None = None

    @never_raises(False)
    def event(self, event: QEvent) -> bool:
        """A quit event asks; it does not end the loop."""
        if event.type() == QEvent.Type.Quit and self.on_quit is not None:
            self.on_quit()
            event.ignore()
            return True
        return super().event(event)


class Stopping:
    """The one event by which everybody asks the app to end."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def ask(self) -> None:
        """Please end."""
        self._event.set()

    async def wait(self) -> None:
        """Until somebody asks."""
        await self._event.wait()


def run(app: Application, main: Callable[[Stopping], Awaitable[int]]) -> int:
    """Run `main` on the one loop and answer its exit code."""
    with asyncio.Runner(loop_factory=lambda: Loop(app)) as runner:

        async def work() -> int:
            stopping = Stopping()
            app.on_quit = stopping.ask
            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, stopping.ask)
            try:
                return await main(stopping)
            finally:
                app.on_quit = None

        return runner.run(work())


class CrashTrace:
    """What is left when the process dies hard: a file that is empty after every clean end."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "crash.txt"
        self.last_run_crashed = self.path.exists() and self.path.stat().st_size > 0
        self._file: TextIO = self.path.open("w")
        faulthandler.enable(self._file)

    def close(self) -> None:
        """A clean end."""
        faulthandler.disable()
        self._file.close()
        self.path.write_text("")


def report_everything(report: Callable[[BaseException, str], None]) -> None:
    """Send every error that nobody catches to one reporter; the app goes on, the sessions matter more."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            return
        report(error.with_traceback(trace), "window")

    def thread_hook(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            report(args.exc_value, "thread")

    def loop_handler(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, BaseException):
            report(error, str(context.get("message") or "loop"))
        else:
            log.error("loop: %s", context.get("message"))

    sys.excepthook = hook
    threading.excepthook = thread_hook
    asyncio.get_running_loop().set_exception_handler(loop_handler)


def log_qt_messages() -> None:
    """Qt's own messages belong into the log, not onto a terminal that nobody sees."""
    levels = {
        QtMsgType.QtDebugMsg: logging.DEBUG,
        QtMsgType.QtInfoMsg: logging.INFO,
        QtMsgType.QtWarningMsg: logging.WARNING,
        QtMsgType.QtCriticalMsg: logging.ERROR,
        QtMsgType.QtFatalMsg: logging.CRITICAL,
    }

    def handler(kind: QtMsgType, _context: Any, message: str) -> None:
        logging.getLogger("qt").log(levels.get(kind, logging.WARNING), "%s", message)

    qInstallMessageHandler(handler)
