"""Numbers of the transcript view alone: first paint, scrolling, streaming, appending, finding, memory.

`measure()` opens a window (offscreen will do) over a chat of mixed blocks and answers milliseconds. A frame
is a step with its events and its painting.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
from PySide6.QtCore import QEventLoop, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from walnut_desktop.gui.theme import apply_theme
from walnut_desktop.gui.transcript_view import TailMessage, TranscriptView
from walnut_desktop.transcript.blocks import (
    Block,
    Change,
    NoticeBlock,
    TextBlock,
    ThinkingBlock,
    ToolBlock,
    ToolState,
    TurnBlock,
    UserBlock,
)

BLOCKS = 10_000
DELTAS = 500
_TEXT = (
    "the agent reads file then writes patch runs tests checks result returns value when state changes "
    "because queue holds task until worker ends and daemon keeps record of each step"
)
_WORDS = _TEXT.split()
_CODE = (
    "def {0}(self, x):",
    "    if {0} is None:",
    "    return {0} + 1",
    "    {0} = [i for i in range(10)]  # note",
    "    print('{0}', 3.14)",
)


class Writer:
    """Writes believable text, the same for the same seed."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)

    def sentence(self, words: int) -> str:
        """So many words."""
        return " ".join(self._random.choice(_WORDS) for _ in range(words)).capitalize() + "."

    def paragraph(self) -> str:
        """A few sentences."""
        count = self._random.randint(1, 4)
        return " ".join(self.sentence(self._random.randint(8, 20)) for _ in range(count))

    def code(self) -> str:
        """A fence of Python."""
        lines = [
            self._random.choice(_CODE).format(self._random.choice(_WORDS))
            for _ in range(self._random.randint(4, 30))
        ]
        return "```python\n" + "\n".join(lines) + "\n```"

    def items(self) -> str:
        """A list with bold words and code."""
        return "\n".join(
            f"- **{self._random.choice(_WORDS)}** `{self._random.choice(_WORDS)}` {self.sentence(8)}"
            for _ in range(self._random.randint(2, 6))
        )

    def table(self) -> str:
        """A small table."""
        rows = [f"| {self._random.choice(_WORDS)} | `x` | {number} |" for number in range(4)]
        return "| a | b | c |\n|---|:-:|--:|\n" + "\n".join(rows)

    def answer(self) -> str:
        """Markdown of all kinds."""
        kinds: tuple[Callable[[], str], ...] = (
            *(self.paragraph,) * 5,
            self.items,
            self.items,
            self.code,
            self.code,
            self.table,
        )
        count = self._random.randint(2, 5)
        return "\n\n".join(self._random.choice(kinds)() for _ in range(count))

    def output(self, lines: int) -> str:
        """Numbered lines of a tool."""
        return "\n".join(
            f"{number:04d}  {' '.join(self._random.choices(_WORDS, k=9))}"
            for number in range(lines)
        )


def blocks(count: int = BLOCKS) -> Iterator[Block]:
    """A chat: 10,000 blocks are some 22 MB."""
    writer = Writer()
    for number in range(count):
        key, kind = f"b{number}", number % 10
        if kind == 0:
            yield UserBlock(key, writer.paragraph())
        elif kind in (3, 7):
            command = {"command": f"run {writer.sentence(5)}"}
            state = ToolState.FAILED if number % 50 == 7 else ToolState.DONE
            yield ToolBlock(key, key, "Bash", command, state, writer.output(110))
        elif kind == 1:
            yield ThinkingBlock(key, writer.paragraph())
        elif kind == 9:
            ok = number % 100 != 99
            yield TurnBlock(key, ok, 12_000, 0.02, "" if ok else "The service is overloaded.")
        elif number % 100 == 5:
            yield NoticeBlock(key, "The conversation was compacted.")
        else:
            yield TextBlock(key, writer.answer())


class Probe:
    """One view under the clock."""

    def __init__(self, app: QApplication, chat: list[Block]) -> None:
        self._app = app
        self._process = psutil.Process()
        self._base = self._process.memory_info().rss
        begin = time.perf_counter()
        self.view = TranscriptView()
        self.view.set_theme(apply_theme(app, "light"))
        self.view.resize(860, 900)
        self.view.show()
        self.view.set_blocks(chat)
        self._settle()
        self.first_paint = _ms(begin)
        self.memory_first = self.memory()

    def memory(self) -> float:
        """MB over what was there before the view."""
        return round((self._process.memory_info().rss - self._base) / 1e6, 1)

    def _settle(self) -> None:
        self._app.processEvents()
        self.view.viewport().repaint()

    def frames(self, count: int, step: Callable[[int], object]) -> dict[str, float]:
        """The times of so many frames."""
        times = []
        for number in range(count):
            begin = time.perf_counter()
            step(number)
            self._app.processEvents()
            times.append(_ms(begin))
        return _spread(times)

    def wheel(self, clicks: int) -> None:
        """Turn the wheel; upwards is positive."""
        at = QPointF(200, 200)
        event = QWheelEvent(
            at,
            self.view.mapToGlobal(at),
            QPoint(),
            QPoint(0, 120 * clicks),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(self.view.viewport(), event)

    def live(self) -> dict[str, float]:
        """100 pieces a second on a growing answer: how late the ticks of a 10 ms timer come."""
        view, writer = self.view, Writer(3)
        source = "\n\n".join(writer.answer() for _ in range(12))[: DELTAS * 20]
        gaps: list[float] = []
        last = [time.perf_counter()]

        def tick() -> None:
            now = time.perf_counter()
            gaps.append((now - last[0]) * 1000)
            last[0] = now
            end = len(gaps) * 20
            view.apply([Change(TextBlock("live", source[:end], streaming=True), len(gaps) == 1)])
            if len(gaps) >= DELTAS:
                loop.quit()

        loop = QEventLoop()
        timer = QTimer()
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        timer.timeout.connect(tick)
        timer.start(10)
        cpu, begin = self._process.cpu_times(), time.perf_counter()
        last[0] = begin
        loop.exec()
        timer.stop()
        after, wall = self._process.cpu_times(), time.perf_counter() - begin
        view.apply([Change(TextBlock("live", source), False)])
        used = after.user - cpu.user + after.system - cpu.system
        return {**_spread(gaps), "cpu_percent": round(100 * used / wall, 1)}


def _ms(begin: float) -> float:
    return round((time.perf_counter() - begin) * 1000, 2)


def _spread(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "p50": round(statistics.median(ordered), 2),
        "p99": round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))], 2),
        "max": round(ordered[-1], 2),
    }


def _time(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return _ms(begin)


def measure(app: QApplication, count: int = BLOCKS) -> dict[str, Any]:
    """All numbers."""
    chat = list(blocks(count))
    size = sum(len(getattr(b, "text", "")) + len(getattr(b, "result", "")) for b in chat)
    probe = Probe(app, chat)
    view = probe.view
    out: dict[str, Any] = {"blocks": count, "mb": round(size / 1e6, 1)}
    out["first_paint_ms"], out["memory_first_mb"] = probe.first_paint, probe.memory_first
    out["wheel_up_ms"] = probe.frames(300, lambda _n: probe.wheel(1))
    out["wheel_down_ms"] = probe.frames(300, lambda _n: probe.wheel(-1))
    bar = view.verticalScrollBar()
    out["page_up_ms"] = probe.frames(60, lambda _n: view.scroll_by(-800))
    places = random.Random(1)
    out["thumb_ms"] = probe.frames(
        60, lambda _n: bar.setValue(int(bar.maximum() * places.random()))
    )
    view.scroll_to_bottom()
    out["live_gap_ms"] = probe.live()

    def add(number: int) -> None:
        view.apply([Change(UserBlock(f"new{number}", "One more."), True)])
        view.block_count()

    out["append_ms"] = probe.frames(60, add)
    view.set_tail([TailMessage("m", "Waiting", "queued", "")])
    out["append_above_tail_ms"] = probe.frames(60, lambda number: add(1000 + number))
    view.scroll_by(-4000)
    out["prepend_200_ms"] = probe.frames(
        5,
        lambda number: view.prepend([UserBlock(f"old{number}.{n}", "Older.") for n in range(200)]),
    )
    out["resize_ms"] = probe.frames(6, lambda number: view.resize(700 + 20 * number, 900))
    out["theme_ms"] = _time(lambda: view.set_theme(apply_theme(app, "dark")))
    out["find_miss_ms"] = _time(lambda: view.find("no such needle at all"))
    out["find_hit_ms"] = _time(lambda: view.find("overloaded"))
    out["find_next_ms"] = _time(lambda: view.find("overloaded"))
    view.select_all()
    out["copy_all_ms"] = _time(view.selected_text)
    out["laid_out"] = view.surface.laid_count()
    out["memory_mb"] = probe.memory()
    view.close()
    view.deleteLater()
    return out


def main() -> None:
    """Print the numbers."""
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    print(json.dumps(measure(app), indent=2))


if __name__ == "__main__":
    main()
