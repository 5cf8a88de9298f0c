"""All engines of this app, by id."""

from __future__ import annotations

from collections.abc import Iterable

from walnut_desktop.engines.base import Engine


class Engines:
    """Finds an engine by the word that a session carries."""

    def __init__(self, engines: Iterable[Engine]) -> None:
        self._engines = {engine.id: engine for engine in engines}

    def get(self, engine_id: str) -> Engine | None:
        """The engine, or None for an unknown word (old or newer data)."""
        return self._engines.get(engine_id)

    def all(self) -> list[Engine]:
        """Every engine, in order of preference."""
        return list(self._engines.values())
