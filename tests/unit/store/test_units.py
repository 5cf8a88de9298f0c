"""Units of work: whole or not at all, in the order asked, and never torn by a wait that ends (D23)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from walnut_desktop.runtime.bus import Bus
from walnut_desktop.runtime.clock import SystemClock
from walnut_desktop.runtime.paths import Paths
from walnut_desktop.store.worker import Store, Unit


@asynccontextmanager
async def opened(home: Path) -> AsyncIterator[Store]:
    """A store on a fresh home."""
    paths = Paths(home)
    paths.make()
    store = Store(paths, SystemClock(), Bus())
    await store.open()
    try:
        yield store
    finally:
        await store.close()


async def committed(store: Store, key: str) -> object:
    """The value that is stored under the key."""
    return await store.run(lambda unit: unit.ui.get(key))


def test_units_run_in_the_order_in_which_they_were_asked(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path / "w") as store:
            done: list[int] = []

            def work(number: int) -> Callable[[Unit], None]:
                return lambda _unit: done.append(number)

            await asyncio.gather(*(store.run(work(number)) for number in range(50)))
            assert done == list(range(50))

    asyncio.run(main())


def test_an_error_undoes_the_whole_unit_and_its_events(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path / "w") as store:

            def work(unit: Unit) -> None:
                unit.ui.put("a", 1)
                raise KeyError("b")

            try:
                await store.run(work)
            except KeyError:
                pass
            else:
                raise AssertionError("the error did not come through")
            assert await committed(store, "a") is None

    asyncio.run(main())


def test_a_unit_that_has_begun_commits_though_nobody_waits_any_more(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path / "w") as store:
            begun, go_on = threading.Event(), threading.Event()

            def work(unit: Unit) -> None:
                begun.set()
                assert go_on.wait(10)
                unit.ui.put("a", "kept")

            waiter = asyncio.create_task(store.run(work))
            await asyncio.to_thread(begun.wait, 10)
            waiter.cancel()
            await asyncio.wait([waiter])
            assert waiter.cancelled()
            go_on.set()
            assert await committed(store, "a") == "kept"

    asyncio.run(main())


def test_the_loop_goes_on_while_a_unit_works(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path / "w") as store:
            go_on = threading.Event()
            waiter = asyncio.create_task(store.run(lambda _unit: go_on.wait(10)))
            await asyncio.sleep(0)  # had the unit run on the loop, nobody could set the event
            go_on.set()
            assert await waiter is True

    asyncio.run(main())


def test_what_was_accepted_is_there_after_the_next_start(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path / "w") as store:
            await store.run(lambda unit: unit.ui.put("a", ["x", 1]))
        async with opened(tmp_path / "w") as store:
            assert await committed(store, "a") == ["x", 1]

    asyncio.run(main())
