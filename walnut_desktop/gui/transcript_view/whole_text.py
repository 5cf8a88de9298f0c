"""A window for output that is too long for a chat: filled in slices, so that nothing freezes."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from walnut_desktop.gui.transcript_view.ansi import clean

SLICE = 64 * 1024
LONGEST_LINE = 20_000


class WholeText(QWidget):
    """Plain text, read only."""

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
        column = QVBoxLayout(self)
        column.addWidget(self.edit)
        self._text = text
        self._at = 0
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._more)
        self._timer.start(0)

    def _more(self) -> None:
        piece = self._text[self._at : self._at + SLICE]
        self._at += SLICE
        if not piece:
            self._timer.stop()
            return
        text, _ = clean(piece)
        cursor = QTextCursor(self.edit.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        rows = [row[at : at + LONGEST_LINE] for row in text.split("\n") for at in _starts(row)]
        cursor.insertText("\n".join(rows))


def _starts(row: str) -> range:
    return range(0, max(1, len(row)), LONGEST_LINE)
