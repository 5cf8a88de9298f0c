"""How values become columns: aware UTC times as ISO text, lists and maps as JSON text."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any


def time_to_text(value: datetime) -> str:
    """An aware time as UTC text that sorts."""
    return value.astimezone(UTC).isoformat(timespec="microseconds")


def text_to_time(text: str) -> datetime:
    """The time of a column."""
    return datetime.fromisoformat(text)


def maybe_text(value: datetime | None) -> str | None:
    """The same, for times that may be absent."""
    return None if value is None else time_to_text(value)


def maybe_time(text: str | None) -> datetime | None:
    """The same, for times that may be absent."""
    return None if text is None else text_to_time(text)


def to_json(value: Any) -> str:
    """Compact JSON text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> Any:
    """The value of JSON text."""
    if text == "[]":
        return []  # most lists of most rows: worth a short cut when thousands are read
    if text == "{}":
        return {}
    return json.loads(text)
