"""The chat pane: how its parts lie, without knowing where their content comes from."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from walnut_desktop.domain.message import Message
from walnut_desktop.domain.session import PendingRequest, Session
from walnut_desktop.domain.task import Task
from walnut_desktop.gui.banner import Banner
from walnut_desktop.gui.chat.cards import RequestCard
from walnut_desktop.gui.chat.composer import Composer
from walnut_desktop.gui.chat.header import ChatHeader
from walnut_desktop.gui.chat.starter import StartOptions
from walnut_desktop.gui.icon import icon
from walnut_desktop.gui.theme import Theme
from walnut_desktop.gui.transcript_view import TailMessage, TranscriptView
from walnut_desktop.gui.words import busy_line, message_state


class ChatPane(QWidget):
    """Header, banner, transcript, card, start options, composer."""

    card_made = Signal(object)

    def __init__(self, engines: list[tuple[str, str]], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("chatPane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.header = ChatHeader(self)
        self.banner = Banner(self)
        self.transcript = TranscriptView(self)
        self.options = StartOptions(engines, self)
        self.composer = Composer(self)
        self.card: RequestCard | None = None
        self._bottom = QVBoxLayout()
        self._bottom.setContentsMargins(20, 0, 20, 16)
        self._bottom.setSpacing(10)
        self._bottom.addWidget(self.options)
        self._bottom.addWidget(self.composer)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self.banner)
        column.addWidget(self.transcript, 1)
        column.addLayout(self._bottom)

    def show_task(self, task: Task | None, session: Session | None) -> None:
        """Show how the task and its session stand; the transcript is filled by its owner."""
        self.header.show_state(task, session)
        self.header.setVisible(task is not None)
        usable = task is not None and not task.is_done
        self.composer.setVisible(task is not None)
        self.composer.setEnabled(usable)
        self.options.setVisible(usable and session is None)
        if task is None:
            self.composer.set_hint("")
        elif task.is_done:
            self.composer.set_hint("This task is done. Open it again to go on.")
        elif session is None:
            self.composer.set_hint("What should the agent do?")
        elif session.is_alive or session.is_busy:
            self.composer.set_hint("Message the agent…")
        else:
            self.composer.set_hint("A message resumes this session.")
        self.transcript.set_busy(busy_line(session))
        self.show_request(session.pending if session is not None else ())

    def show_request(self, pending: Sequence[PendingRequest]) -> None:
        """The card of the oldest open request; it stays the same widget while that request stays."""
        first = pending[0] if pending else None
        if self.card is not None and (first is None or self.card.request != first):
            self._bottom.removeWidget(self.card)
            self.card.hide()
            self.card.deleteLater()
            self.card = None
        if first is not None and self.card is None:
            self.card = RequestCard(first, len(pending) - 1, self)
            self._bottom.insertWidget(0, self.card)
            self.card.show()
            self.card_made.emit(self.card)

    def show_messages(self, messages: Sequence[Message]) -> None:
        """What is on its way to the agent, below the transcript."""
        self.transcript.set_tail(
            [
                TailMessage(message.id, message.text, message_state(message), message.reason)
                for message in messages
            ]
        )

    def set_theme(self, theme: Theme) -> None:
        """Everything in the theme's colours."""
        self.header.set_theme(theme)
        self.banner.set_theme(theme)
        self.transcript.set_theme(theme)
        self.composer.button.setIcon(icon("send", theme.color("on_accent"), 18))
