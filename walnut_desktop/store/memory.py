"""Small things that are remembered: notices that were given, and the state of the window."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from walnut_desktop.store.columns import from_json, time_to_text, to_json
from walnut_desktop.store.tables import NoticeRow, UiStateRow, tuples


class Notices:
    """Each key once (Rule G2)."""

    def first_time(self, key: str, now: datetime) -> bool:
        """Remember the key; False when it was known already."""
        row = {"key": key, "at": time_to_text(now)}
        return bool(NoticeRow.insert(row).on_conflict_ignore().as_rowcount().execute())


class UiState:
    """Values by key."""

    def get(self, key: str, default: Any = None) -> Any:
        """What was put, or the default."""
        rows = tuples(UiStateRow.select(UiStateRow.value).where(UiStateRow.key == key))
        return from_json(rows[0][0]) if rows else default

    def put(self, key: str, value: Any) -> None:
        """Remember a JSON value."""
        row = {"key": key, "value": to_json(value)}
        UiStateRow.insert(row).on_conflict_replace().execute()
