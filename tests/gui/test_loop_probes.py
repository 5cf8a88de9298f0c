"""What we rely on in Qt, PySide6 and qasync, probed: a release that breaks it is seen (D18 to D20)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QLabel, QWidget

from walnut_desktop.gui import guard
from walnut_desktop.gui.application import Application
from walnut_desktop.gui.loop import Loop


@pytest.mark.rule("G3")
def test_none_survives_calls_into_qt(qapp: Application) -> None:
    """PySide6 6.12.0 on Python 3.11 takes a reference from None per call and aborts within seconds."""
    label = QLabel()
    before = sys.getrefcount(None)
    for number in range(500):
        label.setText(str(number))
        qapp.processEvents()
    assert sys.getrefcount(None) > before - 200
    label.deleteLater()


@pytest.mark.rule("G3")
async def test_a_sleep_is_never_short(qapp: Application) -> None:
    loop = asyncio.get_running_loop()
    for seconds in (0.0004, 0.003, 0.016, 0.05):
        begin = loop.time()
        woken = loop.create_future()
        loop.call_later(seconds, woken.set_result, None)
        await woken
        assert loop.time() - begin >= seconds


@pytest.mark.rule("G3")
async def test_cancelled_timers_do_not_pile_up(qapp: Application) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, Loop)
    for _ in range(5000):
        async with asyncio.timeout(60):
            pass
    assert loop.live_timers() < 200


async def test_timer_handles_know_when(qapp: Application) -> None:
    loop = asyncio.get_running_loop()
    handle = loop.call_later(30, lambda: None)
    assert 29 < handle.when() - loop.time() <= 30
    handle.cancel()
    assert handle.cancelled()


@pytest.mark.rule("G3")
async def test_a_busy_task_does_not_starve_qt(qapp: Application) -> None:
    ticks: list[float] = []
    timer = QTimer()
    timer.timeout.connect(lambda: ticks.append(time.monotonic()))
    timer.start(10)
    until = time.monotonic() + 0.5
    while time.monotonic() < until:
        await asyncio.sleep(0)
    timer.stop()
    assert len(ticks) >= 25


async def test_calls_from_other_threads_arrive_in_order(qapp: Application) -> None:
    loop = asyncio.get_running_loop()
    got: list[int] = []
    done = asyncio.Event()

    def work() -> None:
        for number in range(200):
            loop.call_soon_threadsafe(got.append, number)
        loop.call_soon_threadsafe(done.set)

    thread = threading.Thread(target=work)
    thread.start()
    await asyncio.wait_for(done.wait(), 10)
    thread.join()
    assert got == list(range(200))


async def test_executor_subprocess_and_unix_sockets_work(
    qapp: Application, tmp_path: object
) -> None:
    loop = asyncio.get_running_loop()
    assert await loop.run_in_executor(None, lambda: 6 * 7) == 42
    child = await asyncio.create_subprocess_exec(
        "/bin/echo", "hello", stdout=asyncio.subprocess.PIPE
    )
    out, _ = await child.communicate()
    assert out == b"hello\n"
    path = f"{tmp_path}/s"
    got = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert await reader.readline() == b"ping\n"
        writer.close()
        got.set()

    server = await asyncio.start_unix_server(serve, path)
    _, writer = await asyncio.open_unix_connection(path)
    writer.write(b"ping\n")
    await asyncio.wait_for(got.wait(), 5)
    writer.close()
    server.close()
    await server.wait_closed()


class Carrier(QObject):
    """Carries big numbers."""

    small = Signal(int)
    big = Signal(object)


def test_big_numbers_need_object_signals(qapp: Application) -> None:
    """Qt's int is 32 bits: byte offsets would become 0."""
    got: list[object] = []
    carrier = Carrier()
    carrier.big.connect(got.append)
    carrier.big.emit(2**40)
    assert got == [2**40]


class Careless(QWidget):
    """Raises where Qt would re-raise it in a stranger's line."""

    @guard.never_raises(None)
    def resizeEvent(self, event: object) -> None:
        raise ValueError("careless")


def test_an_error_in_an_override_is_reported_and_stays_inside(qapp: Application) -> None:
    reported: list[str] = []
    guard.set_reporter(lambda error, where: reported.append(f"{where}: {error}"))
    try:
        widget = Careless()
        widget.show()
        for width in (300, 400, 500):
            widget.resize(width, 200)
            qapp.processEvents()
        widget.close()
    finally:
        guard.set_reporter(None)
    assert reported == ["Careless.resizeEvent: careless"], "once per kind of error"


QUIT = """
import asyncio, os, signal, sys
from PySide6.QtCore import QEvent
from walnut_desktop.gui.application import Application, run
app = Application(["probe"])
async def main(stopping):
    asyncio.get_running_loop().call_later(0.1, HOW)
    await stopping.wait()
    await asyncio.sleep(0.2)  # a slow clean-up is waited for
    print("clean", flush=True)
    return 7
sys.exit(run(app, main))
"""


@pytest.mark.rule("G2")
@pytest.mark.parametrize(
    "how",
    [
        "lambda: os.kill(os.getpid(), signal.SIGTERM)",
        "lambda: os.kill(os.getpid(), signal.SIGINT)",
        "app.quit",
        "lambda: app.postEvent(app, QEvent(QEvent.Type.Quit))",
    ],
)
def test_every_way_to_quit_lets_main_clean_up(how: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(QUIT.replace("HOW", how))],
        capture_output=True,
        text=True,
        timeout=30,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )
    assert (done.returncode, done.stdout.strip()) == (7, "clean"), done.stderr


NESTED = """
import asyncio, os, sys
from PySide6.QtCore import QEventLoop, QTimer
from walnut_desktop.gui.application import Application, run
app = Application(["probe"])
lost = []
async def other():
    await asyncio.sleep(0.05)
    lost.append("ran")
async def main(stopping):
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    task = asyncio.ensure_future(other())
    nested = QEventLoop()
    QTimer.singleShot(200, nested.quit)
    nested.exec()
    await asyncio.sleep(0.2)
    print("other task", "ran" if lost else "was lost", flush=True)
    os._exit(0)  # a clean end would wait for the lost task for ever
sys.exit(run(app, main))
"""


def test_a_nested_loop_in_a_coroutine_loses_other_tasks() -> None:
    """Why there is none anywhere (D20); if this ever passes differently, the ban can be thought over."""
    done = subprocess.run(
        [sys.executable, "-c", NESTED],
        capture_output=True,
        text=True,
        timeout=30,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )
    assert "was lost" in done.stdout, done.stdout + done.stderr
