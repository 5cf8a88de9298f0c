"""One run at a time per key: a second wish while one runs makes it run once more, not twice at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable

from walnut_desktop.runtime.spawner import Spawner


class SingleFlight:
    """Runs `work(key)` serially per key."""

    def __init__(
        self, spawner: Spawner, work: Callable[[Hashable], Awaitable[None]], name: str
    ) -> None:
        self._spawner = spawner
        self._work = work
        self._name = name
        self._again: dict[Hashable, bool] = {}
        self._idle: dict[Hashable, asyncio.Event] = {}

    def ask(self, key: Hashable) -> None:
        """Run for the key now, or once more after the run that is going on."""
        if key in self._again:
            self._again[key] = True
            return
        self._begin(key, asyncio.Event())

    def _begin(self, key: Hashable, idle: asyncio.Event) -> None:
        self._spawner.spawn(self._run(key, idle), f"{self._name}:{key}")
        self._again[key] = False
        self._idle[key] = idle

    async def _run(self, key: Hashable, idle: asyncio.Event) -> None:
        try:
            while True:
                self._again[key] = False
                await self._work(key)
                if not self._again[key]:
                    return
        except asyncio.CancelledError:
            self._again[key] = False
            raise
        finally:
            del self._idle[key]
            if not (self._again.pop(key) and self._begin_once_more(key, idle)):
                idle.set()

    def _begin_once_more(self, key: Hashable, idle: asyncio.Event) -> bool:
        """The run has failed: who asked while it went on gets one of their own, unless the app closes."""
        try:
            self._begin(key, idle)
        except RuntimeError:
            return False
        return True

    async def settle(self, key: Hashable) -> None:
        """Wait until nothing runs for the key."""
        event = self._idle.get(key)
        if event is not None:
            await event.wait()
