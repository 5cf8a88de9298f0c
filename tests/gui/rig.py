"""A home with a core and a window for tests, and the person's hands on them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from walnut_desktop.app.core import Core
from walnut_desktop.domain.ids import TaskId
from walnut_desktop.domain.session import Session, SessionStatus
from walnut_desktop.domain.task import Task
from walnut_desktop.gui.application import Application
from walnut_desktop.gui.desktop import Desktop
from walnut_desktop.runtime.paths import Paths
from walnut_desktop.transcript.blocks import UserBlock

TIMEOUT_S = 20.0


async def eventually(test: Callable[[], object], what: str, timeout: float = TIMEOUT_S) -> None:
    """Wait until the test holds."""
    loop = asyncio.get_running_loop()
    end = loop.time() + timeout
    while not test():
        if loop.time() > end:
            raise AssertionError(f"not within {timeout:.0f} s: {what}")
        await asyncio.sleep(0.01)


class Rig:
    """One home, on which the app is opened, closed and opened again."""

    def __init__(self, app: Application, home: Path, folder: Path, engine: str) -> None:
        self.app = app
        self.home = home
        self.folder = folder
        self.engine = engine
        self._core: Core | None = None
        self._desktop: Desktop | None = None

    @property
    def core(self) -> Core:
        """The running core."""
        assert self._core is not None, "the app is not open"
        return self._core

    @property
    def desktop(self) -> Desktop:
        """The open window."""
        assert self._desktop is not None, "the app is not open"
        return self._desktop

    def settings(self, **agent: object) -> None:
        """Write the settings of agents before the app is opened."""
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "settings.json").write_text(json.dumps({"agent": agent}))

    async def open(self) -> Desktop:
        """Open the app on the home."""
        core = Core(Paths(self.home))
        await core.start()
        self._core = core
        self._desktop = Desktop(self.app, core, lambda: None)
        await self._desktop.open()
        await eventually(lambda: core.host.connected, "the helper")
        return self._desktop

    async def close(self) -> None:
        """Close the app; helper and agents run on."""
        if self._desktop is not None:
            await self._desktop.close()
            self._desktop = None
        if self._core is not None:
            await self._core.stop()
            self._core = None

    async def end(self) -> None:
        """Close the app, and end the helper and the agents."""
        if self._core is None:
            self._core = Core(Paths(self.home))
            await self._core.start()
        await self._core.shut_helper_down()
        await self.close()

    # -- the person -----------------------------------------------------------------------------------

    async def add_task(self, title: str) -> TaskId:
        """Type a title into the add line."""
        line = self.desktop.window.tasks.add_line
        before = self.desktop.model.total()
        line.setText(title)
        QTest.keyClick(line, Qt.Key.Key_Return)
        await eventually(lambda: self.desktop.model.total() > before, "the new task")
        await eventually(lambda: self.shown_title() == title, "the new task is chosen")
        task_id = self.desktop.chat.task_id
        assert task_id is not None
        return task_id

    def shown_title(self) -> str:
        """The title of the task that is shown."""
        task = self.desktop.model.task(self.desktop.chat.task_id or TaskId(""))
        return task.title if task else ""

    def write(self, text: str) -> None:
        """Write a message and press Enter."""
        composer = self.desktop.window.chat.composer
        composer.set_text(text)
        QTest.keyClick(composer.edit, Qt.Key.Key_Return)

    async def start(self, prompt: str) -> Session:
        """Start a session on the chosen task."""
        options = self.desktop.window.chat.options
        options.choose_engine(self.engine)
        options.folder.setText(str(self.folder))
        self.write(prompt)
        await eventually(lambda: self.banner() or self.maybe_session(), "a session")
        await eventually(lambda: self.banner() or self.session().pid, "its process")
        assert not self.banner(), self.banner()
        return self.session()

    def allow(self) -> None:
        """Press Allow on the card."""
        card = self.desktop.window.chat.card
        assert card is not None, "there is no card"
        QTest.mouseClick(card.allow, Qt.MouseButton.LeftButton)

    # -- what is seen ---------------------------------------------------------------------------------

    def banner(self) -> str:
        """The error that is shown."""
        return self.desktop.window.chat.banner.text()

    def maybe_session(self) -> Session | None:
        """The session of the shown task."""
        task_id = self.desktop.chat.task_id
        return self.desktop.model.session(task_id) if task_id else None

    def session(self) -> Session:
        """The session of the shown task."""
        session = self.maybe_session()
        assert session is not None, "there is no session"
        return session

    def task(self, task_id: TaskId) -> Task:
        """A task as the window knows it."""
        task = self.desktop.model.task(task_id)
        assert task is not None
        return task

    def texts(self) -> list[str]:
        """The parts of the chat."""
        return self.desktop.window.chat.transcript.block_texts()

    def shown(self) -> str:
        """The chat as one text."""
        return "\n".join(self.texts())

    def own_messages(self) -> list[str]:
        """The person's messages, in the chat and below it, in order."""
        rows = self.desktop.window.chat.transcript.surface.rows
        inside = [row.block.text for row in rows.rows if isinstance(row.block, UserBlock)]
        return inside + self.on_their_way()

    def on_their_way(self) -> list[str]:
        """The person's messages that the agent has not taken up."""
        rows = self.desktop.window.chat.transcript.surface.rows
        return [row.text for row in rows.rows[rows.blocks_end :]]

    async def until_idle(self) -> None:
        """Wait for the end of the turn, and until the chat shows it."""
        await eventually(lambda: self.session().status is SessionStatus.IDLE, "the end of the turn")
        await eventually(lambda: "Finished" in self.last_words() or not self.texts(), "its line")

    def last_words(self) -> str:
        """The kind of the last part of the chat."""
        from walnut_desktop.transcript.blocks import TurnBlock

        rows = self.desktop.window.chat.transcript.surface.rows
        if not rows.blocks_end:
            return ""
        last = rows.rows[rows.blocks_end - 1].block
        return "Finished" if isinstance(last, TurnBlock) and last.ok else ""
