"""stand-in"""

from __future__ import annotations
import functools, logging
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def never_raises(fallback: Any) -> Callable[[F], F]:
    def wrap(f: F) -> F:
        @functools.wraps(f)
        def inner(*a: Any, **k: Any) -> Any:
            try:
                return f(*a, **k)
            except Exception:
                logging.getLogger(__name__).exception("override failed")
                return fallback

        return inner  # type: ignore[return-value]

    return wrap
