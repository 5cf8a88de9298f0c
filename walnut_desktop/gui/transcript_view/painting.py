"""Paints a row that is laid out. What is said by a colour is said by a shape or a word, too (Rule G13)."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QFont,
    QFontMetricsF,
    QPainter,
    QPen,
    QTextCharFormat,
    QTextCursor,
)

from walnut_desktop.gui.icon import icon
from walnut_desktop.gui.theme import Theme
from walnut_desktop.gui.transcript_view.layout import GAP, PAD, Laid, RowLayout
from walnut_desktop.gui.transcript_view.rows import Row, TailMessage, Unfolded
from walnut_desktop.gui.transcript_view.tool_text import STATES, icon_name
from walnut_desktop.transcript.blocks import (
    Level,
    NoticeBlock,
    TextBlock,
    ThinkingBlock,
    ToolBlock,
    ToolState,
    TurnBlock,
    UserBlock,
    tool_headline,
)

RADIUS = 9.0


class Look(NamedTuple):
    """How a row is to be painted: the selected part of its document, and whether the keyboard is on it."""

    selection: tuple[int, int] | None
    focused: bool
    clip: QRectF  # in the row's own coordinates


class RowPainter:
    """Paints rows for one theme and width."""

    def __init__(self, layout: RowLayout) -> None:
        self._theme: Theme = layout.theme
        self._layout = layout
        self._width = layout.width

    def paint(self, painter: QPainter, row: Row, laid: Laid, look: Look) -> None:
        """The whole row, its top left corner at the origin."""
        block = row.block
        if isinstance(block, UserBlock):
            self._card(painter, laid, "You", "", dashed=False)
        elif isinstance(block, TailMessage):
            self._tail(painter, laid, block)
        elif isinstance(block, ToolBlock):
            self._tool(painter, row, laid, block)
        elif isinstance(block, ThinkingBlock):
            self._thinking(painter, row, laid, block)
        elif isinstance(block, NoticeBlock):
            self._notice(painter, laid, block)
        elif isinstance(block, TurnBlock):
            self._turn(painter, laid, block)
        elif isinstance(block, TextBlock):
            self._code_boxes(painter, laid)
        if laid.document is not None:
            self._document(painter, laid, look)
        if look.focused:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.color("focus"), 2))
            painter.drawRoundedRect(
                QRectF(-5, -4, self._width + 10, laid.height - GAP + 6), RADIUS, RADIUS
            )

    def _document(self, painter: QPainter, laid: Laid, look: Look) -> None:
        document = laid.document
        if document is None:
            return
        painter.save()
        painter.translate(laid.at)
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = look.clip.translated(-laid.at)
        if look.selection is not None:
            chosen = QAbstractTextDocumentLayout.Selection()
            cursor = QTextCursor(document)
            last = document.characterCount() - 1
            cursor.setPosition(min(look.selection[0], last))
            cursor.setPosition(min(look.selection[1], last), QTextCursor.MoveMode.KeepAnchor)
            form = QTextCharFormat()
            form.setBackground(self._theme.color("highlight"))
            form.setForeground(self._theme.color("text"))
            chosen.cursor = cursor
            chosen.format = form
            context.selections = [chosen]
        document.documentLayout().draw(painter, context)
        painter.restore()

    # -- kinds ------------------------------------------------------------------------------------

    def _card(self, painter: QPainter, laid: Laid, label: str, state: str, *, dashed: bool) -> None:
        box = QRectF(0, 0, self._width, laid.height - GAP)
        pen = QPen(self._theme.color("strong_border" if dashed else "border"), 1)
        if dashed:
            pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(self._theme.color("surface" if dashed else "user_card"))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
        font = QFont(self._theme.small_font)
        font.setWeight(QFont.Weight.DemiBold)
        self._text(painter, QPointF(PAD, PAD), label, font, "muted")
        if state:
            wide = QFontMetricsF(font).horizontalAdvance(label)
            self._text(
                painter, QPointF(PAD + wide, PAD), f"  ·  {state}", self._theme.small_font, "muted"
            )

    def _tail(self, painter: QPainter, laid: Laid, message: TailMessage) -> None:
        self._card(painter, laid, "You", message.state, dashed=True)
        for hit in laid.hits:
            word = "Send again" if hit.action == "retry" else "Discard"
            self._text(painter, hit.rect.topLeft(), word, self._theme.small_font, "link")
        if message.reason:
            at = QPointF(PAD, laid.height - GAP - PAD - self._layout.small_line)
            metrics = QFontMetricsF(self._theme.small_font)
            room = self._width - 2 * PAD
            text = metrics.elidedText(message.reason, Qt.TextElideMode.ElideRight, room)
            role = "danger" if message.state == "failed" else "muted"
            self._text(painter, at, text, self._theme.small_font, role)

    def _tool(self, painter: QPainter, row: Row, laid: Laid, block: ToolBlock) -> None:
        box = QRectF(0, 0, self._width, laid.height - 8).adjusted(0.5, 0.5, -0.5, -0.5)
        waiting = block.state is ToolState.WAITING
        painter.setPen(QPen(self._theme.color("danger" if waiting else "border"), 1))
        painter.setBrush(self._theme.color("raised"))
        painter.drawRoundedRect(box, RADIUS, RADIUS)
        if laid.document is not None:
            painter.setPen(QPen(self._theme.color("border"), 1))
            painter.drawLine(QPointF(0.5, laid.head), QPointF(self._width - 0.5, laid.head))
        middle = laid.head / 2
        chevron = "chevron-right" if row.unfolded is Unfolded.NO else "chevron-down"
        self._icon(painter, chevron, QPointF(PAD, middle), 12, "muted")
        self._icon(painter, icon_name(block.name), QPointF(PAD + 20, middle), 16, "muted")
        state, role = STATES[block.state], _TOOL_ROLES[block.state]
        small = self._theme.small_font
        wide = QFontMetricsF(small).horizontalAdvance(state)
        top = middle - self._layout.small_line / 2
        right = self._width - PAD
        self._text(painter, QPointF(right - wide, top), state, small, role)
        mark = _TOOL_ICONS.get(block.state)
        if mark:
            self._icon(painter, mark, QPointF(right - wide - 20, middle), 14, role)
        self._tool_words(painter, block, middle, right - wide - 30)
        if laid.more:
            hit = next(hit for hit in laid.hits if hit.action == "more")
            self._text(painter, hit.rect.topLeft(), laid.more, small, "link")

    def _tool_words(self, painter: QPainter, block: ToolBlock, middle: float, right: float) -> None:
        font = QFont(self._theme.font)
        font.setWeight(QFont.Weight.DemiBold)
        metrics = QFontMetricsF(font)
        left = PAD + 46
        name = metrics.elidedText(
            block.name, Qt.TextElideMode.ElideRight, max(40.0, (right - left) * 0.5)
        )
        self._text(painter, QPointF(left, middle - self._layout.line / 2), name, font, "text")
        left += metrics.horizontalAdvance(name) + 10
        mono = QFontMetricsF(self._theme.mono_font)
        words = tool_headline(block.name, block.tool_input)
        room = right - left
        if words and room > 40:
            text = mono.elidedText(words, Qt.TextElideMode.ElideMiddle, room)
            top = middle - mono.height() / 2
            self._text(painter, QPointF(left, top), text, self._theme.mono_font, "muted")

    def _thinking(self, painter: QPainter, row: Row, laid: Laid, block: ThinkingBlock) -> None:
        middle = laid.head / 2
        chevron = "chevron-right" if row.unfolded is Unfolded.NO else "chevron-down"
        self._icon(painter, chevron, QPointF(0, middle), 12, "muted")
        self._icon(painter, "thought", QPointF(20, middle), 16, "muted")
        words = "Thinking…" if block.streaming else "Thought for a moment"
        font = QFont(self._theme.font)
        font.setItalic(True)
        self._text(painter, QPointF(44, middle - self._layout.line / 2), words, font, "muted")

    def _notice(self, painter: QPainter, laid: Laid, block: NoticeBlock) -> None:
        if block.level is Level.INFO or laid.document is None:
            return
        role = "danger" if block.level is Level.ERROR else "warning"
        ink = laid.document.idealWidth()
        left = laid.at.x() + (laid.document.textWidth() - ink) / 2 - 22
        self._icon(
            painter,
            "warning",
            QPointF(max(0.0, left), laid.at.y() + self._layout.line / 2),
            14,
            role,
        )

    def _turn(self, painter: QPainter, laid: Laid, block: TurnBlock) -> None:
        if laid.document is not None:
            box = QRectF(0, 0, self._width, laid.height - GAP)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("danger_ground"))
            painter.drawRoundedRect(box, RADIUS, RADIUS)
            self._icon(painter, "warning", QPointF(PAD, PAD + self._layout.line / 2), 18, "danger")
            return
        words = turn_words(block)
        small = self._theme.small_font
        wide = QFontMetricsF(small).horizontalAdvance(words)
        middle = laid.height / 2 - 2
        left = (self._width - wide) / 2
        painter.setPen(QPen(self._theme.color("border"), 1))
        painter.drawLine(QPointF(0, middle), QPointF(left - 14, middle))
        painter.drawLine(QPointF(left + wide + 14, middle), QPointF(self._width, middle))
        self._text(
            painter, QPointF(left, middle - self._layout.small_line / 2), words, small, "muted"
        )

    def _code_boxes(self, painter: QPainter, laid: Laid) -> None:
        document = laid.document
        if document is None:
            return
        sizes = document.documentLayout()
        for first, last in document.code_runs:
            top = sizes.blockBoundingRect(document.findBlockByNumber(first)).top()
            bottom = sizes.blockBoundingRect(document.findBlockByNumber(last)).bottom()
            box = QRectF(0.5, top + 2.5, self._width - 1, bottom - top + 9)
            painter.setPen(QPen(self._theme.color("border"), 1))
            painter.setBrush(self._theme.color("code_ground"))
            painter.drawRoundedRect(box, 7, 7)

    # -- pieces -----------------------------------------------------------------------------------

    def _text(self, painter: QPainter, at: QPointF, text: str, font: QFont, role: str) -> None:
        painter.setFont(font)
        painter.setPen(self._theme.color(role))
        painter.drawText(QPointF(at.x(), at.y() + QFontMetricsF(font).ascent()), text)

    def _icon(self, painter: QPainter, name: str, at: QPointF, size: int, role: str) -> None:
        """An icon whose left edge and vertical middle are at `at`."""
        box = QRectF(at.x(), at.y() - size / 2, size, size).toAlignedRect()
        icon(name, self._theme.color(role), size).paint(painter, box)


def turn_words(block: TurnBlock) -> str:
    """“Finished · 12 s · $0.02”."""
    parts = ["Finished" if block.ok else "Ended"]
    seconds = block.duration_ms / 1000
    if seconds >= 60:
        parts.append(f"{int(seconds // 60)} min {int(seconds % 60)} s")
    elif seconds >= 1:
        parts.append(f"{seconds:.0f} s")
    if block.cost_usd >= 0.005:
        parts.append(f"${block.cost_usd:.2f}")
    return "  ·  ".join(parts)


_TOOL_ROLES = {
    ToolState.WRITING: "muted",
    ToolState.RUNNING: "accent",
    ToolState.WAITING: "danger",
    ToolState.DONE: "success",
    ToolState.FAILED: "danger",
    ToolState.INTERRUPTED: "warning",
}

_TOOL_ICONS = {
    ToolState.WAITING: "shield",
    ToolState.DONE: "check",
    ToolState.FAILED: "x",
    ToolState.INTERRUPTED: "pause",
}
