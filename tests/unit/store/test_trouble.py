"""Old databases open, newer ones stay untouched, and troubles of the disk become a sentence (Rule T16)."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.fakes.loop import on_loop
from tests.unit.store.test_units import opened
from walnut_desktop.domain.errors import StoreError, StoreTooNew
from walnut_desktop.domain.events import Event, Problem
from walnut_desktop.domain.ids import MessageId, Sid, TaskId
from walnut_desktop.runtime.bus import Bus
from walnut_desktop.runtime.clock import SystemClock
from walnut_desktop.runtime.paths import Paths
from walnut_desktop.store import migrations
from walnut_desktop.store.worker import Store, Unit

STORED = Path(__file__).parents[2] / "data" / "databases"
SID = Sid("11111111-1111-4111-8111-111111111111")


@pytest.mark.rule("T16")
@on_loop
async def test_a_stored_database_of_schema_1_opens_with_everything_in_it(tmp_path: Path) -> None:
    home = tmp_path / "w"
    home.mkdir()
    shutil.copyfile(STORED / "schema-1.sqlite", home / "walnut.sqlite")
    async with opened(home) as store:
        tasks = await store.run(lambda unit: unit.tasks.all())
        session = await store.run(lambda unit: unit.sessions.get(SID))
        checkpoint = await store.run(lambda unit: unit.sessions.checkpoint(SID))
        (message,) = await store.run(lambda unit: unit.messages.unfinished(SID))
        window = await store.run(lambda unit: unit.ui.get("window"))
        known = await store.run(lambda unit: not unit.notices.first_time("k1", unit.now))
    assert [task.phase for task in tasks.values()] == ["IN_PROGRESS", "SOMETHING_NEW", "COMPLETE"]
    shed = tasks[TaskId("mabc1234-0001")]
    assert (shed.title, shed.tags, shed.ext) == ("Paint the shed", ("outdoor",), {"kept": [1, 2]})
    assert session is not None
    assert session.pending[0].tool_input == {"command": "ls"}
    assert (session.background[0].task_id, session.pid, session.turns) == ("b1", 4242, 3)
    assert checkpoint == {"version": 1, "offset": 4711}
    assert (message.text, message.seq) == ("Use green, please", 1)
    assert window == {"width": 900}
    assert known


def test_every_schema_is_stored() -> None:
    """Whoever adds a migration adds the database that it starts from."""
    for number in range(1, len(migrations.STEPS) + 1):
        db = sqlite3.connect(f"{(STORED / f'schema-{number}.sqlite').as_uri()}?mode=ro", uri=True)
        assert db.execute("PRAGMA user_version").fetchone() == (number,)
        db.close()


@pytest.mark.rule("T16")
def test_a_newer_one_with_a_log_is_not_touched(tmp_path: Path) -> None:
    paths = Paths(tmp_path / "w")
    paths.make()
    writer = sqlite3.connect(paths.database)
    try:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("PRAGMA wal_autocheckpoint=0")
        writer.execute("PRAGMA user_version=99")
        writer.execute("CREATE TABLE future (text TEXT)")
        writer.commit()
        log = paths.home / "walnut.sqlite-wal"
        before = paths.database.read_bytes(), log.read_bytes()
        with pytest.raises(StoreTooNew, match="schema 99") as caught:
            asyncio.run(Store(paths, SystemClock(), Bus()).open())
        assert "Nothing was changed" in caught.value.sentence()
        assert (paths.database.read_bytes(), log.read_bytes()) == before
    finally:
        writer.close()


@on_loop
async def test_two_hundred_units_at_once_commit_and_tell_in_order(tmp_path: Path) -> None:
    paths = Paths(tmp_path / "w")
    paths.make()
    bus = Bus()
    store = Store(paths, SystemClock(), bus)
    await store.open()
    told: list[tuple[str, bool]] = []

    def stored_outside(number: int) -> bool:
        db = sqlite3.connect(paths.database)
        try:
            query = "SELECT 1 FROM ui_state WHERE key = ?"
            return db.execute(query, (f"k{number}",)).fetchone() is not None
        finally:
            db.close()

    def heard(event: Problem) -> None:
        told.append((event.message, stored_outside(int(event.message))))

    bus.subscribe(Problem, heard)

    def work(number: int) -> None:
        def unit_of_work(unit: Unit) -> None:
            unit.ui.put(f"k{number}", number)
            unit.emit(Problem(str(number)))
            if number % 10 == 9:
                raise KeyError(number)

        waits.append(asyncio.ensure_future(store.run(unit_of_work)))

    waits: list[asyncio.Future[None]] = []
    for number in range(200):
        work(number)
    results = await asyncio.gather(*waits, return_exceptions=True)
    await store.close()
    assert [isinstance(result, KeyError) for result in results] == [n % 10 == 9 for n in range(200)]
    good = [str(number) for number in range(200) if number % 10 != 9]
    assert told == [(number, True) for number in good], "after the commit, in its order"


@pytest.mark.parametrize("place", ["file", "folder"])
def test_a_home_that_can_not_be_used_is_told(tmp_path: Path, place: str) -> None:
    paths = Paths(tmp_path / "w")
    if place == "file":
        paths.home.write_text("in the way")
    else:
        paths.database.mkdir(parents=True)
    with pytest.raises(StoreError) as caught:
        asyncio.run(Store(paths, SystemClock(), Bus()).open())
    assert str(paths.database) in caught.value.sentence()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_without_rights_is_told(tmp_path: Path) -> None:
    paths = Paths(tmp_path / "w")
    paths.make()
    paths.home.chmod(0o500)
    try:
        with pytest.raises(StoreError, match="can't be written"):
            asyncio.run(Store(paths, SystemClock(), Bus()).open())
    finally:
        paths.home.chmod(0o700)


@on_loop
async def test_a_write_that_the_disk_refuses_changes_nothing_and_the_store_goes_on(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path / "w") as store:

        def limit(pages: int) -> None:
            """As a full disk: the file may not grow."""
            db = store._db
            assert db is not None
            db.execute_sql(f"PRAGMA max_page_count={pages}")  # type: ignore[no-untyped-call]

        def big(unit: Unit) -> None:
            unit.ui.put("small", 1)
            unit.ui.put("big", "x" * 1_000_000)

        await store.run(lambda _unit: limit(20))
        with pytest.raises(StoreError, match="disk is full") as caught:
            await store.run(big)
        assert caught.value.hint
        assert await store.run(lambda unit: unit.ui.get("small")) is None
        await store.run(lambda _unit: limit(100_000))
        await store.run(big)
        assert await store.run(lambda unit: unit.ui.get("small")) == 1


@on_loop
async def test_a_lost_message_row_and_unknown_ids_are_none(tmp_path: Path) -> None:
    async with opened(tmp_path / "w") as store:
        assert await store.run(lambda unit: unit.messages.get(MessageId("none"))) is None
        assert await store.run(lambda unit: unit.tasks.get("none")) is None
        assert await store.run(lambda unit: unit.sessions.get("none")) is None
        assert await store.run(lambda unit: unit.sessions.checkpoint(SID)) is None


def test_events_are_values() -> None:
    assert Problem("a") == Problem("a")
    assert isinstance(Problem("a"), Event)
