"""Paints a row of the task list: mark of the phase, title, badges, state of the session, red dot.

Nothing is said by colour alone (Rule G13): each mark has a shape, the dot has a halo, states have words.
"""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from walnut_desktop.domain.phase import Phase
from walnut_desktop.domain.session import Session, SessionStatus
from walnut_desktop.domain.tree import Row
from walnut_desktop.gui.guard import never_raises
from walnut_desktop.gui.tasks.model import Role
from walnut_desktop.gui.theme import Theme
from walnut_desktop.gui.words import session_state

Index = QModelIndex | QPersistentModelIndex
INDENT = 20
MAX_DEPTH = 6


class Places(NamedTuple):
    """Where the parts of a row lie."""

    mark: QRectF
    text: QRect
    dot: QRectF


def places(rect: QRect, depth: int, metrics: QFontMetrics) -> Places:
    """The parts of a row; the mark is where a click completes the task."""
    side = metrics.height() * 0.95
    left = rect.left() + 14 + min(depth, MAX_DEPTH) * INDENT
    middle = rect.top() + rect.height() / 2
    mark = QRectF(left, middle - side / 2, side, side)
    dot = QRectF(rect.right() - 24, middle - 5, 10, 10)
    text_left = int(mark.right()) + 10
    text = QRect(text_left, rect.top(), max(0, int(dot.left()) - 8 - text_left), rect.height())
    return Places(mark, text, dot)


class TaskDelegate(QStyledItemDelegate):
    """One height for all rows, so that a changed row costs one row."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme: Theme | None = None

    def set_theme(self, theme: Theme) -> None:
        """Paint in these colours."""
        self._theme = theme

    @never_raises(QSize(100, 44))
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Room for a title and a second, smaller line."""
        return QSize(100, int(option.fontMetrics.height() * 2.5) + 8)

    @never_raises(None)
    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: Index
    ) -> None:
        """The editor stands where the title stood."""
        row = index.data(Role.ROW)
        place = places(option.rect, row.depth if isinstance(row, Row) else 0, option.fontMetrics)
        editor.setGeometry(place.text.adjusted(-6, 6, 8, -6))

    @never_raises(None)
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The whole row."""
        row, session, theme = index.data(Role.ROW), index.data(Role.SESSION), self._theme
        if not isinstance(row, Row) or theme is None:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._background(painter, option, theme)
        place = places(option.rect, row.depth, option.fontMetrics)
        self._mark(painter, place.mark, row.task.phase, theme)
        known = session if isinstance(session, Session) else None
        self._texts(painter, option, place.text, row, known, theme)
        if row.task.needs_attention and not row.task.is_done:
            self._dot(painter, place.dot, theme)
        painter.restore()

    def _background(self, painter: QPainter, option: QStyleOptionViewItem, theme: Theme) -> None:
        box = QRectF(option.rect).adjusted(6, 1, -6, -1)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("selection"))
            painter.drawRoundedRect(box, 8, 8)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("hover"))
            painter.drawRoundedRect(box, 8, 8)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("focus"), 2))
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 7, 7)

    def _mark(self, painter: QPainter, box: QRectF, phase: str, theme: Theme) -> None:
        """○ to do, ◐ in progress, ◍ needs you, ✓ done: a shape for each."""
        ring = box.adjusted(1.5, 1.5, -1.5, -1.5)
        colour = theme.color(_PHASE_COLOURS.get(phase, "muted"))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colour, 1.6))
        painter.drawEllipse(ring)
        if phase == Phase.IN_PROGRESS.value:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawPie(ring.adjusted(3, 3, -3, -3), 90 * 16, -180 * 16)
        elif phase in (Phase.AGENT_COMPLETE.value, Phase.AWAIT_HUMAN_ACTION.value):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawEllipse(ring.adjusted(4, 4, -4, -4))
        elif phase != Phase.TODO.value:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawEllipse(ring)
            self._tick(painter, ring, theme.color("surface"))

    def _tick(self, painter: QPainter, ring: QRectF, colour: QColor) -> None:
        pen = QPen(colour, 1.8, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        x, y, side = ring.left(), ring.top(), ring.width()
        points = [(0.28, 0.52), (0.44, 0.67), (0.73, 0.36)]
        painter.drawPolyline([QPointF(x + side * a, y + side * b) for a, b in points])

    def _texts(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        room: QRect,
        row: Row,
        session: Session | None,
        theme: Theme,
    ) -> None:
        small = QFont(option.font)
        small.setPointSizeF(option.font.pointSizeF() * 0.86)
        title_font = QFont(option.font)
        if row.task.needs_attention:
            title_font.setWeight(QFont.Weight.DemiBold)
        second = self._second_line(row, session)
        metrics, small_metrics = QFontMetrics(title_font), QFontMetrics(small)
        total = metrics.height() + (small_metrics.height() + 2 if second else 0)
        top = room.top() + (room.height() - total) // 2
        painter.setFont(title_font)
        painter.setPen(theme.color("muted" if row.task.is_done else "text"))
        line = QRect(room.left(), top, room.width(), metrics.height())
        title = metrics.elidedText(row.task.title, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, title)
        if not second:
            return
        painter.setFont(small)
        painter.setPen(theme.color(self._second_colour(session)))
        under = QRect(room.left(), line.bottom() + 2, room.width(), small_metrics.height())
        text = small_metrics.elidedText(second, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(under, Qt.AlignmentFlag.AlignVCenter, text)

    def _second_line(self, row: Row, session: Session | None) -> str:
        parts = []
        if row.depth:
            parts.append("└ child")
        if row.children:
            parts.append(f"{row.children} sub")
        state = session_state(session)
        if state and not row.task.is_done:
            parts.append(state)
        return "  ·  ".join(parts)

    def _second_colour(self, session: Session | None) -> str:
        if session is None:
            return "muted"
        if session.status is SessionStatus.ERROR:
            return "danger"
        if session.pending:
            return "danger"
        return "success" if session.is_busy else "muted"

    def _dot(self, painter: QPainter, box: QRectF, theme: Theme) -> None:
        halo = QColor(theme.color("danger"))
        halo.setAlpha(60)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(halo)
        painter.drawEllipse(box.adjusted(-3, -3, 3, 3))
        painter.setBrush(theme.color("danger"))
        painter.drawEllipse(box)


_PHASE_COLOURS = {
    Phase.TODO.value: "muted",
    Phase.IN_PROGRESS.value: "accent",
    Phase.AGENT_COMPLETE.value: "accent",
    Phase.AWAIT_HUMAN_ACTION.value: "accent",
    Phase.HUMAN_VERIFIED.value: "success",
    Phase.POST_WORK_COMPLETED.value: "success",
    Phase.COMPLETE.value: "success",
}
