"""What a task without a session shows above the composer: which agent, where, and with which rights."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

MODES = (
    ("default", "Ask before changes"),
    ("acceptEdits", "Edit files freely"),
    ("plan", "Plan first"),
    ("bypassPermissions", "Never ask (dangerous)"),
)


class StartOptions(QWidget):
    """Engine, mode and folder of the session to be started."""

    changed = Signal()

    def __init__(self, engines: list[tuple[str, str]], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("startOptions")
        self.engine = QComboBox(self)
        self.engine.setAccessibleName("Agent")
        self.engine.setObjectName("engine")
        for engine_id, label in engines:
            self.engine.addItem(label, engine_id)
        self.mode = QComboBox(self)
        self.mode.setAccessibleName("Permissions")
        for mode, label in MODES:
            self.mode.addItem(label, mode)
        self.folder = QLineEdit(self)
        self.folder.setObjectName("folder")
        self.folder.setAccessibleName("Working folder")
        self.folder.setPlaceholderText("Working folder (a folder of its own if empty)")
        self.browse = QPushButton("Browse…", self)
        self.browse.setProperty("class", "quiet")
        self.browse.clicked.connect(self._browse)
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 0, 4, 0)
        row.setSpacing(8)
        row.addWidget(self.engine)
        row.addWidget(self.mode)
        between = QLabel("in", self)
        between.setProperty("class", "muted")
        row.addWidget(between)
        row.addWidget(self.folder, 1)
        row.addWidget(self.browse)
        self._dialog: QFileDialog | None = None

    def choose_engine(self, engine_id: str) -> None:
        """Preselect an agent."""
        number = self.engine.findData(engine_id)
        if number >= 0:
            self.engine.setCurrentIndex(number)

    def engine_id(self) -> str:
        """The chosen agent."""
        return str(self.engine.currentData())

    def mode_id(self) -> str:
        """The chosen mode."""
        return str(self.mode.currentData())

    def cwd(self) -> str | None:
        """The folder that was typed, or None for the usual chain (Rule T12)."""
        text = self.folder.text().strip()
        return str(Path(text).expanduser()) if text else None

    def _browse(self) -> None:
        self._dialog = QFileDialog(self, "Working folder", self.cwd() or str(Path.home()))
        self._dialog.setFileMode(QFileDialog.FileMode.Directory)
        self._dialog.setOption(QFileDialog.Option.ShowDirsOnly, on=True)
        self._dialog.fileSelected.connect(self.folder.setText)
        self._dialog.open()
