"""The store's own thread: every unit of work is one function in one transaction (D9, D23).

A unit reads, decides with the domain's functions, writes, and says which events to publish. They leave after
the commit, on the loop, in the order of the commits. A unit that has begun is never torn by a cancelled wait.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import peewee

from walnut_desktop.domain.events import Event
from walnut_desktop.runtime.bus import Bus
from walnut_desktop.runtime.clock import Clock
from walnut_desktop.runtime.paths import Paths
from walnut_desktop.store import database
from walnut_desktop.store.memory import Notices, UiState
from walnut_desktop.store.messages import Messages
from walnut_desktop.store.sessions import Sessions
from walnut_desktop.store.tables import proxy
from walnut_desktop.store.tasks import Tasks

T = TypeVar("T")


class Unit:
    """What a unit of work can reach: the repositories, the time, and the events it gives out."""

    def __init__(self, clock: Clock) -> None:
        self.now = clock.now()
        self.tasks = Tasks()
        self.sessions = Sessions()
        self.messages = Messages()
        self.notices = Notices()
        self.ui = UiState()
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        """Publish after the commit."""
        self.events.append(event)


class Store:
    """Runs units one after the other on one thread."""

    def __init__(self, paths: Paths, clock: Clock, bus: Bus) -> None:
        self._paths = paths
        self._clock = clock
        self._bus = bus
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._db: peewee.SqliteDatabase | None = None

    async def open(self) -> None:
        """Prepare and open the database. Raises StoreTooNew or StoreError."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._open)

    def _open(self) -> None:
        database.prepare(self._paths.database, self._paths.backups, self._clock.now())
        db = peewee.SqliteDatabase(
            str(self._paths.database),
            pragmas={
                "journal_mode": "wal",
                "synchronous": "full",
                "foreign_keys": 1,
                "busy_timeout": 2000,
            },
        )
        try:
            db.connect()
        except (peewee.DatabaseError, sqlite3.Error) as error:
            raise database.known_trouble(error, self._paths.database) from error
        proxy.initialize(db)
        self._db = db

    async def run(self, unit: Callable[[Unit], T]) -> T:
        """Run the function in one transaction and answer what it answers.

        Errors of the domain pass through and undo everything; troubles of the disk become StoreError.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def finish(result: T | None, error: BaseException | None, events: list[Event]) -> None:
            self._bus.publish(events)
            if future.cancelled():
                return
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(result)  # type: ignore[arg-type]

        def work() -> None:
            result: T | None = None
            error: BaseException | None = None
            events: list[Event] = []
            try:
                result, events = self._transaction(unit)
            except BaseException as caught:  # noqa: BLE001 - handed to the one who waits
                error = caught
            loop.call_soon_threadsafe(finish, result, error, events)

        self._thread.submit(work)
        return await future

    def _transaction(self, unit: Callable[[Unit], T]) -> tuple[T, list[Event]]:
        if self._db is None:
            raise RuntimeError("the store is not open")
        scope = Unit(self._clock)
        try:
            with database.transaction(self._db.connection()):  # type: ignore[no-untyped-call]
                result = unit(scope)
        except (peewee.DatabaseError, sqlite3.Error) as error:
            raise database.known_trouble(error, self._paths.database) from error
        return result, scope.events

    async def close(self) -> None:
        """Let everything that was asked for finish, then close the file."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown(wait=False)

    def _close(self) -> None:
        if self._db is not None:
            self._db.execute_sql("PRAGMA wal_checkpoint(TRUNCATE)")  # type: ignore[no-untyped-call]
            self._db.close()
            self._db = None
