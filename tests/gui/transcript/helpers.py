"""What several tests of the transcript need."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from walnut_desktop.gui.transcript_view import TranscriptView
from walnut_desktop.gui.transcript_view.layout import Action, Hit
from walnut_desktop.gui.transcript_view.markdown import SealedDocument
from walnut_desktop.transcript.blocks import (
    Block,
    Change,
    TextBlock,
    ThinkingBlock,
    ToolBlock,
    ToolState,
    TurnBlock,
    UserBlock,
)

_NONE = Qt.KeyboardModifier.NoModifier
LONG = "A sentence of some words that goes on and on, so that it is broken over lines. " * 6

BLOCKS: list[Block] = [
    UserBlock("u", "Please look at the queue."),
    TextBlock(
        "a",
        "I found **two** places and a [link](https://example.org/x).\n\n```py\nx = 1\ny = 2\n```",
    ),
    ThinkingBlock("th", "Hidden thought."),
    ToolBlock("t", "i", "Bash", {"command": "ls"}, ToolState.DONE, "one\ntwo"),
    TurnBlock("x", True, 3000, 0.1),
    TextBlock("z", "The last words."),
]


def chat(count: int, start: int = 0) -> list[Block]:
    """Texts of very different heights, so that guesses are wrong."""
    blocks: list[Block] = []
    for number in range(start, start + count):
        kind = number % 4
        if kind == 0:
            blocks.append(UserBlock(f"b{number}", f"Question {number}"))
        elif kind == 1:
            code = "\n".join(f"line_{n} = {n}" for n in range(number % 37))
            blocks.append(TextBlock(f"b{number}", f"Answer {number}\n\n```python\n{code}\n```\n"))
        elif kind == 2:
            blocks.append(TextBlock(f"b{number}", f"# Part {number}\n\n" + LONG * (number % 5 + 1)))
        else:
            state = ToolState.FAILED if number % 8 == 3 else ToolState.DONE
            blocks.append(
                ToolBlock(f"b{number}", f"t{number}", "Bash", {"command": "x"}, state, "out\n" * 9)
            )
    return blocks


def grow(
    view: TranscriptView, key: str, text: str, *, new: bool = False, streaming: bool = True
) -> None:
    """A streamed text has become longer."""
    view.apply([Change(TextBlock(key, text, streaming=streaming), new)])


def draw(view: TranscriptView) -> None:
    """Let the frame come that is due."""
    view._frame.stop()
    view._draw()
    QApplication.processEvents()


def y_of(view: TranscriptView, key: str, piece: int = 0) -> float | None:
    """Where a row is on screen."""
    for spot in view.placed:
        row = view.surface.rows[spot.number]
        if row.key == key and row.piece == piece:
            return spot.y
    return None


def keys_on_screen(view: TranscriptView) -> list[str]:
    """The blocks that are seen."""
    return [view.surface.rows[spot.number].key for spot in view.placed]


def document_of(view: TranscriptView, number: int) -> SealedDocument:
    """The document of a row."""
    document = view.surface.laid(number).document
    assert document is not None
    return document


def shown_text(view: TranscriptView, number: int = 0) -> str:
    """What a row shows."""
    return document_of(view, number).toPlainText()


def wheel(view: TranscriptView, clicks: int) -> None:
    """Turn the wheel; upwards is positive."""
    at = QPointF(200, 200)
    event = QWheelEvent(
        at,
        view.mapToGlobal(at),
        QPoint(),
        QPoint(0, 120 * clicks),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.viewport(), event)
    QApplication.processEvents()


def point_of(view: TranscriptView, number: int, text: str) -> QPoint:
    """A point of the viewport inside the first place of a text in a row."""
    spot = next(p for p in view.placed if p.number == number)
    document = document_of(view, number)
    cursor = document.find(text)
    assert not cursor.isNull(), text
    block = document.findBlock(cursor.selectionStart())
    offset = cursor.selectionStart() - block.position()
    line = block.layout().lineForTextPosition(offset)
    place: object = line.cursorToX(offset)
    x = float(place[0] if isinstance(place, tuple) else place)  # type: ignore[arg-type]
    box = document.documentLayout().blockBoundingRect(block)
    at = spot.laid.at + QPointF(view.surface.left, spot.y)
    return QPointF(at.x() + x + 2, at.y() + box.top() + line.y() + line.height() / 2).toPoint()


def hit_point(view: TranscriptView, number: int, action: Action) -> QPoint:
    """The middle of a place that acts."""
    spot = next(p for p in view.placed if p.number == number)
    hit: Hit = next(hit for hit in spot.laid.hits if hit.action is action)
    return (hit.rect.center() + QPointF(view.surface.left, spot.y)).toPoint()


def click_more(view: TranscriptView, number: int) -> None:
    """Click on the line that shows more."""
    point = hit_point(view, number, Action.MORE)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point)


def press(view: TranscriptView, key: Qt.Key, held: Qt.KeyboardModifier = _NONE) -> None:
    """Press a key on the view."""
    QTest.keyClick(view, key, held)


def drag(view: TranscriptView, begin: QPoint, end: QPoint) -> None:
    """Choose with the mouse."""
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=begin)
    QTest.mouseMove(view.viewport(), (begin + end) / 2)
    QTest.mouseMove(view.viewport(), end)
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=end)


def clipboard() -> str:
    """What was copied."""
    return QGuiApplication.clipboard().text()


def texts(blocks: Sequence[Block]) -> list[str]:
    """The texts of user and text blocks."""
    return [block.text for block in blocks if isinstance(block, (UserBlock, TextBlock))]
