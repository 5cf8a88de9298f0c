"""Tasks that are kept, named, waited for, and whose errors are reported (D19): the only maker of tasks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

log = logging.getLogger(__name__)

Reporter = Callable[[BaseException, str], None]


class Spawner:
    """Starts coroutines as tasks of one owner and ends them with it."""

    def __init__(self, report: Reporter | None = None) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._report = report
        self._closing = False

    def spawn(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        """Run `work` as a task. Its error goes to the reporter, never into the void."""
        _ = self.task(work, name)

    def task(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """The same, for who wants to wait for it or cancel it."""
        if self._closing:
            work.close()
            raise RuntimeError("the app is closing")
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            return
        if self._report is not None:
            self._report(error, task.get_name())
        else:
            log.error("task %s failed", task.get_name(), exc_info=error)

    async def close(self, grace_s: float = 2.0) -> None:
        """Give the tasks a moment, then cancel what is left and wait for it."""
        self._closing = True
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        if tasks:
            _, left = await asyncio.wait(tasks, timeout=grace_s)
            for task in left:
                task.cancel()
            if left:
                await asyncio.wait(left, timeout=grace_s)

    def cancel_all(self) -> None:
        """Cancel every task now; `close` still waits for them."""
        for task in list(self._tasks):
            task.cancel()
