"""The bus, tasks that are kept, one run at a time, waits that grow, and logs that rotate."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Hashable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.loop import eventually, on_loop
from walnut_desktop.domain.events import Event, HappeningOver, HostChanged, Problem
from walnut_desktop.runtime import logs
from walnut_desktop.runtime.backoff import Backoff
from walnut_desktop.runtime.bus import Bus
from walnut_desktop.runtime.clock import SystemClock
from walnut_desktop.runtime.single_flight import SingleFlight
from walnut_desktop.runtime.spawner import Spawner

# -- the bus ---------------------------------------------------------------------------------------


def test_listeners_hear_their_kind_in_order_until_they_stop() -> None:
    bus, heard = Bus(), list[str]()
    stop = bus.subscribe(Problem, lambda event: heard.append(f"first {event.message}"))
    bus.subscribe(Problem, lambda event: heard.append(f"second {event.message}"))
    bus.publish([Problem("a"), HappeningOver("k"), Problem("b")])
    stop()
    stop()
    bus.publish([Problem("c")])
    assert heard == ["first a", "second a", "first b", "second b", "second c"]


def test_a_listener_that_fails_does_not_silence_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bus, heard = Bus(), list[str]()

    def fail(_event: Event) -> None:
        raise KeyError("x")

    bus.subscribe(Problem, fail)
    bus.subscribe(Problem, lambda event: heard.append(event.message))
    bus.publish([Problem("a"), Problem("b")])
    assert heard == ["a", "b"]
    assert caplog.text.count("a listener failed for Problem") == 2


def test_a_listener_may_stop_itself_and_others_while_it_is_told() -> None:
    bus, heard = Bus(), list[str]()

    def once(event: HostChanged) -> None:
        heard.append(event.detail)
        stop()

    stop = bus.subscribe(HostChanged, once)
    bus.publish([HostChanged(None, True, "a"), HostChanged(None, True, "b")])
    assert heard == ["a"]


# -- the spawner -----------------------------------------------------------------------------------


@on_loop
async def test_an_error_of_a_task_is_reported_with_its_name() -> None:
    reported: list[tuple[str, str]] = []
    spawner = Spawner(lambda error, where: reported.append((repr(error), where)))

    async def fail() -> None:
        raise ValueError("no")

    spawner.spawn(fail(), "the-job")
    await eventually(lambda: reported, "the report")
    assert reported == [("ValueError('no')", "the-job")]
    await spawner.close()


@on_loop
async def test_closing_waits_a_moment_then_cancels_and_takes_nothing_new() -> None:
    reported: list[str] = []
    ended: list[str] = []
    spawner = Spawner(lambda _error, where: reported.append(where))
    go_on = asyncio.Event()

    async def quick() -> None:
        await go_on.wait()
        ended.append("quick")

    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    spawner.spawn(quick(), "quick")
    spawner.spawn(stubborn(), "stubborn")
    await asyncio.sleep(0)
    go_on.set()
    await spawner.close(0.05)
    assert ended == ["quick", "cancelled"]
    assert reported == []
    with pytest.raises(RuntimeError, match="closing"):
        spawner.spawn(quick(), "late")


# -- one run at a time -----------------------------------------------------------------------------


class Work:
    """Counts what runs at once, and waits to be let go."""

    def __init__(self) -> None:
        self.running: list[Hashable] = []
        self.runs: list[Hashable] = []
        self.gate = asyncio.Event()
        self.fail = False

    async def __call__(self, key: Hashable) -> None:
        assert key not in self.running, "twice at once"
        self.running.append(key)
        self.runs.append(key)
        try:
            await self.gate.wait()
            if self.fail:
                self.fail = False
                raise OSError("disk")
        finally:
            self.running.remove(key)


@on_loop
async def test_many_wishes_make_one_more_run() -> None:
    spawner, work = Spawner(), Work()
    flights = SingleFlight(spawner, work, "work")
    flights.ask("a")
    await asyncio.sleep(0)
    for _ in range(5):
        flights.ask("a")
    flights.ask("b")
    await asyncio.sleep(0)
    assert sorted(map(str, work.running)) == ["a", "b"], "each key for itself"
    work.gate.set()
    await flights.settle("a")
    await flights.settle("b")
    assert sorted(map(str, work.runs)) == ["a", "a", "b"]
    flights.ask("a")
    await flights.settle("a")
    assert work.runs.count("a") == 3
    await spawner.close()


@on_loop
async def test_a_wish_during_a_run_that_fails_is_not_lost() -> None:
    reported: list[str] = []
    spawner, work = Spawner(lambda error, _where: reported.append(str(error))), Work()
    flights = SingleFlight(spawner, work, "work")
    work.fail = True
    flights.ask("a")
    await asyncio.sleep(0)
    flights.ask("a")
    work.gate.set()
    await flights.settle("a")
    assert work.runs == ["a", "a"]
    assert reported == ["disk"]
    await spawner.close()


@on_loop
async def test_nobody_waits_for_a_run_that_can_not_begin() -> None:
    spawner, work = Spawner(), Work()
    flights = SingleFlight(spawner, work, "work")
    await spawner.close()
    with pytest.raises(RuntimeError):
        flights.ask("a")
    await asyncio.wait_for(flights.settle("a"), 1)


# -- waits that grow -------------------------------------------------------------------------------


@given(st.integers(1, 2000))
def test_waits_double_up_to_the_most_and_begin_again(failures: int) -> None:
    backoff = Backoff(0.2, 30.0)
    waits = [backoff.failed() for _ in range(failures)]
    assert waits[0] == 0.2
    assert max(waits) <= 30.0
    for before, after in itertools.pairwise(waits):
        assert after == min(30.0, before * 2) or after == 30.0
    backoff.succeeded()
    assert backoff.failed() == 0.2


def test_clocks() -> None:
    clock = SystemClock()
    assert clock.now().utcoffset() is not None
    assert clock.monotonic() <= clock.monotonic()


# -- logs ------------------------------------------------------------------------------------------


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger, as it was before afterwards."""
    logger = logging.getLogger()
    before, level = list(logger.handlers), logger.level
    yield logger
    for handler in [one for one in logger.handlers if one not in before]:
        handler.close()
        logger.removeHandler(handler)
    logger.setLevel(level)


def test_logs_are_json_lines_and_rotate(
    tmp_path: Path, root: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "MAX_BYTES", 4000)
    logs.set_up(tmp_path)
    for number in range(200):
        root.info("line %s é\n of two", number)
    try:
        raise KeyError("k")
    except KeyError:
        root.exception("went wrong")
    files = sorted(tmp_path.iterdir())
    assert len(files) == logs.KEEP + 1
    assert all(file.stat().st_size <= 4000 for file in files)
    lines = [
        json.loads(line) for line in (tmp_path / "app.log").read_text("utf-8").split("\n")[:-1]
    ]
    assert lines[-1]["message"] == "went wrong"
    assert "KeyError" in lines[-1]["trace"]
    assert lines[0]["level"] == "INFO"
