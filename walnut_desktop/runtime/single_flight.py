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
        self._again[key] = False
        self._idle[key] = asyncio.Event()
        self._spawner.spawn(self._run(key), f"{self._name}:{key}")

    async def _run(self, key: Hashable) -> None:
        try:
            while True:
                self._again[key] = False
                await self._work(key)
                if not self._again[key]:
                    return
        finally:
            del self._again[key]
            self._idle.pop(key).set()

    async def settle(self, key: Hashable) -> None:
        """Wait until nothing runs for the key."""
        event = self._idle.get(key)
        if event is not None:
            await event.wait()
