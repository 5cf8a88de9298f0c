"""Who hears what has happened: events by type, in order, to everybody who asked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from walnut_desktop.domain.events import Event

log = logging.getLogger(__name__)
E = TypeVar("E", bound=Event)


class Bus:
    """Publishes events on the loop's thread. One listener's error is not another's."""

    def __init__(self) -> None:
        self._listeners: dict[type[Event], list[Callable[[Any], None]]] = {}

    def subscribe(self, kind: type[E], listener: Callable[[E], None]) -> Callable[[], None]:
        """Hear every event of a type; the answer ends it."""
        listeners = self._listeners.setdefault(kind, [])
        listeners.append(listener)

        def stop() -> None:
            if listener in listeners:
                listeners.remove(listener)

        return stop

    def publish(self, events: Iterable[Event]) -> None:
        """Tell the listeners, in order."""
        for event in events:
            for listener in list(self._listeners.get(type(event), ())):
                try:
                    listener(event)
                except Exception:
                    # A border: a window that fails to show something must not stop the core.
                    log.exception("a listener failed for %s", type(event).__name__)
