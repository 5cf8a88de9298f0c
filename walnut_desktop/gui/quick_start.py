"""No garbage collection while the app starts: everything that is made then is there to stay (P4)."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Collect nothing inside, and never look again at what was made inside."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
