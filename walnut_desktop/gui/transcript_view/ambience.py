"""What a transcript shows beside its rows: the words of an empty one, the calm line of a busy one, the way
back to the end, and the sign that older parts are coming."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QPushButton

from walnut_desktop.gui.icon import icon
from walnut_desktop.gui.theme import Theme
from walnut_desktop.gui.transcript_view.surface import TOP

if TYPE_CHECKING:
    from walnut_desktop.gui.transcript_view.view import TranscriptView

BUSY_MS = 450
DOTS = 3
LOADING = "Loading earlier messages…"


class Ambience(QObject):
    """Paints for a view. The dots move only while somebody can see them."""

    def __init__(self, view: TranscriptView) -> None:
        super().__init__(view)
        self._view = view
        self._placeholder = ("", "")
        self._busy = ""
        self._step = 0
        self._timer = QTimer(self)
        self._timer.setInterval(BUSY_MS)
        self._timer.timeout.connect(self._tick)
        self.jump = QPushButton(" Jump to latest", view.viewport())
        self.jump.setObjectName("jump")
        self.jump.setToolTip("Go to the end and follow it (End)")
        self.jump.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the key for it is End
        self.jump.setCursor(Qt.CursorShape.PointingHandCursor)
        self.jump.clicked.connect(view.scroll_to_bottom)
        self.jump.hide()

    def set_theme(self, theme: Theme) -> None:
        """The button in the theme's colours; the rest is painted anew anyway."""
        self.jump.setIcon(icon("arrow-down", theme.color("on_accent"), theme.px(14)))
        self.jump.setIconSize(QSize(theme.px(14), theme.px(14)))
        round_by = round(self._view.surface.layout.line)
        self.jump.setStyleSheet(
            f"QPushButton#jump {{ background: {theme.color('accent').name()};"
            f" color: {theme.color('on_accent').name()}; border: none;"
            f" border-radius: {round_by}px; padding: 0 {round_by}px; min-height: {2 * round_by}px;"
            f" font-weight: 600; }} QPushButton#jump:hover {{"
            f" background: {theme.color('accent_hover').name()}; }}"
        )

    # -- the way back ---------------------------------------------------------------------------------

    def something_new(self) -> None:
        """There is news below, and the person reads above."""
        self.jump.show()
        self.place_jump()

    def nothing_new(self) -> None:
        """The end is on screen."""
        self.jump.hide()

    def place_jump(self) -> None:
        """At the lower edge, in the middle."""
        if self.jump.isVisible():
            self.jump.adjustSize()
            area = self._view.viewport()
            left = (area.width() - self.jump.width()) // 2
            self.jump.move(left, area.height() - self.jump.height() - 16)

    # -- empty, busy, loading -------------------------------------------------------------------------

    def set_placeholder(self, title: str, text: str) -> None:
        """The words of an empty transcript."""
        if (title, text) != self._placeholder:
            self._placeholder = (title, text)
            self._view.viewport().update()

    def set_busy(self, text: str) -> bool:
        """The words of the busy line, empty for none; False when they are the same as before."""
        if text == self._busy:
            return False
        self._busy = text
        self.wake()
        return True

    @property
    def busy_room(self) -> float:
        """The height that the busy line needs below the last row."""
        return round(self._view.surface.layout.line * 2) if self._busy else 0.0

    def top_room(self, *, more: bool) -> float:
        """The height that is free above the first row."""
        return TOP + (round(self._view.surface.layout.line * 2) if more else 0)

    def wake(self) -> None:
        """The view is seen, or not any more."""
        if self._busy and self._view.isVisible():
            self._timer.start()
        else:
            self._timer.stop()

    def _tick(self) -> None:
        self._step += 1
        box = self._busy_box()
        if box is not None:
            self._view.viewport().update(box.toAlignedRect())

    def _busy_box(self) -> QRectF | None:
        """Where the busy line is; None when the end is not on screen."""
        surface, placed = self._view.surface, self._view.placed
        if len(surface.rows) and (not placed or placed[-1].number != len(surface.rows) - 1):
            return None
        bottom = placed[-1].bottom if placed else TOP
        return QRectF(surface.left, bottom + 2, surface.layout.width, surface.layout.line * 1.6)

    def paint(self, painter: QPainter, *, more_above: bool) -> None:
        """The lines before and after the rows."""
        view = self._view
        if more_above and view.placed and view.placed[0].number == 0:
            painter.setFont(view.theme.small_font)
            painter.setPen(view.theme.color("muted"))
            line = view.surface.layout.line * 2
            box = QRectF(0, view.placed[0].y - line - 4, view.viewport().width(), line)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, LOADING)
        box_or_none = self._busy_box() if self._busy else None
        if box_or_none is not None:
            self._paint_busy(painter, box_or_none)

    def _paint_busy(self, painter: QPainter, box: QRectF) -> None:
        theme = self._view.theme
        painter.setPen(Qt.PenStyle.NoPen)
        for number in range(DOTS):
            colour = theme.color("accent")
            colour.setAlphaF(1.0 if number == self._step % DOTS else 0.3)
            painter.setBrush(colour)
            at = QPointF(box.left() + 4 + number * theme.px(10), round(box.center().y()))
            painter.drawEllipse(at, theme.px(6) / 2, theme.px(6) / 2)
        painter.setFont(theme.font)
        painter.setPen(theme.color("muted"))
        words = box.adjusted(theme.px(38), 0, 0, 0)
        metrics = QFontMetricsF(theme.font)
        text = metrics.elidedText(self._busy, Qt.TextElideMode.ElideRight, words.width())
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)

    def paint_placeholder(self, painter: QPainter) -> None:
        """A title and a few words in the middle, under a quiet drawing."""
        view, (title, text) = self._view, self._placeholder
        if not title and not text:
            return
        area = QRectF(view.viewport().rect())
        line = view.surface.layout.line
        box = QRectF(area.left() + 40, area.center().y() - line * 3, area.width() - 80, line * 2)
        size = round(line * 3.6)
        colour = view.theme.color("strong_border")
        drawing = icon("kernel", colour, size)
        left = round(area.center().x() - size / 2)
        drawing.paint(painter, left, round(box.bottom() - line * 1.9 - size), size, size)
        font = QFont(view.theme.font)
        font.setPointSizeF(font.pointSizeF() * 1.25)
        font.setWeight(QFont.Weight.DemiBold)
        painter.setFont(font)
        painter.setPen(view.theme.color("text"))
        painter.drawText(box, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom, title)
        painter.setFont(view.theme.font)
        painter.setPen(view.theme.color("muted"))
        wide = min(area.width() - 80, line * 28)
        under = QRectF(area.center().x() - wide / 2, box.bottom() + 8, wide, line * 8)
        flags = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap
        painter.drawText(under, int(flags), text)
