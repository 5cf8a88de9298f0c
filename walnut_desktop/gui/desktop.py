"""The desktop app: one core, one window, one tray, and what ties them together.

Everything that the window shows comes from the core's events; everything that the person wants goes to the
core's services. Closing the window keeps the tray; quitting leaves the sessions running and says so (G2).
"""

from __future__ import annotations

import logging
from collections.abc import Coroutine
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox

from walnut_desktop.app.core import Core
from walnut_desktop.domain.attention import Happening, decide_notify
from walnut_desktop.domain.errors import WalnutError
from walnut_desktop.domain.events import (
    Happened,
    HappeningOver,
    HostChanged,
    Problem,
    SessionChanged,
    SessionDeleted,
    TaskChanged,
    TaskDeleted,
)
from walnut_desktop.domain.ids import TaskId
from walnut_desktop.gui.application import Application
from walnut_desktop.gui.chat.controller import ChatController
from walnut_desktop.gui.main_window import MainWindow
from walnut_desktop.gui.notices import Notices
from walnut_desktop.gui.tasks.model import TaskListModel
from walnut_desktop.gui.theme import Theme, apply_theme
from walnut_desktop.gui.tray import Tray
from walnut_desktop.gui.words import counts_line

log = logging.getLogger(__name__)

PERMISSION_ACTIONS = (("allow", "Allow"), ("deny", "Deny"))
_TRAY_RETRY_MS = 2000
_TRAY_TRIES = 15


class Desktop(QObject):
    """Holds the parts and their wires. `open` shows the window, `close` lets everything go but the core."""

    def __init__(self, app: Application, core: Core, stop: Any) -> None:
        super().__init__()
        self.app = app
        self.core = core
        self._ask_to_stop = stop
        self.model = TaskListModel(self)
        engines = [(engine.id, engine.label) for engine in core.engines.all()]
        self.window = MainWindow(self.model, engines)
        self.chat = ChatController(core, self.window.chat, self)
        self.tray = Tray(self)
        self.notices = Notices(self)
        self.theme: Theme | None = None
        self._happened: dict[str, Happened] = {}
        self._quitting: QMessageBox | None = None
        self._deleting: QMessageBox | None = None
        self._told_about_tray = False
        self._tray_tries = 0
        self.window.chat.options.choose_engine(core.settings.values.agent.default_engine)
        self._wire_window()
        self._wire_core()

    # -- life ---------------------------------------------------------------------------------------

    async def open(self, *, hidden: bool = False) -> None:
        """Fill the window from the store and show it."""
        self.set_theme(self.core.settings.values.look.theme)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._scheme_changed)
        tasks, sessions = await self.core.tasks.all(), await self.core.sessions.all()
        self.model.load(tasks, sessions)
        self.window.restore(await self.core.recall("window"))
        self._show_tray()
        self._refresh_state()
        chosen = await self.core.recall("chosen_task")
        if isinstance(chosen, str) and self.model.place(TaskId(chosen)).isValid():
            self.window.tasks.choose(TaskId(chosen))
        elif self.model.rowCount():
            self.window.tasks.view.setCurrentIndex(self.model.index(0, 0))
        if not hidden or not self.tray.is_available():
            self.window.bring_to_front()
        if not self.model.rowCount():
            self.window.tasks.add_line.setFocus()
        self._spawn(self.notices.set_up(self.tray.icon), "notices")

    async def close(self) -> None:
        """Remember the window and take it away."""
        await self._remember()
        self.tray.hide()
        self.notices.close()
        self.chat.show(None, None)
        self.window.closing_for_good = True
        self.window.close()
        self.window.deleteLater()

    def _show_tray(self) -> None:
        """Some desktops bring their tray up later than autostarted apps."""
        if self.tray.is_available():
            self.tray.show()
            return
        self._tray_tries += 1
        if self._tray_tries <= _TRAY_TRIES:
            QTimer.singleShot(_TRAY_RETRY_MS, self, self._show_tray)

    async def _remember(self) -> None:
        await self.core.remember("window", self.window.state())
        await self.core.remember("chosen_task", self.chat.task_id)

    # -- looks --------------------------------------------------------------------------------------

    def set_theme(self, wish: str) -> None:
        """system, light or dark; can change at any time."""
        self.theme = apply_theme(self.app, wish)
        self.window.set_theme(self.theme)

    def _scheme_changed(self, _scheme: Qt.ColorScheme) -> None:
        if self.core.settings.values.look.theme == "system":
            self.set_theme("system")

    # -- wires ----------------------------------------------------------------------------------------

    def _wire_window(self) -> None:
        window, tasks = self.window, self.window.tasks
        tasks.task_chosen.connect(self._chosen)
        tasks.open_wanted.connect(self._focus_chat)
        tasks.add_wanted.connect(self._add_task)
        tasks.toggle_wanted.connect(self._toggle)
        tasks.delete_wanted.connect(self._ask_delete)
        self.model.rename_wanted.connect(self._rename)
        window.close_wanted.connect(self._window_closed)
        window.quit_wanted.connect(self.ask_quit)
        window.active_changed.connect(self._watching_changed)
        window.state_changed.connect(self._save_state)
        window.next_waiting_wanted.connect(self._next_waiting)
        self.tray.open_wanted.connect(window.bring_to_front)
        self.tray.task_wanted.connect(self.open_task)
        self.tray.quit_wanted.connect(self.ask_quit)
        self.notices.activated.connect(self._notice_activated)

    def _wire_core(self) -> None:
        bus = self.core.bus
        bus.subscribe(TaskChanged, self._task_changed)
        bus.subscribe(TaskDeleted, self._task_deleted)
        bus.subscribe(SessionChanged, self._session_changed)
        bus.subscribe(SessionDeleted, self._session_deleted)
        bus.subscribe(Happened, self._on_happened)
        bus.subscribe(HappeningOver, self._on_over)
        bus.subscribe(HostChanged, self._host_changed)
        bus.subscribe(Problem, self._problem)

    def _spawn(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        self.core.spawner.spawn(self._shown(work), name)

    async def _shown(self, work: Coroutine[Any, Any, Any]) -> None:
        """Errors of what the person asked for show in the window."""
        try:
            await work
        except WalnutError as error:
            self.window.chat.banner.say(error.sentence())

    # -- tasks ----------------------------------------------------------------------------------------

    def _task_changed(self, event: TaskChanged) -> None:
        self.model.put(event.task)
        if event.task.id == self.chat.task_id:
            self.chat.show(event.task, self.model.session(event.task.id))
        if not event.task.needs_attention:
            self._withdraw_of(event.task.id)
        self._refresh_state()

    def _task_deleted(self, event: TaskDeleted) -> None:
        self.model.drop(event.task_id)
        if event.task_id == self.chat.task_id:
            self.chat.show(None, None)
        self._refresh_state()

    def _session_changed(self, event: SessionChanged) -> None:
        self.model.put_session(event.session)
        task_id = event.session.task_id
        task = self.model.task(task_id) if task_id else None
        if task is not None and task.id == self.chat.task_id:
            self.chat.show(task, self.model.session(task.id))
        self._refresh_state()

    def _session_deleted(self, event: SessionDeleted) -> None:
        self.model.drop_session(event.sid)
        task = self.model.task(self.chat.task_id) if self.chat.task_id else None
        if task is not None:
            self.chat.show(task, self.model.session(task.id))
        self._refresh_state()

    def _chosen(self, task_id: str) -> None:
        task = self.model.task(TaskId(task_id)) if task_id else None
        self.chat.show(task, self.model.session(task.id) if task else None)
        self._watching_changed()

    def open_task(self, task_id: str) -> None:
        """Bring the window to the front with this task."""
        self.window.bring_to_front()
        self.window.tasks.choose(TaskId(task_id))
        self._watching_changed()

    def _focus_chat(self) -> None:
        card = self.window.chat.card
        if card is not None:
            card.focus_first()
        else:
            self.window.chat.composer.setFocus()

    def _add_task(self, title: str, parent: str) -> None:
        async def add() -> None:
            task = await self.core.tasks.create(title, parent_id=parent or None)
            self.window.tasks.added()
            self.window.tasks.choose(task.id)

        self._spawn(add(), "add-task")

    def _rename(self, task_id: str, title: str) -> None:
        self._spawn(self.core.tasks.rename(task_id, title), "rename-task")

    def _toggle(self, task_id: str) -> None:
        self._spawn(self.core.tasks.toggle_complete(task_id), "toggle-task")

    def _ask_delete(self, task_id: str) -> None:
        task = self.model.task(TaskId(task_id))
        if task is None or self._deleting is not None:
            return
        box = QMessageBox(self.window)
        box.setObjectName("deleteQuestion")
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle("Delete the task?")
        box.setText(f"Delete “{task.title}”?")
        box.setInformativeText("Its subtasks move up one level. This can’t be undone.")
        delete = box.addButton("Delete", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))

        def decided(_result: int) -> None:
            if box.clickedButton() is delete:
                self._spawn(self.core.tasks.delete(task_id), "delete-task")
            self._deleting = None
            box.deleteLater()

        self._deleting = box
        box.finished.connect(decided)
        box.open()

    def _next_waiting(self) -> None:
        waiting = self.model.waiting()
        if waiting:
            self.open_task(waiting[0].id)
            self._focus_chat()

    # -- who is looking ---------------------------------------------------------------------------------

    def _watching_changed(self) -> None:
        """The person looks at a task in the active window: its dot goes (Rule T15)."""
        active = self.window.is_in_front()
        task_id = self.chat.task_id
        self.core.set_watching(window_active=active, task_id=task_id)
        task = self.model.task(task_id) if task_id else None
        if active and task is not None and task.needs_attention:
            self._spawn(self.core.tasks.open(task.id), "open-task")

    def _refresh_state(self) -> None:
        waiting, working = self.model.waiting(), self.model.working()
        self.tray.update_state(waiting, working)
        self.window.tasks.refresh_counts()
        count = counts_line(len(waiting), 0)
        self.window.setWindowTitle(f"{count} – Walnut Desktop" if waiting else "Walnut Desktop")
        if hasattr(self.app, "setBadgeNumber"):
            self.app.setBadgeNumber(len(waiting))

    # -- notices ----------------------------------------------------------------------------------------

    def _on_happened(self, event: Happened) -> None:
        decision = decide_notify(event.happening, self.core.watching(event.task_id))
        log.info("notice %s %s %s", event.key, event.happening.value, decision.reason)
        if not decision.show or not self.core.settings.values.notices.enabled:
            return
        self._happened[event.key] = event
        actions = PERMISSION_ACTIONS if event.happening is Happening.PERMISSION else ()
        title = f"{event.title}: {decision.headline.lower()}"
        self._spawn(self.notices.show(event.key, title, event.detail, actions), "notice")

    def _on_over(self, event: HappeningOver) -> None:
        self._happened.pop(event.key, None)
        self._spawn(self.notices.withdraw(event.key), "withdraw")

    def _withdraw_of(self, task_id: TaskId) -> None:
        for key, event in list(self._happened.items()):
            if event.task_id == task_id and event.happening is not Happening.PERMISSION:
                del self._happened[key]
                self._spawn(self.notices.withdraw(key), "withdraw")

    def _notice_activated(self, key: str, action: str) -> None:
        event = self._happened.get(key)
        if event is None:
            self.window.bring_to_front()
            return
        request_id = key.rpartition(":ask:")[2]
        if action == "allow":
            self._spawn(self.core.sessions.allow(event.sid, request_id), "allow")
        elif action == "deny":
            self._spawn(self.core.sessions.deny(event.sid, request_id), "deny")
        elif event.task_id is not None:
            self.open_task(event.task_id)

    # -- troubles -----------------------------------------------------------------------------------------

    def _host_changed(self, event: HostChanged) -> None:
        banner = self.window.chat.banner
        if not event.connected:
            banner.say(event.detail or "The helper is gone. Trying again…", kind="warning")
        elif banner.text() and not banner.isHidden() and "helper" in banner.text():
            banner.hide()

    def _problem(self, event: Problem) -> None:
        self.window.chat.banner.say(f"{event.message} {event.hint}".strip())

    # -- closing and quitting -------------------------------------------------------------------------------

    def _save_state(self) -> None:
        self._spawn(self._remember(), "remember-window")

    def _window_closed(self) -> None:
        self._save_state()
        if not self.tray.is_available():
            self.window.showMinimized()
            return
        self.window.hide()
        if not self._told_about_tray:
            self._told_about_tray = True
            self._spawn(self._tell_about_tray(), "tell-about-tray")

    async def _tell_about_tray(self) -> None:
        if await self.core.recall("told_about_tray", default=False):
            return
        await self.core.remember("told_about_tray", value=True)
        await self.notices.show(
            "tray",
            "Walnut goes on in the tray",
            "Sessions keep running. Click the icon to come back.",
        )

    def ask_quit(self) -> None:
        """Quit; with living sessions say first that they run on."""
        living = self.model.living()
        if not living:
            self._ask_to_stop()
            return
        if self._quitting is not None:
            return
        box = QMessageBox(self.window)
        box.setObjectName("quitQuestion")
        box.setIcon(QMessageBox.Icon.Information)
        box.setWindowTitle("Quit Walnut Desktop?")
        sessions = "1 session keeps" if living == 1 else f"{living} sessions keep"
        box.setText(f"{sessions} running without the app.")
        box.setInformativeText(
            "Open Walnut again to see what they have done. Nothing is shown in the tray meanwhile."
        )
        leave = box.addButton("Quit", QMessageBox.ButtonRole.AcceptRole)
        box.setDefaultButton(leave)
        box.addButton(QMessageBox.StandardButton.Cancel)

        def decided(_result: int) -> None:
            if box.clickedButton() is leave:
                self._ask_to_stop()
            self._quitting = None
            box.deleteLater()

        self._quitting = box
        box.finished.connect(decided)
        self.window.bring_to_front()
        box.open()
