"""A window for output that is too long for a chat: filled in slices, so that nothing freezes."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from walnut_desktop.gui.guard import never_raises
from walnut_desktop.gui.transcript_view.ansi import clean

SLICE = 64 * 1024
LONGEST_LINE = 1000
"""Lines are broken here: the cost of laying out a line grows with its length."""


class WholeText(QWidget):
    """Plain text, read only. Escape closes it."""

    def __init__(self, title: str, text: str, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"{title} – output")
        self.resize(900, 640)
        self.edit = QPlainTextEdit(self)
        self.edit.setProperty("class", "code")
        self.edit.setReadOnly(True)
        self.edit.setUndoRedoEnabled(False)
        self.edit.setAccessibleName("Output")
        self.edit.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.progress = QLabel(self)
        self.progress.setProperty("class", "muted small")
        column = QVBoxLayout(self)
        column.addWidget(self.edit)
        column.addWidget(self.progress)
        self._text = text
        self._at = 0
        self._column = 0  # how long the last line is already
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._more)
        self._timer.start(0)

    @property
    def is_complete(self) -> bool:
        """Whether all of it is there."""
        return self._at >= len(self._text)

    def _more(self) -> None:
        end = min(len(self._text), self._at + SLICE)
        # An escape or a line end of two characters is not torn apart.
        newline = self._text.rfind("\n", self._at, end)
        if newline >= 0 and end < len(self._text):
            end = newline + 1
        piece, _ = clean(self._text[self._at : end])
        self._at = end
        cursor = QTextCursor(self.edit.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(self._broken(piece))
        if self.is_complete:
            self._timer.stop()
            self.progress.hide()
        else:
            self.progress.setText(f"Loading… {self._at * 100 // len(self._text)} %")

    def _broken(self, piece: str) -> str:
        rows: list[str] = []
        for number, row in enumerate(piece.split("\n")):
            if number:
                self._column = 0
            room = LONGEST_LINE - self._column
            parts = [row[:room]]
            parts += [row[at : at + LONGEST_LINE] for at in range(room, len(row), LONGEST_LINE)]
            rows.append("\n".join(parts))
            self._column = self._column + len(row) if len(parts) == 1 else len(parts[-1])
        return "\n".join(rows)

    @never_raises(None)
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)
