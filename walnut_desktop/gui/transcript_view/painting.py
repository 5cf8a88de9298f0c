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
from walnut_desktop.gui.transcript_view import words
from walnut_desktop.gui.transcript_view.layout import PAD, Action, Hit, Laid, RowLayout
from walnut_desktop.gui.transcript_view.rows import Row, TailMessage, Unfolded
from walnut_desktop.gui.transcript_view.tool_text import STATES, headline, icon_name, title
from walnut_desktop.transcript.blocks import (
    Level,
    NoticeBlock,
    ThinkingBlock,
    ToolBlock,
    ToolState,
    TurnBlock,
    UserBlock,
)

RADIUS = 9.0


class Look(NamedTuple):
    """How a row is to be painted."""

    selection: tuple[int, int] | None  # the chosen part of its document
    focused: bool  # whether the keyboard is on it
    clip: QRectF  # in the row's own coordinates
    hovered: Hit | None = None  # the place under the mouse
    code: int = -1  # the code box under the mouse
    copied: bool = False  # whether its code was just copied


class RowPainter:
    """Paints rows for one theme and width."""

    def __init__(self, layout: RowLayout) -> None:
        self._theme: Theme = layout.theme
        self._layout = layout
        self._width = layout.width
        self._px = layout.theme.px

    def paint(self, painter: QPainter, row: Row, laid: Laid, look: Look) -> None:
        """The whole row, its top left corner at the origin."""
        block = row.block
        if laid.left:
            self._nest_line(painter, laid)
        if isinstance(block, UserBlock):
            self._user(painter, laid)
        elif isinstance(block, TailMessage):
            self._tail(painter, laid, block, look)
        elif isinstance(block, ToolBlock):
            self._tool(painter, row, laid, block, look)
        elif isinstance(block, ThinkingBlock):
            self._thinking(painter, row, laid, block)
        elif isinstance(block, NoticeBlock):
            self._notice(painter, laid, block)
        elif isinstance(block, TurnBlock):
            self._turn(painter, laid, block)
        self._decoration(painter, laid)
        if laid.document is not None:
            self._document(painter, laid, look)
        if 0 <= look.code < len(laid.codes):
            self._copy_button(painter, laid, look)
        if look.focused:
            box = QRectF(laid.left, 0, self._width - laid.left, laid.height - laid.gap)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.color("focus"), 2))
            painter.drawRoundedRect(box.adjusted(-5, -3, 5, 3), RADIUS + 2, RADIUS + 2)

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

    def _card(
        self, painter: QPainter, laid: Laid, ground: str, border: str, *, dashed: bool = False
    ) -> None:
        box = QRectF(laid.left, 0, self._width - laid.left, laid.height - laid.gap)
        pen = QPen(self._theme.color(border), 1)
        if dashed:
            pen.setDashPattern([4.0, 3.0])
        painter.setPen(pen)
        painter.setBrush(self._theme.color(ground))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)

    def _user(self, painter: QPainter, laid: Laid) -> None:
        self._card(painter, laid, "user_card", "user_card")
        self._label(painter, "You", "")

    def _label(self, painter: QPainter, name: str, state: str) -> None:
        font = self._bold(self._theme.small_font)
        self._text(painter, QPointF(PAD, PAD - 1), name, font, "muted")
        if state:
            wide = QFontMetricsF(font).horizontalAdvance(name)
            at = QPointF(PAD + wide, PAD - 1)
            self._text(painter, at, f"  ·  {state}", self._theme.small_font, "muted")

    def _tail(self, painter: QPainter, laid: Laid, message: TailMessage, look: Look) -> None:
        border = "danger" if message.state == "failed" else "strong_border"
        self._card(painter, laid, "surface", border, dashed=True)
        self._label(painter, "You", words.message_state(message.state))
        for hit in laid.hits:
            if hit is look.hovered:
                self._hover(painter, hit.rect)
            at = QPointF(hit.rect.left() + 6, hit.rect.top() + 4)
            self._text(painter, at, hit.action.value, self._theme.small_font, "link")
        if message.reason:
            at = QPointF(PAD, laid.height - laid.gap - PAD - self._layout.small_line)
            metrics = QFontMetricsF(self._theme.small_font)
            room = self._width - 2 * PAD
            text = metrics.elidedText(message.reason, Qt.TextElideMode.ElideRight, room)
            role = "danger" if message.state == "failed" else "muted"
            self._text(painter, at, text, self._theme.small_font, role)

    def _tool(self, painter: QPainter, row: Row, laid: Laid, block: ToolBlock, look: Look) -> None:
        waiting = block.state is ToolState.WAITING
        self._card(painter, laid, "raised", "danger" if waiting else "border")
        if laid.document is not None:
            painter.setPen(QPen(self._theme.color("border"), 1))
            y = laid.head - 0.5
            painter.drawLine(QPointF(laid.left + 1, y), QPointF(self._width - 1, y))
        middle = laid.head / 2
        left = laid.left + PAD
        chevron = "chevron-right" if row.unfolded is Unfolded.NO else "chevron-down"
        px = self._px
        self._icon(painter, chevron, QPointF(left - 2, middle), px(14), "muted")
        self._icon(painter, icon_name(block.name), QPointF(left + px(19), middle), px(16), "muted")
        right = self._tool_state(painter, block.state, middle)
        bold = self._bold(self._theme.font)
        name = title(block.name)
        left += px(44)
        top = middle - self._layout.line / 2
        self._text(painter, QPointF(left, top), name, bold, "text")
        left += QFontMetricsF(bold).horizontalAdvance(name) + px(12)
        mono = self._theme.mono_font
        metrics = QFontMetricsF(mono)
        head = metrics.elidedText(headline(block), _elide(block), max(0.0, right - left - 16))
        # On one base line with the name.
        base = top + QFontMetricsF(bold).ascent() - metrics.ascent()
        self._text(painter, QPointF(left, base), head, mono, "muted")
        for hit in laid.hits:
            if hit.action is Action.MORE:
                self._more(painter, laid.more, hit, look)

    def _more(self, painter: QPainter, text: str, hit: Hit, look: Look) -> None:
        if hit is look.hovered:
            self._hover(painter, hit.rect)
        self._icon(
            painter,
            "chevron-down",
            QPointF(hit.rect.left() + 5, hit.rect.center().y()),
            self._px(12),
            "link",
        )
        at = QPointF(hit.rect.left() + self._px(22), hit.rect.top() + 4)
        self._text(painter, at, text, self._theme.small_font, "link")

    def _tool_state(self, painter: QPainter, state: ToolState, middle: float) -> float:
        """The word and the sign at the right; answers where they begin."""
        small, role = self._theme.small_font, _TOOL_ROLES[state]
        text = STATES[state]
        left = self._width - PAD - QFontMetricsF(small).horizontalAdvance(text)
        self._text(painter, QPointF(left, middle - self._layout.small_line / 2), text, small, role)
        mark = _TOOL_ICONS.get(state)
        if mark:
            self._icon(painter, mark, QPointF(left - self._px(20), middle), self._px(14), role)
            return left - self._px(20)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color(role))
        radius = self._px(7) / 2
        painter.drawEllipse(QPointF(left - self._px(11), middle), radius, radius)
        return left - self._px(18)

    def _thinking(self, painter: QPainter, row: Row, laid: Laid, block: ThinkingBlock) -> None:
        middle = laid.head / 2
        chevron = "chevron-right" if row.unfolded is Unfolded.NO else "chevron-down"
        self._icon(painter, "thought", QPointF(laid.left, middle), self._px(16), "muted")
        text = "Thinking…" if block.streaming else "Thought for a moment"
        font = QFont(self._theme.font)
        font.setItalic(True)
        at = QPointF(laid.left + self._px(25), middle - self._layout.line / 2)
        self._text(painter, at, text, font, "muted")
        right = at.x() + QFontMetricsF(font).horizontalAdvance(text)
        self._icon(painter, chevron, QPointF(right + 6, middle), self._px(14), "muted")
        if laid.document is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("border"))
            bar = QRectF(
                laid.left + self._px(7), laid.head + 2, 2, laid.height - laid.gap - laid.head - 2
            )
            painter.drawRoundedRect(bar, 1, 1)

    def _notice(self, painter: QPainter, laid: Laid, block: NoticeBlock) -> None:
        if block.level is Level.INFO or laid.document is None:
            return
        role = "danger" if block.level is Level.ERROR else "warning"
        ink = laid.document.idealWidth()
        left = laid.at.x() + (laid.document.textWidth() - ink) / 2 - self._px(22)
        middle = laid.at.y() + self._layout.small_line / 2
        self._icon(painter, "warning", QPointF(max(0.0, left), middle), self._px(14), role)

    def _turn(self, painter: QPainter, laid: Laid, block: TurnBlock) -> None:
        if laid.document is not None:
            self._card(painter, laid, "danger_ground", "danger_ground")
            self._icon(
                painter,
                "warning",
                QPointF(PAD, PAD + self._layout.line / 2),
                self._px(18),
                "danger",
            )
            bold = self._bold(self._theme.font)
            at = QPointF(PAD + self._px(28), PAD)
            self._text(painter, at, words.turn(block), bold, "danger")
            return
        text = words.turn(block)
        small = self._theme.small_font
        wide = QFontMetricsF(small).horizontalAdvance(text)
        middle = round((laid.height - laid.gap) / 2) + 0.5
        left = round((self._width - wide) / 2)
        painter.setPen(QPen(self._theme.color("border"), 1))
        painter.drawLine(QPointF(0, middle), QPointF(left - 14, middle))
        painter.drawLine(QPointF(left + wide + 14, middle), QPointF(self._width, middle))
        at = QPointF(left, middle - self._layout.small_line / 2)
        self._text(painter, at, text, small, "muted")

    # -- around words -------------------------------------------------------------------------------

    def _decoration(self, painter: QPainter, laid: Laid) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("strong_border"))
        for bar in laid.quotes:
            painter.drawRoundedRect(bar, 1.5, 1.5)
        if laid.codes:
            painter.save()
            # A box that goes on in another row is cut at the edge of this one.
            painter.setClipRect(
                QRectF(-1, 0, self._width + 2, laid.height), Qt.ClipOperation.IntersectClip
            )
            painter.setPen(QPen(self._theme.color("border"), 1))
            painter.setBrush(self._theme.color("code_ground"))
            for box in laid.codes:
                painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
            painter.restore()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("muted"))
        for middle in laid.bullets:
            painter.drawEllipse(middle, 0.15 * self._px(16), 0.15 * self._px(16))
        for box, ticked in laid.checks:
            role = "accent" if ticked else "muted"
            painter.setPen(QPen(self._theme.color(role), 1.4))
            painter.setBrush(self._theme.color("accent" if ticked else "surface"))
            painter.drawRoundedRect(box.adjusted(0.7, 0.7, -0.7, -0.7), 3, 3)
            if ticked:
                size = int(box.width())
                self._icon(
                    painter, "check", QPointF(box.left(), box.center().y()), size, "on_accent"
                )

    def _copy_button(self, painter: QPainter, laid: Laid, look: Look) -> None:
        hit = [hit for hit in laid.hits if hit.action is Action.COPY][look.code]
        painter.setPen(QPen(self._theme.color("border"), 1))
        painter.setBrush(self._theme.color("hover" if hit is look.hovered else "raised"))
        painter.drawRoundedRect(hit.rect.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        name, role = ("check", "success") if look.copied else ("copy", "muted")
        size = self._px(16)
        at = QPointF(hit.rect.center().x() - size / 2, hit.rect.center().y())
        self._icon(painter, name, at, size, role)

    def _nest_line(self, painter: QPainter, laid: Laid) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("border"))
        painter.drawRect(QRectF(laid.left / 2 - 1, 0, 2, laid.height))

    # -- pieces -----------------------------------------------------------------------------------

    def _hover(self, painter: QPainter, box: QRectF) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("hover"))
        painter.drawRoundedRect(box, 5, 5)

    def _bold(self, font: QFont) -> QFont:
        bold = QFont(font)
        bold.setWeight(QFont.Weight.DemiBold)
        return bold

    def _text(self, painter: QPainter, at: QPointF, text: str, font: QFont, role: str) -> None:
        painter.setFont(font)
        painter.setPen(self._theme.color(role))
        painter.drawText(QPointF(at.x(), round(at.y() + QFontMetricsF(font).ascent())), text)

    def _icon(self, painter: QPainter, name: str, at: QPointF, size: int, role: str) -> None:
        """An icon whose left edge and vertical middle are at `at`."""
        box = QRectF(round(at.x()), round(at.y() - size / 2), size, size).toRect()
        icon(name, self._theme.color(role), size).paint(painter, box)


def _elide(block: ToolBlock) -> Qt.TextElideMode:
    """A path is known by its end, a command by its beginning."""
    if "file_path" in block.tool_input or "notebook_path" in block.tool_input:
        return Qt.TextElideMode.ElideMiddle
    return Qt.TextElideMode.ElideRight


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
