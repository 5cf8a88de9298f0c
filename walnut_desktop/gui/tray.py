"""The icon in the tray (Rule G2): its state is drawn, not only coloured; everything is in its menu."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QRectF, Qt, Signal
from PySide6.QtGui import QAction, QColor, QFont, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from walnut_desktop.domain.task import Task
from walnut_desktop.gui.icon import app_icon
from walnut_desktop.gui.words import counts_line

MAX_LISTED = 8


def draw_icon(waiting: int, working: int) -> QIcon:
    """The walnut, with a numbered badge when tasks need the person, or a ring while sessions work."""
    icon = QIcon()
    for size in (22, 32, 44, 64):
        pixmap = QPixmap(size, size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.drawPixmap(0, 0, app_icon().pixmap(size, size))
        if waiting:
            _badge(painter, size, str(waiting) if waiting < 10 else "9+")
        elif working:
            _dot(painter, size)
        painter.end()
        icon.addPixmap(pixmap)
    return icon


def _badge(painter: QPainter, size: int, text: str) -> None:
    side = size * 0.6
    box = QRectF(size - side, size - side, side, side)
    painter.setPen(QColor("#ffffff"))
    painter.setBrush(QColor("#c8321f"))
    painter.drawEllipse(box.adjusted(0.5, 0.5, -0.5, -0.5))
    font = QFont(painter.font())
    font.setPixelSize(int(side * (0.72 if len(text) == 1 else 0.55)))
    font.setBold(True)
    painter.setFont(font)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def _dot(painter: QPainter, size: int) -> None:
    side = size * 0.36
    box = QRectF(size - side, size - side, side, side).adjusted(0.5, 0.5, -0.5, -0.5)
    painter.setPen(QColor("#ffffff"))
    painter.setBrush(QColor("#2f7d4f"))
    painter.drawEllipse(box)


class Tray(QObject):
    """The icon, its tool tip and its menu. It belongs to the application, not to the window."""

    open_wanted = Signal()
    task_wanted = Signal(str)
    quit_wanted = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._menu = QMenu()  # kept: Qt does not own a tray's menu
        self.icon = QSystemTrayIcon(self)
        self.icon.setContextMenu(self._menu)
        self.icon.activated.connect(self._on_activated)
        self._state: tuple[int, int, tuple[str, ...]] | None = None
        self.update_state([], 0)

    def is_available(self) -> bool:
        """Whether the desktop shows tray icons (some don't)."""
        return QSystemTrayIcon.isSystemTrayAvailable()

    def show(self) -> None:
        """Appear."""
        self.icon.show()

    def hide(self) -> None:
        """Go before the app does: some panels keep a ghost otherwise."""
        self.icon.hide()

    def update_state(self, waiting: Sequence[Task], working: int) -> None:
        """Say how many tasks need the person and how many sessions work."""
        state = (len(waiting), working, tuple(f"{task.id}{task.title}" for task in waiting))
        if state == self._state:
            return
        self._state = state
        self.icon.setIcon(draw_icon(len(waiting), working))
        self.icon.setToolTip(f"Walnut Desktop: {counts_line(len(waiting), working)}")
        self._fill_menu(waiting, working)

    def _fill_menu(self, waiting: Sequence[Task], working: int) -> None:
        self._menu.clear()
        self._add("Open Walnut", self.open_wanted.emit)
        self._menu.addSeparator()
        head = self._add(counts_line(len(waiting), working), None)
        head.setEnabled(False)
        for task in waiting[:MAX_LISTED]:
            title = task.title if len(task.title) <= 48 else task.title[:47] + "…"
            action = self._add(title.replace("&", "&&"), None)
            action.setData(task.id)
            action.triggered.connect(self._on_task)
        self._menu.addSeparator()
        self._add("Quit", self.quit_wanted.emit)

    def _add(self, text: str, slot: object) -> QAction:
        action = self._menu.addAction(text)
        if callable(slot):
            action.triggered.connect(slot)
        return action

    def _on_task(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self.task_wanted.emit(str(action.data()))

    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason == QSystemTrayIcon.ActivationReason.Trigger:
            self.open_wanted.emit()

    def menu_texts(self) -> list[str]:
        """What the menu says (for tests)."""
        return [action.text() for action in self._menu.actions() if not action.isSeparator()]
