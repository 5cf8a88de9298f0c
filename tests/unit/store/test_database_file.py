"""The database's file: made, moved on with a copy first, refused when newer, never half changed (D9, G18)."""

from __future__ import annotations

import sqlite3
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from walnut_desktop.domain.errors import StoreError, StoreTooNew
from walnut_desktop.store import database, migrations

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database of the newest schema."""
    path = tmp_path / "walnut.sqlite"
    database.prepare(path, tmp_path / "backups", NOW)
    return path


def add_column(db: sqlite3.Connection) -> None:
    """A step as a later version would bring it."""
    db.execute("CREATE TABLE later (id INTEGER PRIMARY KEY, text TEXT)")


def break_down(db: sqlite3.Connection) -> None:
    """A step that fails after it has changed something."""
    db.execute("CREATE TABLE half (id INTEGER PRIMARY KEY)")
    db.execute("INSERT INTO nowhere VALUES (1)")


def tables(path: Path) -> set[str]:
    """The names of all tables."""
    db = sqlite3.connect(path)
    try:
        return {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")}
    finally:
        db.close()


def test_a_new_one_has_the_schema_and_is_for_its_owner_only(path: Path, tmp_path: Path) -> None:
    assert database.stored_version(path) == len(migrations.STEPS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not (tmp_path / "backups").exists(), "there was nothing to copy"


def test_a_second_start_changes_nothing(path: Path, tmp_path: Path) -> None:
    before = path.read_bytes()
    database.prepare(path, tmp_path / "backups", NOW)
    assert path.read_bytes() == before


def test_a_newer_one_is_refused_and_not_touched(path: Path, tmp_path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version={len(migrations.STEPS) + 1}")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(StoreTooNew, match="newer Walnut Desktop"):
        database.prepare(path, tmp_path / "backups", NOW)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_before_a_step_a_copy_is_made_with_what_is_only_in_the_log(
    path: Path, tmp_path: Path
) -> None:
    writer = sqlite3.connect(path)
    try:
        writer.execute("PRAGMA wal_autocheckpoint=0")
        writer.execute("CREATE TABLE fresh (text TEXT)")
        writer.execute("INSERT INTO fresh VALUES ('only in the log')")
        writer.commit()
        assert (tmp_path / "walnut.sqlite-wal").stat().st_size > 0
        database.prepare(path, tmp_path / "backups", NOW, [*migrations.STEPS, add_column])
    finally:
        writer.close()
    (copy,) = (tmp_path / "backups").iterdir()
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert database.stored_version(copy) == len(migrations.STEPS), "the copy is the old form"
    assert "later" not in tables(copy)
    db = sqlite3.connect(copy)
    assert db.execute("SELECT text FROM fresh").fetchall() == [("only in the log",)]
    db.close()
    assert "later" in tables(path)


def test_a_step_that_fails_leaves_the_old_form(path: Path, tmp_path: Path) -> None:
    steps = [*migrations.STEPS, add_column, break_down]
    with pytest.raises(StoreError):
        database.prepare(path, tmp_path / "backups", NOW, steps)
    assert database.stored_version(path) == len(migrations.STEPS)
    assert tables(path).isdisjoint({"later", "half"})


def test_the_newest_three_copies_are_kept(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    for day in range(5):
        database.back_up(path, folder, "before-schema-2", NOW + timedelta(days=day))
    assert len(list(folder.iterdir())) == database.KEEP_BACKUPS
    assert "20261205" in max(file.name for file in folder.iterdir())


def test_a_damaged_one_is_told_with_the_way_back(tmp_path: Path) -> None:
    path = tmp_path / "walnut.sqlite"
    path.write_bytes(b"this is no database, but long enough to be read as one" * 40)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="damaged"):
        database.prepare(path, tmp_path / "backups", NOW)
    assert path.read_bytes() == before
