"""What a transcript shows beside its rows: the words of an empty one, and the calm line of a busy one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

if TYPE_CHECKING:
    from walnut_desktop.gui.transcript_view.view import TranscriptView

BUSY_MS = 420
DOTS = 3


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
        return self._view.surface.layout.line * 2 if self._busy else 0.0

    def wake(self) -> None:
        """The view is seen, or not any more."""
        if self._busy and self._view.isVisible():
            self._timer.start()
        else:
            self._timer.stop()

    def _tick(self) -> None:
        self._step += 1
        self._view.viewport().update(self._busy_box().toAlignedRect())

    def _busy_box(self) -> QRectF:
        surface, placed = self._view.surface, self._view.placed
        bottom = placed[-1].y + placed[-1].laid.height if placed else 18.0
        return QRectF(surface.left, bottom + 6, surface.layout.width, surface.layout.line * 1.4)

    def paint_busy(self, painter: QPainter) -> None:
        """The line, when the end of the transcript is on screen."""
        view = self._view
        if not self._busy or (view.placed and view.placed[-1].number != len(view.surface.rows) - 1):
            return
        box = self._busy_box()
        for number in range(DOTS):
            colour = view.theme.color("accent")
            colour.setAlphaF(1.0 if number == self._step % DOTS else 0.35)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawEllipse(QPointF(box.left() + 5 + number * 11, box.center().y()), 3.0, 3.0)
        painter.setFont(view.theme.font)
        painter.setPen(view.theme.color("muted"))
        words = QRectF(box.left() + 40, box.top(), box.width() - 40, box.height())
        metrics = QFontMetricsF(view.theme.font)
        text = metrics.elidedText(self._busy, Qt.TextElideMode.ElideRight, words.width())
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)

    def paint_placeholder(self, painter: QPainter) -> None:
        """A title and a few words in the middle."""
        view, (title, text) = self._view, self._placeholder
        area = QRectF(view.viewport().rect())
        line = view.surface.layout.line
        box = QRectF(area.left() + 40, area.center().y() - line * 3, area.width() - 80, line * 2)
        font = QFont(view.theme.font)
        font.setPointSizeF(font.pointSizeF() * 1.25)
        font.setWeight(QFont.Weight.DemiBold)
        painter.setFont(font)
        painter.setPen(view.theme.color("text"))
        painter.drawText(box, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom, title)
        painter.setFont(view.theme.font)
        painter.setPen(view.theme.color("muted"))
        wide = min(area.width() - 80, line * 26)
        under = QRectF(area.center().x() - wide / 2, box.bottom() + 8, wide, line * 6)
        flags = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap
        painter.drawText(under, int(flags), text)
