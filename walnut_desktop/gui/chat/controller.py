"""What happens in a chat: fills the pane from the core, and carries the person's wishes to it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox

from walnut_desktop.app.core import Core
from walnut_desktop.domain.errors import HostUnreachable, WalnutError
from walnut_desktop.domain.events import MessageChanged
from walnut_desktop.domain.ids import MessageId, Sid, TaskId
from walnut_desktop.domain.message import Message, MessageState
from walnut_desktop.domain.session import Session
from walnut_desktop.domain.task import Task
from walnut_desktop.gui.chat.cards import RequestCard
from walnut_desktop.gui.chat.pane import ChatPane
from walnut_desktop.sessions.start import StartRequest
from walnut_desktop.sessions.transcripts import Transcript
from walnut_desktop.transcript.blocks import Block, Change, UserBlock

log = logging.getLogger(__name__)

_GONE = (MessageState.CONSUMED, MessageState.CANCELLED)


class ChatController(QObject):
    """Ties one pane to the task that is chosen."""

    session_chosen = Signal(str)

    def __init__(self, core: Core, pane: ChatPane, parent: QObject) -> None:
        super().__init__(parent)
        self._core = core
        self._pane = pane
        self._task: Task | None = None
        self._session: Session | None = None
        self._transcript: Transcript | None = None
        self._opening: Sid | None = None
        self._messages: dict[MessageId, Message] = {}
        self._taken_up: set[str] = set()  # what stands in the transcript already
        self._drafts: dict[TaskId, str] = {}
        self._afresh: set[TaskId] = set()
        self._starting: set[TaskId] = set()
        pane.composer.submitted.connect(self._submitted)
        pane.composer.escape_pressed.connect(self._interrupt)
        pane.header.interrupt_wanted.connect(self._interrupt)
        pane.header.stop_wanted.connect(self._stop)
        pane.header.new_session_wanted.connect(self._new_session)
        pane.card_made.connect(self._wire_card)
        pane.transcript.older_wanted.connect(self._load_older)
        pane.transcript.link_activated.connect(self._ask_about_link)
        pane.transcript.retry_wanted.connect(self._retry)
        pane.transcript.discard_wanted.connect(self._discard)
        core.bus.subscribe(MessageChanged, self._message_changed)
        self._show()

    @property
    def task_id(self) -> TaskId | None:
        """The task that is shown."""
        return self._task.id if self._task else None

    @property
    def session(self) -> Session | None:
        """The session that is shown."""
        return self._session

    # -- what is shown ----------------------------------------------------------------------------

    def show(self, task: Task | None, session: Session | None) -> None:
        """Show this task with this session (of which there may be none yet)."""
        if task is not None and task.id in self._afresh:
            if session is not None and session.is_busy:
                self._afresh.discard(task.id)
            else:
                session = None
        same_task = self.task_id == (task.id if task else None)
        if not same_task:
            if self._task is not None:
                self._drafts[self._task.id] = self._pane.composer.text()
            self._pane.composer.set_text(self._drafts.get(task.id, "") if task else "")
            self._pane.banner.hide()
        old_sid = self._session.sid if self._session else None
        self._task, self._session = task, session
        new_sid = session.sid if session else None
        if (
            same_task
            and new_sid
            and old_sid is None
            and task is not None
            and task.id in self._starting
        ):
            self._pane.composer.accept()  # the message is on disk now
        if new_sid != old_sid or not same_task:
            self._switch(new_sid)
        self._show()

    def _show(self) -> None:
        self._pane.show_task(self._task, self._session)
        if self._task is None:
            self._pane.transcript.set_placeholder(
                "Choose a task", "Its chat shows here. Ctrl+N adds a task."
            )
        elif self._session is None:
            self._pane.transcript.set_placeholder(
                "No session yet",
                "Say below what should be done. The agent works in the folder you choose and asks "
                "before it changes anything.",
            )
        else:
            self._pane.transcript.set_placeholder("", "")

    def _switch(self, sid: Sid | None) -> None:
        if self._transcript is not None:
            self._transcript.close()
            self._transcript = None
        self._messages = {}
        self._taken_up = set()
        self._pane.transcript.set_blocks([])
        self._pane.show_messages([])
        self._opening = sid
        if sid is not None:
            self._core.spawner.spawn(self._open(sid), f"open-chat:{sid}")

    async def _open(self, sid: Sid) -> None:
        def on_reset(blocks: Sequence[Block]) -> None:
            if self._opening == sid:
                self._pane.transcript.set_blocks(blocks)
                self._settle(blocks)
                if self._transcript is not None:
                    self._pane.transcript.set_more_above(self._transcript.more_above)

        def on_changes(changes: Sequence[Change]) -> None:
            if self._opening == sid:
                self._pane.transcript.apply(changes)
                self._settle(change.block for change in changes)

        try:
            messages = await self._core.sessions.messages(sid)
            if self._opening != sid:
                return
            self._messages = {message.id: message for message in messages}
            self._taken_up = set()
            self._pane.show_messages(list(self._messages.values()))
            transcript = await self._core.sessions.open_transcript(sid, on_changes, on_reset)
        except HostUnreachable as error:
            if self._opening == sid:
                self._say(error)
            return
        if self._opening != sid:
            transcript.close()
            return
        self._transcript = transcript
        self._pane.transcript.set_more_above(transcript.more_above)

    def _settle(self, blocks: Iterable[Block]) -> None:
        """A message that stands in the transcript is not shown below it, too (Rule M5)."""
        gone = False
        for block in blocks:
            if isinstance(block, UserBlock):
                self._taken_up.add(block.uuid)
                gone = self._messages.pop(MessageId(block.uuid), None) is not None or gone
        if gone:
            self._pane.show_messages(list(self._messages.values()))

    def _message_changed(self, event: MessageChanged) -> None:
        message = event.message
        if self._session is None or message.sid != self._session.sid:
            return
        if message.id in self._taken_up:
            return  # the agent was faster than our own book-keeping
        if message.state is MessageState.CANCELLED:
            self._messages.pop(message.id, None)
        elif message.state is MessageState.CONSUMED:
            # The transcript's own line takes its place; until that is drawn it stays where it is.
            if message.id in self._messages:
                self._messages[message.id] = message
            return
        else:
            self._messages[message.id] = message
        self._pane.show_messages(list(self._messages.values()))

    def _load_older(self) -> None:
        if self._transcript is not None and self._transcript.more_above:
            self._core.spawner.spawn(self._older(self._transcript), "older")

    async def _older(self, transcript: Transcript) -> None:
        blocks = await transcript.load_older()
        if self._transcript is transcript:
            self._pane.transcript.prepend(blocks)
            self._pane.transcript.set_more_above(transcript.more_above)

    # -- what the person wants --------------------------------------------------------------------

    def _submitted(self, text: str) -> None:
        if self._task is None:
            self._pane.composer.refuse()
        elif self._session is not None:
            self._core.spawner.spawn(self._send(self._session.sid, text), "send")
        elif self._task.id not in self._starting:
            self._core.spawner.spawn(self._start(self._task, text), "start")
        else:
            self._pane.composer.refuse()

    async def _send(self, sid: Sid, text: str) -> None:
        try:
            await self._core.sessions.send(sid, text)
        except WalnutError as error:
            self._pane.composer.refuse()
            self._say(error)
            return
        self._pane.composer.accept()
        self._pane.transcript.scroll_to_bottom()

    async def _start(self, task: Task, text: str) -> None:
        options = self._pane.options
        request = StartRequest(task.id, text, options.engine_id(), options.cwd(), options.mode_id())
        self._starting.add(task.id)
        self._afresh.discard(task.id)
        try:
            await self._core.sessions.start(request)
        except WalnutError as error:
            self._give_back(task.id, error.unsent or (text,))
            if self.task_id != task.id:
                raise
            self._say(error)
        finally:
            self._starting.discard(task.id)

    def _give_back(self, task_id: TaskId, unsent: Sequence[str]) -> None:
        """Texts that were not sent go back to where they were written, before what was typed since."""
        composer = self._pane.composer
        shown = self.task_id == task_id
        if shown:
            composer.refuse()
        now = composer.text() if shown else self._drafts.get(task_id, "")
        texts = [*unsent, now] if now.strip() and now not in unsent else [*unsent]
        if shown:
            composer.set_text("\n\n".join(texts))
        else:
            self._drafts[task_id] = "\n\n".join(texts)

    def _new_session(self) -> None:
        if self._task is not None:
            self._afresh.add(self._task.id)
            self.show(self._task, None)
            self._pane.composer.setFocus()

    def _interrupt(self) -> None:
        if self._session is not None and self._session.is_alive and self._session.is_busy:
            self._run(self._core.sessions.interrupt, self._session.sid)

    def _stop(self) -> None:
        if self._session is not None:
            self._pane.header.stop.setEnabled(False)
            self._core.spawner.spawn(self._stop_now(self._session.sid), "stop")

    async def _stop_now(self, sid: Sid) -> None:
        try:
            await self._core.sessions.stop(sid)
        except WalnutError as error:
            self._say(error)
        finally:
            self._pane.header.stop.setEnabled(True)

    def _wire_card(self, card: RequestCard) -> None:
        card.allowed.connect(self._allowed)
        card.denied.connect(self._denied)
        card.replied.connect(self._replied)

    def _allowed(self, request_id: str, always: bool) -> None:
        if self._session is not None:
            work = self._core.sessions.allow(self._session.sid, request_id, always=always)
            self._core.spawner.spawn(self._answer(work), "allow")

    def _denied(self, request_id: str, word: str) -> None:
        if self._session is not None:
            work = self._core.sessions.deny(self._session.sid, request_id, word)
            self._core.spawner.spawn(self._answer(work), "deny")

    def _replied(self, request_id: str, updated: object) -> None:
        if self._session is not None and isinstance(updated, dict):
            work = self._core.sessions.reply(self._session.sid, request_id, updated)
            self._core.spawner.spawn(self._answer(work), "reply")

    async def _answer(self, work: Awaitable[None]) -> None:
        try:
            await work
        except WalnutError as error:
            if self._pane.card is not None:
                self._pane.card.set_ready()
            self._say(error)
            return
        self._pane.composer.setFocus()

    def _retry(self, message_id: str) -> None:
        self._run(self._core.sessions.retry, message_id)

    def _discard(self, message_id: str) -> None:
        self._run(self._core.sessions.discard, message_id)

    def _run(self, call: Callable[[str], Awaitable[None]], name: str) -> None:
        async def work() -> None:
            try:
                await call(name)
            except WalnutError as error:
                self._say(error)

        self._core.spawner.spawn(work(), call.__name__)

    def _say(self, error: WalnutError) -> None:
        self._pane.banner.say(error.sentence())

    def _ask_about_link(self, url: str) -> None:
        """Links open only after the person has seen where they go."""
        box = QMessageBox(self._pane)
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle("Open this link?")
        box.setText("Open this address in your browser?")
        box.setInformativeText(url if len(url) <= 400 else url[:400] + "…")
        box.setStandardButtons(QMessageBox.StandardButton.Open | QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)
        box.setObjectName("linkQuestion")

        def decided(button: int) -> None:
            if button == QMessageBox.StandardButton.Open.value:
                QDesktopServices.openUrl(QUrl(url))
            box.deleteLater()

        box.finished.connect(decided)
        box.open()
