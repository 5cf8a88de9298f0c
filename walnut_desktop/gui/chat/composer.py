"""Where the person writes: grows with the text, Enter sends, Shift+Enter breaks the line.

The text is taken away only when it is safely stored; a refused one stays (Rule M1).
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextDocument
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QToolButton, QVBoxLayout, QWidget

from walnut_desktop.gui.guard import never_raises

MAX_LINES = 9


class MessageEdit(QPlainTextEdit):
    """A text field that is as tall as its text, up to nine lines."""

    send_wanted = Signal()
    escape_pressed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setObjectName("message")
        self.setAccessibleName("Message")
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(2)
        self.textChanged.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        document: QTextDocument = self.document()
        lines = max(1, int(document.size().height()))
        height = self.fontMetrics().lineSpacing() * min(lines, MAX_LINES)
        self.setFixedHeight(height + 10)

    @never_raises(None)
    def resizeEvent(self, event: object) -> None:
        """Another width means another number of lines."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._fit()

    @never_raises(None)
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter sends; with Shift it is a line break."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.send_wanted.emit()
            event.accept()
            return
        if event.key() == Qt.Key.Key_Escape:
            self.escape_pressed.emit()
        super().keyPressEvent(event)


class Composer(QFrame):
    """The field with its button. `submitted` carries the text, which stays until `accept` is called."""

    submitted = Signal(str)
    escape_pressed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self.setProperty("class", "composer")
        self.edit = MessageEdit(self)
        self.button = QToolButton(self)
        self.button.setObjectName("send")
        self.button.setProperty("class", "primary")
        self.button.setAccessibleName("Send")
        self.button.setToolTip("Send (Enter). Shift+Enter breaks the line.")
        self.button.setIconSize(QSize(18, 18))
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.edit, 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignBottom)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 8, 8)
        column.setSpacing(4)
        column.addLayout(row)
        self.setFocusProxy(self.edit)
        self._sending = ""
        self.edit.send_wanted.connect(self._submit)
        self.edit.escape_pressed.connect(self.escape_pressed)
        self.edit.textChanged.connect(self._refresh)
        self.button.clicked.connect(self._submit)
        self._refresh()

    def text(self) -> str:
        """What is written."""
        return self.edit.toPlainText()

    def set_text(self, text: str) -> None:
        """Write something (a kept draft)."""
        self.edit.setPlainText(text)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)

    def set_hint(self, text: str) -> None:
        """The grey words of an empty field."""
        self.edit.setPlaceholderText(text)

    def accept(self) -> None:
        """The text is stored: make room, unless something else has been typed since."""
        if self.text() == self._sending:
            self.edit.clear()
        self._sending = ""
        self._refresh()

    def refuse(self) -> None:
        """The text was not taken: it stays."""
        self._sending = ""
        self._refresh()

    def _submit(self) -> None:
        if self._sending or not self.text().strip():
            return
        self._sending = self.text()
        self._refresh()
        self.submitted.emit(self._sending)

    def _refresh(self) -> None:
        self.button.setEnabled(bool(self.text().strip()) and not self._sending)
