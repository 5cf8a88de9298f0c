"""The one place that reads clocks. Tests give their own."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Wall time for what is stored, monotonic time for what is measured."""

    def now(self) -> datetime:
        """The time of day, aware, UTC."""

    def monotonic(self) -> float:
        """Seconds that never jump."""


class SystemClock:
    """The machine's clocks."""

    def now(self) -> datetime:
        """The time of day, aware, UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that never jump."""
        return time.monotonic()
