"""How long to wait before the next try: doubling, bounded, and forgotten after a good stretch. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Backoff:
    """Delays of first, 2·first, 4·first … up to most, in seconds."""

    first: float = 0.2
    most: float = 30.0
    failures: int = 0

    def failed(self) -> float:
        """One more failure; the seconds to wait now."""
        delay = min(self.most, self.first * (2.0 ** min(self.failures, 30)))
        self.failures += 1
        return delay

    def succeeded(self) -> None:
        """It works: the next failure starts from the beginning."""
        self.failures = 0
