"""The transcript for screen readers: a list whose items are the parts of the chat (Rule G13)."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QPoint, QRect
from PySide6.QtGui import QAccessible, QAccessibleInterface, QColor
from PySide6.QtWidgets import QAccessibleWidget

if TYPE_CHECKING:
    from walnut_desktop.gui.transcript_view.view import TranscriptView

_views: weakref.WeakSet[Any] = weakref.WeakSet()
_made: dict[int, QAccessibleInterface] = {}
_state = {"installed": False}


class _Part(QAccessibleInterface):
    """One row."""

    def __init__(self, view: TranscriptView, number: int) -> None:
        super().__init__()
        self._view = weakref.ref(view)
        self._number = number

    def isValid(self) -> bool:
        view = self._view()
        return view is not None and self._number < len(view.surface.rows)

    def object(self) -> QObject | None:  # type: ignore[override]
        return None

    def childCount(self) -> int:
        return 0

    def child(self, _index: int) -> QAccessibleInterface | None:  # type: ignore[override]
        return None

    def childAt(self, _x: int, _y: int) -> QAccessibleInterface | None:  # type: ignore[override]
        return None

    def indexOfChild(self, _child: QAccessibleInterface) -> int:
        return -1

    def parent(self) -> QAccessibleInterface | None:  # type: ignore[override]
        view = self._view()
        return QAccessible.queryAccessibleInterface(view) if view is not None else None

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.ListItem

    def state(self) -> QAccessible.State:
        return QAccessible.State()

    def text(self, kind: QAccessible.Text) -> str:
        view = self._view()
        if kind != QAccessible.Text.Name or view is None or not self.isValid():
            return ""
        return view.surface.rows.rows[self._number].copy_text()

    def setText(self, _kind: QAccessible.Text, _text: str) -> None:
        """Read only."""

    def rect(self) -> QRect:
        view = self._view()
        spot = next((p for p in view.placed if p.number == self._number), None) if view else None
        if view is None or spot is None:
            return QRect()
        corner = view.viewport().mapToGlobal(QPoint(int(view.surface.left), int(spot.y)))
        return QRect(corner.x(), corner.y(), int(view.surface.layout.width), int(spot.laid.height))

    def foregroundColor(self) -> QColor:
        return QColor()

    def backgroundColor(self) -> QColor:
        return QColor()


class _List(QAccessibleWidget):
    """The whole transcript."""

    def __init__(self, view: TranscriptView) -> None:
        super().__init__(view, QAccessible.Role.List, "Transcript")
        self._view = weakref.ref(view)
        self._parts: dict[int, _Part] = {}

    def childCount(self) -> int:
        view = self._view()
        return len(view.surface.rows) if view is not None else 0

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]
        view = self._view()
        if view is None or not 0 <= index < len(view.surface.rows):
            return None
        return self._parts.setdefault(index, _Part(view, index))

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return next((n for n, part in self._parts.items() if part is child), -1)


def _factory(_class_name: str, thing: QObject) -> QAccessibleInterface | None:
    if thing not in _views:
        return None
    made = _List(thing)  # type: ignore[arg-type]
    _made[id(thing)] = made  # Qt does not keep the Python object
    return made


def announce_rows(view: TranscriptView) -> None:
    """Make the rows of a view readable; the factory is installed once (Qt can't take it back)."""
    _views.add(view)
    key = id(view)
    view.destroyed.connect(lambda: _made.pop(key, None))
    if not _state["installed"]:
        _state["installed"] = True
        QAccessible.installFactory(_factory)
