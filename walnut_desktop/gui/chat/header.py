"""The head of a chat: the task's title, how its session stands, and what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from walnut_desktop.domain import phase as phases
from walnut_desktop.domain.session import Session, SessionStatus
from walnut_desktop.domain.task import Task
from walnut_desktop.gui.guard import never_raises
from walnut_desktop.gui.icon import icon
from walnut_desktop.gui.theme import Theme
from walnut_desktop.gui.words import session_state

_ENGINES = {"claude": "Claude Code", "practice": "Practice agent"}


class ElidedLabel(QLabel):
    """One line that is cut with an ellipsis; the whole text is its tool tip."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._full = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def set_full_text(self, text: str) -> None:
        """Show this, as far as there is room."""
        self._full = text
        self.setToolTip(text)
        self.setAccessibleName(text)
        self._elide()

    @never_raises(None)
    def resizeEvent(self, event: object) -> None:
        """Another width, another cut."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._elide()

    def _elide(self) -> None:
        metrics = QFontMetrics(self.font())
        self.setText(metrics.elidedText(self._full, Qt.TextElideMode.ElideRight, self.width()))

    @never_raises(QSize(40, 20))
    def minimumSizeHint(self) -> QSize:
        """It can get small: its text is cut."""
        return QSize(40, super().minimumSizeHint().height())


def about(session: Session | None) -> str:
    """Engine, mode, model, folder and cost of a session in one line."""
    if session is None:
        return "No session yet"
    parts = [_ENGINES.get(session.engine, session.engine)]
    if session.model and session.model != "practice":
        parts.append(session.model)
    if session.mode not in ("", "default"):
        parts.append(f"mode {session.mode}")
    parts.append(session.cwd)
    if session.cost_usd >= 0.005:
        parts.append(f"${session.cost_usd:.2f}")
    return "  ·  ".join(part for part in parts if part)


class ChatHeader(QWidget):
    """Title, state, and the buttons that fit the state."""

    interrupt_wanted = Signal()
    stop_wanted = Signal()
    new_session_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("chatHeader")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.title = ElidedLabel(self)
        self.title.setProperty("class", "heading")
        self.state = QLabel(self)
        self.state.setObjectName("sessionState")
        self.state.setProperty("class", "pill")
        self.state.setTextFormat(Qt.TextFormat.PlainText)
        self.about = ElidedLabel(self)
        self.about.setProperty("class", "muted small")
        self.interrupt = self._button("Interrupt", "interrupt", "Cut the running turn (Esc)")
        self.stop = self._button(
            "Stop", "stop", "End the agent's process; a message brings it back"
        )
        self.new_session = self._button("New session", "newSession", "Start afresh on this task")
        self.interrupt.clicked.connect(self.interrupt_wanted)
        self.stop.clicked.connect(self.stop_wanted)
        self.new_session.clicked.connect(self.new_session_wanted)
        top = QHBoxLayout()
        top.setSpacing(8)
        top.addWidget(self.title, 1)
        top.addWidget(self.state)
        for button in (self.interrupt, self.stop, self.new_session):
            top.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 14, 16, 10)
        column.setSpacing(2)
        column.addLayout(top)
        column.addWidget(self.about)

    def _button(self, text: str, name: str, tip: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(name)
        button.setProperty("class", "quiet")
        button.setToolTip(tip)
        return button

    def show_state(self, task: Task | None, session: Session | None) -> None:
        """Show how it stands."""
        self.title.set_full_text(task.title if task else "")
        words = session_state(session) or (phases.label(task.phase) if task else "")
        self.state.setText(words)
        self.state.setVisible(bool(words))
        self.state.setProperty("state", _look(task, session))
        self.state.style().unpolish(self.state)
        self.state.style().polish(self.state)
        self.about.set_full_text(about(session) if task else "")
        alive = session is not None and session.is_alive
        turn = alive and session is not None and session.status is SessionStatus.RUNNING
        self.interrupt.setVisible(
            bool(turn) and session is not None and session.reason != "background_work"
        )
        self.stop.setVisible(alive)
        ended = session is not None and not alive and not session.is_busy
        self.new_session.setVisible(ended and task is not None and not task.is_done)

    def set_theme(self, theme: Theme) -> None:
        """Icons in the theme's colours."""
        self.interrupt.setIcon(icon("pause", theme.color("text"), 16))
        self.stop.setIcon(icon("stop", theme.color("text"), 16))
        self.new_session.setIcon(icon("plus", theme.color("text"), 16))


def _look(task: Task | None, session: Session | None) -> str:
    if session is not None and session.pending:
        return "attention"
    if session is not None and session.status is SessionStatus.ERROR:
        return "error"
    if session is not None and session.is_busy:
        return "working"
    return "attention" if task is not None and task.needs_attention else "calm"
