"""The window: tasks on the left, the chat on the right. What is remembered of it lies in the store."""

from __future__ import annotations

import base64
import logging
from typing import Any

from PySide6.QtCore import QByteArray, QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QCloseEvent, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QMainWindow, QSplitter

from walnut_desktop.gui.chat.pane import ChatPane
from walnut_desktop.gui.guard import never_raises
from walnut_desktop.gui.icon import app_icon
from walnut_desktop.gui.tasks.model import TaskListModel
from walnut_desktop.gui.tasks.panel import TaskPanel
from walnut_desktop.gui.theme import Theme

log = logging.getLogger(__name__)

SAVE_AFTER_MS = 1000


class MainWindow(QMainWindow):
    """The frame around the panes."""

    close_wanted = Signal()
    quit_wanted = Signal()
    active_changed = Signal()
    state_changed = Signal()
    next_waiting_wanted = Signal()

    def __init__(self, model: TaskListModel, engines: list[tuple[str, str]]) -> None:
        super().__init__()
        self.setObjectName("mainWindow")
        self.setWindowTitle("Walnut Desktop")
        self.setWindowIcon(app_icon())
        self.resize(1180, 780)
        self.setMinimumSize(720, 460)
        self.splitter = QSplitter(Qt.Orientation.Horizontal, self)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(1)
        self.tasks = TaskPanel(model, self.splitter)
        self.chat = ChatPane(engines, self.splitter)
        self.tasks.setMinimumWidth(220)
        self.chat.setMinimumWidth(420)
        self.splitter.addWidget(self.tasks)
        self.splitter.addWidget(self.chat)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([330, 850])
        self.setCentralWidget(self.splitter)
        self.closing_for_good = False
        self._save = QTimer(self)
        self._save.setSingleShot(True)
        self._save.timeout.connect(self.state_changed)
        self.splitter.splitterMoved.connect(self._touch)
        self._actions()

    def _actions(self) -> None:
        self._action("New task", "Ctrl+N", self._new_task)
        self._action("New subtask", "Ctrl+Shift+N", self._new_subtask)
        self._action("Rename task", "F2", self.tasks.rename_current)
        self._action("Task list", "Ctrl+1", self._focus_tasks)
        self._action("Message", "Ctrl+2", self._focus_composer)
        self._action("Next task that needs you", "Ctrl+J", self.next_waiting_wanted.emit)
        self._action("Close the window", "Ctrl+W", self.close)
        self._action("Quit", "Ctrl+Q", self.quit_wanted.emit)

    def _action(self, text: str, keys: str, slot: Any) -> None:
        action = QAction(text, self)
        action.setShortcut(QKeySequence(keys))
        action.triggered.connect(slot)
        self.addAction(action)

    def _new_task(self) -> None:
        self.tasks.start_adding(below=False)

    def _new_subtask(self) -> None:
        self.tasks.start_adding(below=True)

    def _focus_tasks(self) -> None:
        self.tasks.view.setFocus()

    def _focus_composer(self) -> None:
        self.chat.composer.setFocus()

    def set_theme(self, theme: Theme) -> None:
        """Everything in the theme's colours."""
        self.tasks.set_theme(theme)
        self.chat.set_theme(theme)

    def is_in_front(self) -> bool:
        """Whether the person has it before their eyes and works in it."""
        return self.isVisible() and not self.isMinimized() and self.isActiveWindow()

    def bring_to_front(self) -> None:
        """Show it, whatever it was doing."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        if QGuiApplication.platformName() != "offscreen":
            self.raise_()
        self.activateWindow()

    # -- what is remembered -------------------------------------------------------------------------

    def state(self) -> dict[str, str]:
        """Place and sizes, as text for the store."""
        return {
            "geometry": _text(self.saveGeometry()),
            "splitter": _text(self.splitter.saveState()),
        }

    def restore(self, state: object) -> None:
        """Go back to where it was; nonsense is ignored."""
        if isinstance(state, dict):
            self.restoreGeometry(_bytes(state.get("geometry")))
            self.splitter.restoreState(_bytes(state.get("splitter")))

    def _touch(self) -> None:
        self._save.start(SAVE_AFTER_MS)

    # -- Qt -----------------------------------------------------------------------------------------

    @never_raises(None)
    def closeEvent(self, event: QCloseEvent) -> None:
        """Closing hides; the application decides what that means."""
        if self.closing_for_good:
            super().closeEvent(event)
            return
        event.ignore()
        self.close_wanted.emit()

    @never_raises(None)
    def changeEvent(self, event: QEvent) -> None:
        """Whether it is in front matters for notices."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.ActivationChange, QEvent.Type.WindowStateChange):
            self.active_changed.emit()

    @never_raises(None)
    def resizeEvent(self, event: Any) -> None:
        """Remember the size, a little later."""
        super().resizeEvent(event)
        self._touch()

    @never_raises(None)
    def moveEvent(self, event: Any) -> None:
        """Remember the place, a little later."""
        super().moveEvent(event)
        self._touch()

    @never_raises(None)
    def showEvent(self, event: Any) -> None:
        """It is there again."""
        super().showEvent(event)
        self.active_changed.emit()

    @never_raises(None)
    def hideEvent(self, event: Any) -> None:
        """It is gone from sight."""
        super().hideEvent(event)
        self.active_changed.emit()


def _text(data: QByteArray) -> str:
    return base64.b64encode(data.data()).decode()


def _bytes(text: object) -> QByteArray:
    try:
        return (
            QByteArray(base64.b64decode(text, validate=True))
            if isinstance(text, str)
            else QByteArray()
        )
    except ValueError:
        return QByteArray()
