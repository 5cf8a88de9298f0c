"""The transcript for screen readers: a list whose items are the parts of the chat (Rule G13).

Qt asks a factory for the interface of a widget and does not keep the Python object: we do.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QPoint, QRect
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleEvent,
    QAccessibleInterface,
    QColor,
)
from PySide6.QtWidgets import QAccessibleWidget

from walnut_desktop.gui.guard import never_raises
from walnut_desktop.gui.transcript_view import words
from walnut_desktop.gui.transcript_view.rows import Row, TailMessage
from walnut_desktop.gui.transcript_view.tool_text import STATES
from walnut_desktop.transcript.blocks import (
    NoticeBlock,
    ThinkingBlock,
    ToolBlock,
    TurnBlock,
    UserBlock,
)

if TYPE_CHECKING:
    from walnut_desktop.gui.transcript_view.view import TranscriptView

MOST_SPOKEN = 4000
_views: weakref.WeakSet[Any] = weakref.WeakSet()
_made: dict[int, QAccessibleInterface] = {}
_state = {"installed": False}


def spoken(row: Row) -> str:
    """A row in words: who or what, how it stands, and what it says."""
    block, text = row.block, row.copy_text()
    if isinstance(block, TailMessage):
        reason = f" {block.reason}" if block.reason else ""
        text = f"You, {words.message_state(block.state).lower()}:{reason} {text}"
    elif isinstance(block, UserBlock):
        text = f"You: {text}"
    elif isinstance(block, ThinkingBlock):
        text = f"Thought: {text}"
    elif isinstance(block, ToolBlock):
        text = f"{STATES[block.state]}: {text}"
    elif isinstance(block, TurnBlock):
        text = f"{words.turn(block)} {text}".strip()
    elif isinstance(block, NoticeBlock):
        text = f"Notice: {text}"
    elif not row.piece:
        text = f"Agent: {text}"
    return text[:MOST_SPOKEN]


class _Part(QAccessibleInterface):
    """One row. It follows the row, not its number."""

    def __init__(self, view: TranscriptView, row: Row) -> None:
        super().__init__()
        self._view = weakref.ref(view)
        self._row = weakref.ref(row)

    def number(self) -> int | None:
        """Where the row is now."""
        view, row = self._view(), self._row()
        return view.surface.rows.number_of(row) if view is not None and row is not None else None

    @never_raises(fallback=False)
    def isValid(self) -> bool:
        """Whether the row is still there."""
        return self.number() is not None

    @never_raises(None)
    def object(self) -> QObject | None:  # type: ignore[override]
        """Rows are no objects."""
        return None

    @never_raises(0)
    def childCount(self) -> int:
        """Rows have no parts of their own."""
        return 0

    @never_raises(None)
    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]
        """None."""
        return None

    @never_raises(None)
    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]
        """None."""
        return None

    @never_raises(-1)
    def indexOfChild(self, child: QAccessibleInterface) -> int:
        """None is."""
        return -1

    @never_raises(None)
    def parent(self) -> QAccessibleInterface | None:  # type: ignore[override]
        """The list."""
        view = self._view()
        return QAccessible.queryAccessibleInterface(view) if view is not None else None

    @never_raises(QAccessible.Role.ListItem)
    def role(self) -> QAccessible.Role:
        """An item of a list."""
        return QAccessible.Role.ListItem

    @never_raises(fallback=QAccessible.State())
    def state(self) -> QAccessible.State:
        """Whether it has the keyboard, and whether it is unfolded."""
        state = QAccessible.State()
        view, number = self._view(), self.number()
        state.focusable = True
        state.readOnly = True
        if view is not None and number is not None:
            state.focused = view.hasFocus() and view.focus.number() == number
            state.offscreen = self._rect(view, number) is None
        row = self._row()
        if row is not None and row.foldable:
            state.expandable = True
            unfolded = bool(row.unfolded.value)
            state.expanded = unfolded
            state.collapsed = not unfolded
        return state

    @never_raises("")
    def text(self, kind: QAccessible.Text) -> str:
        """The row in words."""
        row = self._row()
        return spoken(row) if row is not None and kind == QAccessible.Text.Name else ""

    @never_raises(None)
    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """Read only."""

    @never_raises(fallback=QRect())
    def rect(self) -> QRect:
        """Where it is on the desktop; empty while it is not on screen."""
        view, number = self._view(), self.number()
        if view is None or number is None:
            return QRect()
        return self._rect(view, number) or QRect()

    def _rect(self, view: TranscriptView, number: int) -> QRect | None:
        spot = next((p for p in view.placed if p.number == number), None)
        if spot is None:
            return None
        corner = view.viewport().mapToGlobal(QPoint(int(view.surface.left), int(spot.y)))
        return QRect(corner.x(), corner.y(), int(view.surface.layout.width), int(spot.laid.height))

    @never_raises(fallback=QColor())
    def foregroundColor(self) -> QColor:
        """Not said."""
        return QColor()

    @never_raises(fallback=QColor())
    def backgroundColor(self) -> QColor:
        """Not said."""
        return QColor()


class _List(QAccessibleWidget):
    """The whole transcript."""

    def __init__(self, view: TranscriptView) -> None:
        super().__init__(view, QAccessible.Role.List, "Transcript")
        self._view = weakref.ref(view)
        self._parts: weakref.WeakKeyDictionary[Row, _Part] = weakref.WeakKeyDictionary()
        self._kept: list[_Part] = []  # Qt may ask a part as long as it lives

    @never_raises(0)
    def childCount(self) -> int:
        """How many rows there are."""
        view = self._view()
        return len(view.surface.rows) if view is not None else 0

    @never_raises(None)
    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]
        """A row."""
        view = self._view()
        if view is None or not 0 <= index < len(view.surface.rows):
            return None
        row = view.surface.rows[index]
        part = self._parts.get(row)
        if part is None:
            part = self._parts[row] = _Part(view, row)
            self._kept.append(part)
        return part

    @never_raises(None)
    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]
        """The row at a point of the desktop."""
        view = self._view()
        if view is None:
            return None
        spot = view.row_at(view.viewport().mapFromGlobal(QPoint(x, y)))
        return self.child(spot.number) if spot is not None else None

    @never_raises(None)
    def focusChild(self) -> QAccessibleInterface | None:  # type: ignore[override]
        """The row that has the keyboard."""
        view = self._view()
        number = view.focus.number() if view is not None and view.hasFocus() else None
        return self.child(number) if number is not None else None

    @never_raises(-1)
    def indexOfChild(self, child: QAccessibleInterface) -> int:
        """The number of a row."""
        number = child.number() if isinstance(child, _Part) else None
        return -1 if number is None else number


def _factory(_class_name: str, thing: QObject) -> QAccessibleInterface | None:
    if thing not in _views:
        return None
    made = _List(thing)  # type: ignore[arg-type]
    _made[id(thing)] = made
    return made


def announce_rows(view: TranscriptView) -> None:
    """Make the rows of a view readable; the factory is installed once (Qt can't take it back)."""
    _views.add(view)
    key = id(view)
    view.destroyed.connect(lambda: _made.pop(key, None))
    if not _state["installed"]:
        _state["installed"] = True
        QAccessible.installFactory(_factory)


def tell_focus(view: TranscriptView, number: int) -> None:
    """A screen reader reads the row that the keyboard went to."""
    if QAccessible.isActive():
        event = QAccessibleEvent(view, QAccessible.Event.Focus)
        event.setChild(number)
        QAccessible.updateAccessibility(event)


def tell_turn(view: TranscriptView, block: TurnBlock) -> None:
    """The end of a turn is said once, not every word of it."""
    if QAccessible.isActive():
        text = f"{words.turn(block)} {block.text}".strip()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(view, text))
