"""Opening the database: refuse a newer one untouched, back up, migrate; known troubles become a sentence."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from walnut_desktop.domain.errors import StoreError, StoreTooNew
from walnut_desktop.store import migrations

KEEP_BACKUPS = 3
_NO_ACCESS = ("readonly", "read-only", "unable to open")


def stored_version(path: Path) -> int:
    """The schema version of the file, read without changing it; 0 for a missing or empty one."""
    if not path.exists() or path.stat().st_size == 0:
        return 0
    # Even a reader makes the files of the write-ahead log, unless it is told that nobody writes.
    alone = not path.with_name(f"{path.name}-wal").exists()
    query = "mode=ro&immutable=1" if alone else "mode=ro"
    db = sqlite3.connect(f"{path.as_uri()}?{query}", uri=True)
    try:
        return int(db.execute("PRAGMA user_version").fetchone()[0])
    finally:
        db.close()


def prepare(
    path: Path,
    backups: Path,
    now: datetime,
    steps: Sequence[migrations.Step] = migrations.STEPS,
) -> None:
    """Bring the file to the latest schema. Raises StoreTooNew or StoreError; then it is as it was."""
    try:
        version = stored_version(path)
        if version > len(steps):
            raise StoreTooNew(
                "The data in this home was written by a newer Walnut Desktop "
                f"(schema {version}; this one knows {len(steps)}).",
                "Update the app. Nothing was changed.",
            )
        if version < len(steps):
            if version:
                back_up(path, backups, f"before-schema-{len(steps)}", now)
            _migrate(path, version, steps)
    except (sqlite3.Error, OSError) as error:
        raise known_trouble(error, path) from error


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Whole or not at all."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # on a full disk SQLite has undone it already
            db.execute("ROLLBACK")
        raise


def _migrate(path: Path, version: int, steps: Sequence[migrations.Step]) -> None:
    path.touch(mode=0o600, exist_ok=True)
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        with transaction(db):
            for number in range(version, len(steps)):
                steps[number](db)
                db.execute(f"PRAGMA user_version={number + 1}")
    finally:
        db.close()


def back_up(path: Path, folder: Path, name: str, now: datetime) -> Path:
    """A consistent copy, with what is still in the write-ahead log; the newest three of a name are kept."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    target = folder / f"walnut-{name}-{now.strftime('%Y%m%d-%H%M%S')}.sqlite"
    source = sqlite3.connect(path)
    copy = sqlite3.connect(target)
    try:
        source.backup(copy)
    finally:
        copy.close()
        source.close()
    target.chmod(0o600)
    for old in sorted(folder.glob(f"walnut-{name}-*.sqlite"))[:-KEEP_BACKUPS]:
        old.unlink()
    return target


def known_trouble(error: Exception, path: Path) -> StoreError:
    """A trouble of the surroundings as a sentence with what to do."""
    text = str(error).lower()
    if "full" in text or "no space" in text:
        return StoreError(
            "The disk is full.", "Free some space; nothing was lost that was accepted."
        )
    if isinstance(error, OSError) or any(word in text for word in _NO_ACCESS):
        return StoreError(f"{path} can't be written.", "Check the rights of the folder.")
    if "locked" in text or "busy" in text:
        return StoreError(f"{path} is locked by another program.", "Close it and try again.")
    if "malformed" in text or "not a database" in text or "corrupt" in text:
        return StoreError(
            f"{path} is damaged.",
            f"Put the newest copy from {path.parent / 'backups'} in its place.",
        )
    return StoreError(f"{path} can't be used: {error}.")
