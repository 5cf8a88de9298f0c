"""Keeps errors inside Qt's call-backs: one that gets out is raised in whatever line called into Qt (D20).

Each kind of error is reported once per place; the call-back then answers something harmless.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any, TypeVar

log = logging.getLogger(__name__)

F = TypeVar("F", bound=Callable[..., Any])
Reporter = Callable[[BaseException, str], None]

_seen: set[tuple[str, type[BaseException], str]] = set()
_reporters: list[Reporter] = []


def set_reporter(reporter: Reporter | None) -> None:
    """Who hears of such errors; None for the log alone."""
    _reporters[:] = [reporter] if reporter is not None else []
    _seen.clear()


def never_raises(fallback: Any) -> Callable[[F], F]:
    """For every override of a Qt method: on an error answer `fallback` and report it once."""

    def decorate(method: F) -> F:
        @functools.wraps(method)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            try:
                return method(*args, **kwargs)
            except Exception as error:  # noqa: BLE001 - a border: Qt would raise it in a stranger's line
                _report(error, method.__qualname__)
                return fallback

        guarded.is_guarded = True  # type: ignore[attr-defined]
        return guarded  # type: ignore[return-value]

    return decorate


def _report(error: BaseException, where: str) -> None:
    mark = (where, type(error), str(error))
    if mark in _seen:
        return
    _seen.add(mark)
    if _reporters:
        _reporters[0](error, where)
    else:
        log.error("error in %s", where, exc_info=error)
