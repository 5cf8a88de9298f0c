"""The steps of the tour, each a short method named by what the person does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from walnut_desktop.app.core import Core
from walnut_desktop.domain.ids import TaskId
from walnut_desktop.domain.phase import Phase
from walnut_desktop.domain.session import Session, SessionStatus
from walnut_desktop.domain.task import Task
from walnut_desktop.gui.application import Application
from walnut_desktop.gui.desktop import Desktop
from walnut_desktop.runtime.paths import Paths
from walnut_desktop.transcript.blocks import ToolBlock, ToolState

TASK = "Write a note about this folder"
OTHER_TASK = "Plan the next release"
CHILD = "Ask the team what is missing"
THANKS = "Thank you!"


class Job(NamedTuple):
    """What the agent is asked, what it says first and last, and the file that it makes."""

    prompt: str
    first_words: str
    last_words: str
    file: str


# The practice agent makes up a small job by itself.
PRACTICE = Job(
    "Please write a short note about this folder.",
    "I will write one small file",
    "Done. This is what happened",
    "walnut-practice.md",
)

# A real agent follows the words; one whose model is scripted follows the directives.
SCRIPTED = Job(
    """\
Please do three things, in this order: say “I will write one small file.”; make it with the command \
`touch walnut-tour.txt && echo made`; then say “All done: the file is there.”

(The rest is a script for agents that only practise.)
[[say I will write one small file.]]
[[tool Bash {"command": "touch walnut-tour.txt && echo made", "description": "Make a file"}]]
[[say All done: the file is there.]]""",
    "I will write one small file.",
    "All done: the file is there.",
    "walnut-tour.txt",
)
TIMEOUT_S = 60.0


class StepFailed(Exception):
    """What was expected did not come."""


async def until(test: Callable[[], object], what: str, timeout: float = TIMEOUT_S) -> None:
    """Wait until the test holds; StepFailed names what did not come."""
    loop = asyncio.get_running_loop()
    end = loop.time() + timeout
    while not test():
        if loop.time() > end:
            raise StepFailed(f"{what}: not seen within {timeout:.0f} s")
        await asyncio.sleep(0.01)


class Steps:
    """Everything that the tour does, on one home and one folder."""

    def __init__(self, app: Application, home: Path, folder: Path, engine: str) -> None:
        self._app = app
        self._home = home
        self._folder = folder
        self._engine = engine
        self._job = PRACTICE if engine == "practice" else SCRIPTED
        self.core: Core | None = None
        self.desktop: Desktop | None = None
        self._task_id = TaskId("")
        self._pid: int | None = None
        self._words: list[str] = []

    def in_order(self) -> list[tuple[str, Callable[[], Awaitable[str]]]]:
        """The steps and what each is called."""
        return [
            ("open the window", self.open_window),
            ("add tasks", self.add_tasks),
            ("start a session", self.start_session),
            ("watch the answer stream in", self.watch_answer),
            ("be asked for permission", self.be_asked),
            ("allow it and look away", self.allow),
            ("see the dot and the notice", self.see_dot),
            ("open the task: the dot goes", self.open_task),
            ("close and open the window", self.close_and_open),
            ("quit and start again: all is as it was", self.restart),
            ("send another message", self.send_again),
            ("stop the session", self.stop_session),
        ]

    # -- what the steps use ---------------------------------------------------------------------------

    def _open(self) -> Desktop:
        if self.desktop is None:
            raise StepFailed("the window is not open")
        return self.desktop

    def _session(self) -> Session:
        session = self._open().model.session(self._task_id)
        if session is None:
            raise StepFailed("the task has no session")
        return session

    def _answers(self) -> str:
        """What the chat shows below the first message."""
        return "\n".join(self._open().window.chat.transcript.block_texts()[1:])

    def _tool_waits(self) -> bool:
        rows = self._open().window.chat.transcript.surface.rows.rows
        return any(
            isinstance(row.block, ToolBlock) and row.block.state is ToolState.WAITING
            for row in rows
        )

    def _type(self, widget: QWidget, text: str) -> None:
        widget.setFocus()
        QTest.keyClicks(widget, text)
        QTest.keyClick(widget, Qt.Key.Key_Return)

    # -- the steps --------------------------------------------------------------------------------------

    async def open_window(self) -> str:
        """The app starts on the home and its window is usable."""
        core = Core(Paths(self._home))
        await core.start()
        self.core = core
        self.desktop = Desktop(self._app, core, lambda: None)
        await self.desktop.open()
        await until(self.desktop.window.isVisible, "the window")
        await until(lambda: core.host.connected, "the helper")
        return f"{self.desktop.model.total()} tasks"

    async def add_tasks(self) -> str:
        """Type titles into the add line."""
        desktop = self._open()
        panel = desktop.window.tasks
        for title in (OTHER_TASK, TASK):
            before = desktop.model.total()
            self._type(panel.add_line, title)
            await until(lambda n=before: desktop.model.total() > n, f"the task “{title}”")  # type: ignore[misc]
        await until(lambda: panel.current_id() and desktop.chat.task_id, "the chosen task")
        self._task_id = panel.current_id() or TaskId("")
        panel.start_adding(below=True)
        self._type(panel.add_line, CHILD)
        await until(lambda: desktop.model.total() >= 3, "the subtask")
        panel.choose(self._task_id)
        return f"{desktop.model.total()} tasks, one of them a subtask"

    async def start_session(self) -> str:
        """Choose the agent and the folder, say what to do, press Enter."""
        desktop = self._open()
        options, composer = desktop.window.chat.options, desktop.window.chat.composer
        options.choose_engine(self._engine)
        options.folder.setText(str(self._folder))
        composer.set_text(self._job.prompt)
        QTest.keyClick(composer.edit, Qt.Key.Key_Return)
        await until(
            lambda: desktop.window.chat.banner.text() or desktop.model.session(self._task_id),
            "the session",
        )
        await until(
            lambda: desktop.window.chat.banner.text() or self._session().pid, "the agent's process"
        )
        if desktop.window.chat.banner.text():
            raise StepFailed(desktop.window.chat.banner.text())
        self._pid = self._session().pid
        return f"{self._engine}, pid {self._pid}"

    async def watch_answer(self) -> str:
        """The first words show while the turn still runs."""
        await until(lambda: self._job.first_words in self._answers(), "the agent's first words")
        return "the first sentence is there"

    async def be_asked(self) -> str:
        """A card asks for permission."""
        desktop = self._open()
        await until(lambda: desktop.window.chat.card is not None, "the permission card")
        await until(lambda: self._session().pending, "the open request")
        await until(self._tool_waits, "the tool's card that says it waits")
        return self._session().pending[0].description

    async def allow(self) -> str:
        """Press Allow, choose another task, and put the window away."""
        desktop = self._open()
        card = desktop.window.chat.card
        if card is None:
            raise StepFailed("there is no card")
        QTest.mouseClick(card.allow, Qt.MouseButton.LeftButton)
        other = next(t for t in await self._tasks() if t.title == OTHER_TASK)
        desktop.window.tasks.choose(other.id)
        desktop.window.close()
        return "allowed"

    async def _tasks(self) -> list[Task]:
        if self.core is None:
            raise StepFailed("the app is not open")
        return await self.core.tasks.all()

    async def see_dot(self) -> str:
        """The turn ends: red dot, tray, notice; and the tool has really run."""
        desktop = self._open()

        def waits() -> bool:
            task = desktop.model.task(self._task_id)
            return (
                task is not None
                and task.needs_attention
                and task.phase == Phase.AWAIT_HUMAN_ACTION.value
                and self._session().status is SessionStatus.IDLE
            )

        await until(waits, "the red dot")
        key = f"{self._session().sid}:turn:"
        await until(lambda: any(k.startswith(key) for k in desktop.notices.shown()), "the notice")
        await until(
            lambda: any(TASK in text for text in desktop.tray.menu_texts()), "the tray's entry"
        )
        if not (self._folder / self._job.file).exists():
            raise StepFailed(f"the agent did not make {self._job.file}")
        return f"{self._job.file} was made"

    async def open_task(self) -> str:
        """Click the task in the tray's menu."""
        desktop = self._open()
        desktop.tray.task_wanted.emit(self._task_id)

        def clear() -> bool:
            task = desktop.model.task(self._task_id)
            return task is not None and not task.needs_attention

        await until(
            lambda: desktop.window.isVisible() and self._job.last_words in self._answers(),
            "the whole answer",
        )
        await until(clear, "the dot to go")
        await until(lambda: not desktop.notices.shown(), "the notice to go")
        return "no dot any more"

    async def close_and_open(self) -> str:
        """Close the window and bring it back."""
        desktop = self._open()
        self._words = desktop.window.chat.transcript.block_texts()
        desktop.window.close()
        await until(lambda: not desktop.window.is_in_front(), "the window to go away")
        desktop.tray.open_wanted.emit()
        await until(desktop.window.is_in_front, "the window to come back")
        return f"{len(self._words)} parts in the chat"

    async def restart(self) -> str:
        """End the whole app, start it again: same chat, same process."""
        await self.shut_down()
        await self.open_window()
        desktop = self._open()
        desktop.window.tasks.choose(self._task_id)
        await until(
            lambda: desktop.window.chat.transcript.block_texts() == self._words, "the same chat"
        )
        await until(lambda: self._session().status is SessionStatus.IDLE, "the living session")
        if self._session().pid != self._pid:
            raise StepFailed(f"another process: {self._session().pid} instead of {self._pid}")
        return f"pid {self._pid} is still there"

    async def send_again(self) -> str:
        """Another message to the same agent."""
        desktop = self._open()
        composer = desktop.window.chat.composer
        composer.set_text(THANKS)
        QTest.keyClick(composer.edit, Qt.Key.Key_Return)
        turns = self._session().turns
        await until(lambda: self._session().turns > turns, "the next turn")
        await until(lambda: self._session().status is SessionStatus.IDLE, "its end")
        return f"{self._session().turns} turns"

    async def stop_session(self) -> str:
        """Stop ends the agent's process."""
        desktop = self._open()
        QTest.mouseClick(desktop.window.chat.header.stop, Qt.MouseButton.LeftButton)
        await until(
            lambda: self._session().status is SessionStatus.STOPPED, "the end of the process"
        )
        return "the agent's process has ended"

    # -- the end ------------------------------------------------------------------------------------------

    async def shut_down(self) -> None:
        """Close the app; the helper and the agent stay."""
        if self.desktop is not None:
            await self.desktop.close()
            self.desktop = None
        if self.core is not None:
            await self.core.stop()
            self.core = None
