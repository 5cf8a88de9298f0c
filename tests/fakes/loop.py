"""Runs tests that are coroutines, each on a loop of its own and never for long."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec

P = ParamSpec("P")

LIMIT_S = 20.0


def on_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """The test as a plain function; it fails when it takes over 20 seconds."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        async def main() -> None:
            await asyncio.wait_for(test(*args, **kwargs), LIMIT_S)

        asyncio.run(main())

    return run


async def eventually(holds: Callable[[], object], what: str = "") -> None:
    """Wait until it holds; fails with `what` when it does not come to pass."""
    loop = asyncio.get_running_loop()
    until = loop.time() + LIMIT_S / 2
    while not holds():
        assert loop.time() < until, f"it did not come to pass: {what}"
        await asyncio.sleep(0.01)
