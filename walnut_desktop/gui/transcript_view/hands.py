"""What the person does with a transcript: mouse and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import (
    QAction,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QTextCursor,
)
from PySide6.QtWidgets import QMenu, QToolTip

from walnut_desktop.gui.transcript_view.markdown import is_safe_link
from walnut_desktop.gui.transcript_view.rows import Row, TailMessage
from walnut_desktop.gui.transcript_view.selection import Spot
from walnut_desktop.gui.transcript_view.surface import Placed
from walnut_desktop.gui.transcript_view.whole_text import WholeText
from walnut_desktop.transcript.blocks import TextBlock, ThinkingBlock, ToolBlock

if TYPE_CHECKING:
    from walnut_desktop.gui.transcript_view.view import TranscriptView

DRAG = 4


class Hands(QObject):
    """Turns events into what the view can do."""

    def __init__(self, view: TranscriptView) -> None:
        super().__init__(view)
        self._view = view
        self._pressed: QPointF | None = None
        self._dragged = False
        self._menu = QMenu(view)
        self._windows: list[WholeText] = []

    # -- mouse ----------------------------------------------------------------------------------------

    def mouse(self, event: QEvent) -> bool:
        """Handle a mouse event of the viewport; False leaves it to Qt."""
        kind = event.type()
        if kind == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            return self._tool_tip(event)
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

    def _press(self, event: QMouseEvent) -> bool:
        self._view.setFocus()
        if event.button() == Qt.MouseButton.RightButton:
            self._show_menu(event)
            return True
        if event.button() != Qt.MouseButton.LeftButton:
            return False
        self._pressed, self._dragged = event.position(), False
        spot = self._spot(event.position())
        if spot is not None:
            self._view.selection.begin(spot)
        self._view.viewport().update()
        return True

    def _move(self, event: QMouseEvent) -> bool:
        if self._pressed is not None and event.buttons() & Qt.MouseButton.LeftButton:
            if (event.position() - self._pressed).manhattanLength() > DRAG:
                self._dragged = True
            spot = self._spot(event.position())
            if self._dragged and spot is not None:
                self._view.selection.extend(spot)
                self._view.viewport().update()
            return True
        self._view.viewport().setCursor(self._cursor(event.position()))
        return False

    def _release(self, event: QMouseEvent) -> bool:
        if event.button() != Qt.MouseButton.LeftButton or self._pressed is None:
            return False
        self._pressed = None
        if not self._dragged:
            self._view.selection.clear()
            self._click(event.position())
        self._view.viewport().update()
        return True

    def _click(self, point: QPointF) -> None:
        placed = self._view.row_at(point)
        if placed is None:
            return
        inside = self._inside(placed, point)
        row = self._view.surface.rows.rows[placed.number]
        for hit in placed.laid.hits:
            if hit.rect.contains(inside):
                self._act(hit.action, placed.number, row)
                return
        href = self.link_at(point)
        if href:
            self._view.link_activated.emit(href)
            return
        self._view.focused = placed.number

    def _act(self, action: str, number: int, row: Row) -> None:
        if action == "fold":
            self._view.focused = number
            self._view.toggle(number)
        elif action == "more":
            self._view.show_more(number)
        elif isinstance(row.block, TailMessage):
            wish = self._view.retry_wanted if action == "retry" else self._view.discard_wanted
            wish.emit(row.block.id)

    def _double(self, event: QMouseEvent) -> bool:
        spot = self._spot(event.position())
        document = self._view.surface.laid(spot.row).document if spot else None
        if spot is None or document is None:
            return False
        cursor = QTextCursor(document)
        cursor.setPosition(spot.position)
        cursor.select(QTextCursor.SelectionType.WordUnderCursor)
        self._view.selection.choose(
            Spot(spot.row, cursor.selectionStart()), Spot(spot.row, cursor.selectionEnd())
        )
        self._view.viewport().update()
        return True

    def _inside(self, placed: Placed, point: QPointF) -> QPointF:
        return QPointF(point.x() - self._view.surface.left, point.y() - placed.y)

    def _spot(self, point: QPointF) -> Spot | None:
        """The character at a point; the nearest one where there is none."""
        placed = self._view.row_at(point)
        if placed is None:
            if not self._view.placed:
                return None
            placed = (
                self._view.placed[0]
                if point.y() < self._view.placed[0].y
                else self._view.placed[-1]
            )
        document = placed.laid.document
        if document is None:
            return Spot(placed.number, 0)
        at = self._inside(placed, point) - placed.laid.at
        position = document.documentLayout().hitTest(at, Qt.HitTestAccuracy.FuzzyHit)
        return Spot(placed.number, max(0, position))

    def link_at(self, point: QPointF) -> str:
        """The address of the link at a point; empty for none."""
        placed = self._view.row_at(point)
        if placed is None or placed.laid.document is None:
            return ""
        at = self._inside(placed, point) - placed.laid.at
        href = placed.laid.document.documentLayout().anchorAt(at)
        return href if href and is_safe_link(href) else ""

    def _cursor(self, point: QPointF) -> Qt.CursorShape:
        placed = self._view.row_at(point)
        if placed is None:
            return Qt.CursorShape.ArrowCursor
        inside = self._inside(placed, point)
        if self.link_at(point) or any(hit.rect.contains(inside) for hit in placed.laid.hits):
            return Qt.CursorShape.PointingHandCursor
        return Qt.CursorShape.IBeamCursor if placed.laid.document else Qt.CursorShape.ArrowCursor

    def _tool_tip(self, event: QHelpEvent) -> bool:
        href = self.link_at(QPointF(event.pos()))
        if href:
            shown = href if len(href) < 300 else href[:300] + "…"
            QToolTip.showText(event.globalPos(), shown, self._view)
        else:
            QToolTip.hideText()
        return True

    def _show_menu(self, event: QMouseEvent) -> None:
        self._menu.clear()
        placed = self._view.row_at(event.position())
        chosen = bool(self._view.selection.span)
        self._item("Copy", "Ctrl+C", self.copy, enabled=chosen)
        if placed is not None:
            row = self._view.surface.rows.rows[placed.number]
            kind = _KINDS.get(type(row.block), "this part")
            self._item(f"Copy {kind}", "", lambda: self._put(self._whole(row)), enabled=True)
        self._item("Select all", "Ctrl+A", self._view.select_all, enabled=True)
        self._menu.popup(event.globalPosition().toPoint())

    def _item(self, text: str, keys: str, slot: object, *, enabled: bool) -> None:
        action = QAction(text, self._menu)
        action.setShortcut(QKeySequence(keys))
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.setEnabled(enabled)
        action.triggered.connect(slot)
        self._menu.addAction(action)

    # -- keys -----------------------------------------------------------------------------------------

    def key(self, event: QEvent) -> bool:
        """Handle a key; False leaves it to Qt."""
        if not isinstance(event, QKeyEvent):
            return False
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
            return True
        if event.matches(QKeySequence.StandardKey.SelectAll):
            self._view.select_all()
            return True
        key, plain = event.key(), not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        page = self._view.viewport().height() * 0.9
        steps = {
            Qt.Key.Key_Up: -48.0,
            Qt.Key.Key_Down: 48.0,
            Qt.Key.Key_PageUp: -page,
            Qt.Key.Key_PageDown: page,
        }
        if plain and key in steps:
            self._view.scroll_by(steps[Qt.Key(key)])
        elif plain and key == Qt.Key.Key_Home:
            self._view.verticalScrollBar().setValue(0)
        elif plain and key == Qt.Key.Key_End:
            self._view.scroll_to_bottom()
        elif plain and key in (Qt.Key.Key_J, Qt.Key.Key_K):
            self._step(1 if key == Qt.Key.Key_J else -1)
        elif plain and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            return self._enter()
        elif plain and key == Qt.Key.Key_Escape and self._view.selection.span:
            self._view.clear_selection()
        else:
            return False
        return True

    def _step(self, by: int) -> None:
        count = len(self._view.surface.rows)
        if not count:
            return
        now = self._view.focused
        if now is None:
            visible = self._view.placed
            now = (visible[0].number if by > 0 else visible[-1].number) - by if visible else -by
        self._view.focus_row(max(0, min(count - 1, now + by)))

    def _enter(self) -> bool:
        number = self._view.focused
        if number is None or number >= len(self._view.surface.rows):
            return False
        self._view.toggle(number)
        return True

    def copy(self) -> None:
        """The chosen words, or the focused part, into the clipboard."""
        text = self._view.selected_text()
        if text:
            self._put(text)

    def _whole(self, row: Row) -> str:
        return row.block.text if isinstance(row.block, TextBlock) else row.copy_text()

    def _put(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)

    def open_whole(self, row: Row) -> None:
        """All of a very long output in a window of its own."""
        if isinstance(row.block, ToolBlock):
            window = WholeText(row.block.name, row.block.result, self._view)
            window.destroyed.connect(self._windows.clear)
            self._windows.append(window)
            window.show()


_KINDS: dict[type, str] = {
    TextBlock: "the answer",
    ThinkingBlock: "the thought",
    ToolBlock: "call and output",
    TailMessage: "the message",
}
