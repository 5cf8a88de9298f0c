"""P3: the slowest 1 % of frames while scrolling and while 100 pieces of text a second stream in."""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

from PySide6.QtWidgets import QApplication

from tests.bench.chats import long_chat
from walnut_desktop.gui import application
from walnut_desktop.gui.theme import apply_theme
from walnut_desktop.gui.transcript_view import TranscriptView
from walnut_desktop.transcript.blocks import Change, TextBlock

MESSAGES, SECONDS = 10_000, 4.0


def _slowest(times: list[float]) -> float:
    """The 99th percentile in ms."""
    return round(statistics.quantiles(times, n=100)[98] * 1000, 2)


def _view(app: application.Application, messages: int) -> TranscriptView:
    view = TranscriptView()
    view.set_theme(apply_theme(app, "light"))
    view.resize(860, 900)
    view.show()
    view.set_blocks(long_chat(messages))
    app.processEvents()
    return view


def _frame(app: application.Application, work: Any) -> float:
    begin = time.perf_counter()
    work()
    app.processEvents()
    return time.perf_counter() - begin


def _scroll(app: application.Application, view: TranscriptView) -> list[float]:
    times = []
    for number in range(600):
        step = -120 if number % 200 < 150 else 240
        times.append(_frame(app, lambda step=step: view.scroll_by(step)))
    bar = view.verticalScrollBar()
    for number in range(60):
        value = int(bar.maximum() * ((number * 37) % 60) / 60)
        times.append(_frame(app, lambda value=value: bar.setValue(value)))
    return times


def _stream(app: application.Application, view: TranscriptView) -> list[float]:
    view.scroll_to_bottom()
    text, times = "", []
    begin = time.perf_counter()
    for number in range(int(SECONDS * 100)):
        text += f"word{number} and **more** of it " + ("\n\n" if number % 40 == 39 else "")
        block = TextBlock("live", text, streaming=True)
        change = Change(block, is_new=number == 0)
        times.append(_frame(app, lambda change=change: view.apply([change])))
        while time.perf_counter() < begin + (number + 1) * 0.01:
            times.append(_frame(app, lambda: None))
    return [value for value in times if value > 0.0002]


def run(messages: int = MESSAGES) -> dict[str, Any]:
    """The worse of both."""
    app = QApplication.instance() or application.Application([sys.argv[0]])
    assert isinstance(app, application.Application)
    view = _view(app, messages)
    scroll, stream = _slowest(_scroll(app, view)), _slowest(_stream(app, view))
    view.close()
    view.deleteLater()
    app.processEvents()
    return {
        "value": max(scroll, stream),
        "unit": "ms",
        "detail": {"scroll_p99_ms": scroll, "stream_p99_ms": stream, "messages": messages},
    }
