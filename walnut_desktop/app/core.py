"""The core: everything of the app but the window, built and started in one place.

A window, a script or a test makes one `Core` per home. Only one can run on a home at a time (D17).
"""

from __future__ import annotations

import fcntl
import logging
import os
from typing import Any

from walnut_desktop.app import wiring
from walnut_desktop.domain.attention import Watching
from walnut_desktop.domain.errors import Conflict, HostUnreachable, WalnutError
from walnut_desktop.domain.events import HostChanged, Problem
from walnut_desktop.domain.ids import TaskId
from walnut_desktop.engines.claude import ClaudeCode
from walnut_desktop.engines.practice import PracticeAgent
from walnut_desktop.engines.registry import Engines
from walnut_desktop.hosts.host import Host
from walnut_desktop.hosts.local import LocalHost
from walnut_desktop.protocol.messages import Shutdown
from walnut_desktop.runtime.bus import Bus
from walnut_desktop.runtime.clock import Clock, SystemClock
from walnut_desktop.runtime.paths import Paths
from walnut_desktop.runtime.settings import SettingsFile
from walnut_desktop.runtime.spawner import Spawner
from walnut_desktop.sessions.follow import LeftBehind
from walnut_desktop.sessions.service import SessionService
from walnut_desktop.store.worker import Store
from walnut_desktop.tasks.service import TaskService

log = logging.getLogger(__name__)


class AlreadyRunning(Conflict):
    """Another app works on this home."""

    code = "already_running"


class Core:
    """Holds the services. `start` before anything else, `stop` at the end."""

    def __init__(self, paths: Paths, clock: Clock | None = None) -> None:
        self.paths = paths
        self.clock = clock or SystemClock()
        self.bus = Bus()
        self.spawner = Spawner(self.report)
        self.settings = SettingsFile(paths.settings)
        self.store = Store(paths, self.clock, self.bus)
        agent = self.settings.values.agent
        self.engines = Engines(
            [
                ClaudeCode(agent.claude_program, os.environ.get("CLAUDE_CONFIG_DIR", "")),
                PracticeAgent(str(paths.home / "practice")),
            ]
        )
        self.host = Host(None, LocalHost(paths.home, self.spawner), self.spawner)
        self.tasks = TaskService(self.store)
        self.sessions = SessionService(
            self.store, self.host, self.engines, paths, self.clock, self.spawner
        )
        self.sessions.starter.timeout_s = agent.start_timeout_s
        self._lock: int | None = None
        self._watching = Watching(False, False)
        self._watched_task: TaskId | None = None
        wiring.connect(self.bus, self.spawner, self.host, self.sessions, self.watching)

    async def start(self) -> None:
        """Take the home, open the database, reach the helper, catch up (model-codebases 3.5).

        Raises AlreadyRunning or StoreError. A helper that can't be reached is told as an event: the app
        opens all the same.
        """
        self.paths.make()
        self._take_lock()
        try:
            await self.store.open()
        except WalnutError:
            self._release_lock()
            raise
        for problem in self.settings.problems:
            self.bus.publish([Problem(problem)])
        left = await self.sessions.left_behind()
        self.spawner.spawn(self._reach_helper(left), "reach-helper")

    async def _reach_helper(self, left: LeftBehind) -> None:
        try:
            await self.host.connect()
            await self.sessions.catch_up(left)
        except HostUnreachable as error:
            self.bus.publish([HostChanged(None, connected=False, detail=error.sentence())])

    async def stop(self) -> None:
        """Close everything of ours. The helper and the agents run on (Rule G2)."""
        self.host.close()
        await self.spawner.close()
        await self.store.close()
        self._release_lock()

    async def shut_helper_down(self) -> None:
        """End every session of this home and the helper itself (the tour and the tests clean up so)."""
        home = str(self.paths.home)
        await self.host.request("shutdown", Shutdown(home=home, end_sessions=True), 60.0)
        await self.host.gone()

    def report(self, error: BaseException, where: str) -> None:
        """The one place for errors that belong to nobody's call."""
        if isinstance(error, WalnutError):
            log.warning("%s: %s", where, error)
            self.bus.publish([Problem(error.message, error.hint)])
            return
        log.error("unexpected error in %s", where, exc_info=error)
        self.bus.publish(
            [Problem("Something unexpected went wrong.", f"The log has it ({where}).")]
        )

    # -- who is looking -----------------------------------------------------------------------------

    def set_watching(self, *, window_active: bool, task_id: TaskId | None) -> None:
        """The window says whether it is in front and which task it shows."""
        self._watching = Watching(window_active, task_shown=False)
        self._watched_task = task_id

    def watching(self, task_id: TaskId | None) -> Watching:
        """Whether the person looks at this task right now."""
        shown = task_id is not None and task_id == self._watched_task
        return self._watching._replace(task_shown=shown)

    # -- what the window remembers -------------------------------------------------------------------

    async def recall(self, key: str, default: Any = None) -> Any:
        """A value that the window has put."""
        return await self.store.run(lambda unit: unit.ui.get(key, default))

    async def remember(self, key: str, value: Any) -> None:
        """Keep a JSON value for the window."""
        await self.store.run(lambda unit: unit.ui.put(key, value))

    def _take_lock(self) -> None:
        fd = os.open(self.paths.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            raise AlreadyRunning(
                f"Walnut Desktop already works on {self.paths.home}.", "Use the open window."
            ) from None
        self._lock = fd

    def _release_lock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
