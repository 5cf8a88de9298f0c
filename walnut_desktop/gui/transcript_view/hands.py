"""What the mouse does with a transcript: choosing words, links, folding, copying code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QHelpEvent, QMouseEvent, QTextCursor
from PySide6.QtWidgets import QToolTip

from walnut_desktop.gui.transcript_view.layout import Action, Hit
from walnut_desktop.gui.transcript_view.markdown import is_safe_link
from walnut_desktop.gui.transcript_view.rows import Row
from walnut_desktop.gui.transcript_view.segments import fence_around
from walnut_desktop.gui.transcript_view.selection import Spot
from walnut_desktop.gui.transcript_view.surface import Placed
from walnut_desktop.transcript.blocks import TextBlock

if TYPE_CHECKING:
    from walnut_desktop.gui.transcript_view.view import TranscriptView

DRAG = 4
SCROLL_MS = 30
COPIED_MS = 1400
MOST_TIP = 300


class Hands(QObject):
    """Turns mouse events of the viewport into what the view can do."""

    def __init__(self, view: TranscriptView) -> None:
        super().__init__(view)
        self._view = view
        self._pressed: QPointF | None = None
        self._mouse = QPointF()
        self._dragged = False
        self._kept_words = False  # a double click chose a word: the release must not undo it
        self.hovered: tuple[Row, Hit] | None = None
        self.code: tuple[Row, int] | None = None  # the code box under the mouse
        self._copied = QTimer(self)
        self._copied.setSingleShot(True)
        self._copied.setInterval(COPIED_MS)
        self._copied.timeout.connect(view.viewport().update)
        self._scroll = QTimer(self)
        self._scroll.setInterval(SCROLL_MS)
        self._scroll.timeout.connect(self._drag_on)

    @property
    def just_copied(self) -> bool:
        """Whether the tick is shown instead of the copy sign."""
        return self._copied.isActive()

    def mouse(self, event: QEvent) -> bool:
        """Handle an event of the viewport; False leaves it to Qt."""
        kind = event.type()
        if kind == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            return self._tool_tip(event)
        if kind == QEvent.Type.Leave:
            self._hover(None)
            return False
        if not isinstance(event, QMouseEvent):
            return False
        if kind == QEvent.Type.MouseButtonPress:
            return self._press(event)
        if kind == QEvent.Type.MouseMove:
            return self._move(event)
        if kind == QEvent.Type.MouseButtonRelease:
            return self._release(event)
        if kind == QEvent.Type.MouseButtonDblClick:
            return self._double(event)
        return False

    # -- choosing -------------------------------------------------------------------------------------

    def _press(self, event: QMouseEvent) -> bool:
        self._view.setFocus(Qt.FocusReason.MouseFocusReason)
        if event.button() != Qt.MouseButton.LeftButton:
            return False
        self._pressed, self._dragged, self._kept_words = event.position(), False, False
        spot = self._spot(event.position())
        if spot is not None and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._view.selection.extend(spot)
            self._dragged = True
        elif spot is not None:
            self._view.selection.begin(spot)
        self._view.viewport().update()
        return True

    def _move(self, event: QMouseEvent) -> bool:
        self._mouse = event.position()
        if self._pressed is None or not event.buttons() & Qt.MouseButton.LeftButton:
            self._hover(event.position())
            return False
        if (event.position() - self._pressed).manhattanLength() > DRAG:
            self._dragged = True
        if self._dragged:
            self._extend(event.position())
            outside = not 0 <= event.position().y() < self._view.viewport().height()
            if outside and not self._scroll.isActive():
                self._scroll.start()
        return True

    def _extend(self, point: QPointF) -> None:
        spot = self._spot(point)
        if spot is not None:
            self._view.selection.extend(spot)
            self._view.viewport().update()

    def _drag_on(self) -> None:
        """The mouse is held outside: the text moves past it."""
        y, height = self._mouse.y(), self._view.viewport().height()
        over = y if y < 0 else y - height if y >= height else 0.0
        if self._pressed is None or not over:
            self._scroll.stop()
            return
        self._view.scroll_by(max(-60.0, min(60.0, over / 2)))
        self._extend(self._mouse)

    def _release(self, event: QMouseEvent) -> bool:
        if event.button() != Qt.MouseButton.LeftButton or self._pressed is None:
            return False
        self._pressed = None
        self._scroll.stop()
        if not self._dragged and not self._kept_words:
            self._view.selection.clear()
            self._click(event.position())
        self._view.viewport().update()
        return True

    def _double(self, event: QMouseEvent) -> bool:
        if event.button() != Qt.MouseButton.LeftButton:
            return False
        if self._hit(event.position()) is not None:
            return self._press(event)  # two quick clicks on something that acts are two clicks
        self._pressed, self._dragged = event.position(), False
        spot = self._spot(event.position())
        number = self._view.surface.rows.number_of(spot.row) if spot is not None else None
        document = self._view.surface.laid(number).document if number is not None else None
        if spot is None or document is None:
            return True
        cursor = QTextCursor(document)
        cursor.setPosition(spot.position)
        cursor.select(QTextCursor.SelectionType.WordUnderCursor)
        begin, end = cursor.selectionStart(), cursor.selectionEnd()
        self._view.selection.choose(Spot(spot.row, begin), Spot(spot.row, end))
        self._kept_words = True
        self._view.viewport().update()
        return True

    # -- clicking -------------------------------------------------------------------------------------

    def _click(self, point: QPointF) -> None:
        found = self._hit(point)
        if found is not None:
            self.act(*found)
            return
        href = self.link_at(point)
        if href:
            self._view.link_activated.emit(href)
            return
        placed = self._view.row_at(point)
        if placed is not None:
            self._view.focus.point(placed.number)

    def act(self, row: Row, hit: Hit) -> None:
        """Do what a place is for."""
        if hit.action is Action.COPY:
            QGuiApplication.clipboard().setText(self.whole_code(row, hit))
            self._copied.start()
            self._view.viewport().update()
            return
        number = self._view.surface.rows.number_of(row)
        if number is None:
            return
        if hit.action is Action.FOLD:
            self._view.focus.point(number)
            self._view.focus.toggle(number)
        elif hit.action is Action.MORE:
            self._view.focus.show_more(number)
        elif hit.action is Action.RETRY:
            self._view.retry_wanted.emit(row.key)
        else:
            self._view.discard_wanted.emit(row.key)

    def whole_code(self, row: Row, hit: Hit) -> str:
        """The code of a box, also of one that goes over several rows."""
        number = self._view.surface.rows.number_of(row)
        if number is None or row.span is None or not isinstance(row.block, TextBlock):
            return hit.text
        copies = [h for h in self._view.surface.laid(number).hits if h.action is Action.COPY]
        if row.joins and hit is copies[0]:
            return fence_around(row.block.text, row.span.begin)
        if row.joined and hit is copies[-1]:
            return fence_around(row.block.text, row.span.end)
        return hit.text

    # -- what is under the mouse ------------------------------------------------------------------------

    def _inside(self, placed: Placed, point: QPointF) -> QPointF:
        return QPointF(point.x() - self._view.surface.left, point.y() - placed.y)

    def _hit(self, point: QPointF) -> tuple[Row, Hit] | None:
        placed = self._view.row_at(point)
        if placed is None:
            return None
        inside = self._inside(placed, point)
        for hit in placed.laid.hits:
            if hit.rect.contains(inside):
                return self._view.surface.rows[placed.number], hit
        return None

    def _spot(self, point: QPointF) -> Spot | None:
        """The character at a point; the nearest one where there is none."""
        if not self._view.placed:
            return None
        placed = self._view.row_at(point)
        if placed is None:
            above = point.y() < self._view.placed[0].y
            placed = self._view.placed[0 if above else -1]
        row, document = self._view.surface.rows[placed.number], placed.laid.document
        if document is None:
            return Spot(row, 0 if point.y() < placed.y + placed.laid.height / 2 else 1)
        at = self._inside(placed, point) - placed.laid.at
        position = document.documentLayout().hitTest(at, Qt.HitTestAccuracy.FuzzyHit)
        return Spot(row, max(0, position))

    def link_at(self, point: QPointF) -> str:
        """The address of the link at a point; empty for none."""
        placed = self._view.row_at(point)
        if placed is None or placed.laid.document is None:
            return ""
        at = self._inside(placed, point) - placed.laid.at
        href = placed.laid.document.documentLayout().anchorAt(at)
        return href if href and is_safe_link(href) else ""

    def code_at(self, point: QPointF) -> tuple[Row, int] | None:
        """The code box at a point: its row and its number in it."""
        placed = self._view.row_at(point)
        if placed is None:
            return None
        inside = self._inside(placed, point)
        for number, box in enumerate(placed.laid.codes):
            if box.contains(inside):
                return self._view.surface.rows[placed.number], number
        return None

    def _hover(self, point: QPointF | None) -> None:
        hovered = self._hit(point) if point is not None else None
        code = self.code_at(point) if point is not None else None
        if point is not None:
            self._view.viewport().setCursor(self._shape(point, hovered))
        if hovered != self.hovered or code != self.code:
            self.hovered, self.code = hovered, code
            self._view.viewport().update()

    def _shape(self, point: QPointF, hovered: tuple[Row, Hit] | None) -> Qt.CursorShape:
        if hovered is not None or self.link_at(point):
            return Qt.CursorShape.PointingHandCursor
        placed = self._view.row_at(point)
        if placed is None or placed.laid.document is None:
            return Qt.CursorShape.ArrowCursor
        return Qt.CursorShape.IBeamCursor

    def _tool_tip(self, event: QHelpEvent) -> bool:
        point = QPointF(event.pos())
        found = self._hit(point)
        tip = self.link_at(point)
        if not tip and found is not None and found[1].action is Action.COPY:
            tip = Action.COPY.value
        if tip:
            shown = tip if len(tip) <= MOST_TIP else f"{tip[:MOST_TIP]}…"
            # Escaped, or an address with a tag in it would be read as rich text.
            shown = shown.replace("&", "&amp;").replace("<", "&lt;")
            QToolTip.showText(event.globalPos(), f"<span>{shown}</span>", self._view)
        else:
            QToolTip.hideText()
        return True
