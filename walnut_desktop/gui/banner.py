"""A line across the top of a pane that says what went wrong and what to do; the person closes it."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QWidget

from walnut_desktop.gui.icon import icon
from walnut_desktop.gui.theme import Theme


class Banner(QFrame):
    """Hidden until something is to be said."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self._mark = QLabel(self)
        self._text = QLabel(self)
        self._text.setWordWrap(True)
        self._text.setAccessibleName("What went wrong")
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._close = QToolButton(self)
        self._close.setAccessibleName("Close the message")
        self._close.setProperty("class", "quiet")
        self._close.clicked.connect(self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.setSpacing(8)
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._text, 1)
        row.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.hide)
        self._kind = "error"
        self.hide()

    def say(self, text: str, *, kind: str = "error", seconds: float = 0) -> None:
        """Show a sentence; `kind` is error, warning or info. With `seconds` it goes by itself."""
        self._kind = kind
        self.setProperty("class", f"banner {kind}")
        self.style().unpolish(self)
        self.style().polish(self)
        self._text.setText(text)
        self.setAccessibleName(text)
        self.show()
        self._timer.stop()
        if seconds:
            self._timer.start(int(seconds * 1000))

    def text(self) -> str:
        """What it says; empty while hidden."""
        return "" if self.isHidden() else self._text.text()

    def set_theme(self, theme: Theme) -> None:
        """Draw the marks in the theme's colours."""
        colour = theme.color("danger" if self._kind == "error" else "text")
        self._mark.setPixmap(icon("warning", colour, 18).pixmap(18, 18))
        self._close.setIcon(icon("x", theme.color("text"), 16))
