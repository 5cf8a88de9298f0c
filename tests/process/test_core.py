"""The core without a window: sessions through restarts of everything around them (Rules S1, S4, M1, O10)."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.fakes.loop import eventually, on_loop
from tests.process.agents import gone, home, lives
from walnut_desktop.app.core import AlreadyRunning, Core
from walnut_desktop.daemon.canonical import find_messages
from walnut_desktop.domain.errors import SlotTakenError
from walnut_desktop.domain.events import Happened, MessageChanged, SessionChanged
from walnut_desktop.domain.message import MessageState
from walnut_desktop.domain.session import Session, SessionStatus
from walnut_desktop.runtime.paths import Paths
from walnut_desktop.sessions.start import StartRequest

__all__ = ["home"]


class Desk:
    """A core and what it has told."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.happened: list[str] = []
        self.states: list[tuple[str, str]] = []
        self.sessions: dict[str, Session] = {}
        core.bus.subscribe(Happened, lambda event: self.happened.append(event.happening.value))
        core.bus.subscribe(
            MessageChanged,
            lambda event: self.states.append((event.message.text, event.message.state.value)),
        )
        core.bus.subscribe(SessionChanged, self._changed)

    def _changed(self, event: SessionChanged) -> None:
        self.sessions[event.session.sid] = event.session

    async def start(self, text: str) -> Session:
        """A session of the practice agent on a new task."""
        task = await self.core.tasks.create("Task")
        folder = str(self.core.paths.home)
        return await self.core.sessions.start(StartRequest(task.id, text, "practice", folder))

    async def when(self, sid: str, status: SessionStatus, turns: int) -> Session:
        """The session, when it is so."""

        def holds() -> bool:
            session = self.sessions.get(sid)
            return session is not None and (session.status, session.turns) == (status, turns)

        await eventually(holds, f"{status} after {turns} turns, not {self.sessions.get(sid)}")
        return self.sessions[sid]

    async def pid(self, sid: str) -> int:
        """Its process."""
        pid = (await self.core.sessions.get(sid)).pid
        assert pid is not None
        return pid


@asynccontextmanager
async def core(home: Path, *, last: bool = True) -> AsyncIterator[Desk]:
    """A core at work; the last one ends the agents and the helper, too."""
    it = Core(Paths(home))
    desk = Desk(it)
    await it.start()
    try:
        await it.host.connect()
        yield desk
    except BaseException:
        last = True
        raise
    finally:
        if last:
            await it.shut_helper_down()
        await it.stop()


@pytest.mark.rule("S1")
@pytest.mark.rule("S7")
@on_loop
async def test_a_session_from_its_start_to_its_stop(home: Path) -> None:
    async with core(home) as it:
        session = await it.start("[[say hello]]")
        task_id = session.task_id
        assert task_id is not None
        session = await it.when(session.sid, SessionStatus.IDLE, 1)
        task = await it.core.tasks.get(task_id)
        assert (task.phase, task.exec_session_id) == ("AWAIT_HUMAN_ACTION", session.sid)
        assert task.needs_attention
        assert it.happened == ["turn_done"]
        with pytest.raises(SlotTakenError):
            await it.core.sessions.start(StartRequest(task_id, "[[say x]]", "practice"))
        await it.core.sessions.send(session.sid, "[[say again]]")
        await it.when(session.sid, SessionStatus.IDLE, 2)
        assert [state for text, state in it.states if text == "[[say again]]"][-1] == "consumed"
        await it.core.sessions.stop(session.sid)
        stopped = await it.core.sessions.get(session.sid)
        assert (stopped.status, stopped.reason) == (SessionStatus.STOPPED, "user_stopped")
        assert (await it.core.tasks.get(task_id)).exec_session_id is None
        await it.core.sessions.send(session.sid, "[[say third]]")
        await it.when(session.sid, SessionStatus.IDLE, 3)
        assert (await it.core.tasks.get(task_id)).exec_session_id == session.sid


@pytest.mark.rule("S4")
@pytest.mark.rule("O10")
@on_loop
async def test_what_happens_while_the_app_is_closed_is_caught_up_with(home: Path) -> None:
    async with core(home, last=False) as it:
        session = await it.start("[[slow 30 10]]")
        sid, pid = session.sid, await it.pid(session.sid)
        assert it.sessions[sid].status is SessionStatus.RUNNING
    assert lives(pid), "the agent goes on"
    stream = home / "sessions" / "streams" / f"{sid}.jsonl"
    await eventually(lambda: b'"type":"result"' in stream.read_bytes(), "the end of the turn")
    async with core(home) as it:
        session = await it.when(sid, SessionStatus.IDLE, 1)
        assert session.pid == pid
        assert it.happened == ["turn_done"]
        await it.core.sessions.send(sid, "[[say next]]")
        await it.when(sid, SessionStatus.IDLE, 2)
        assert await it.pid(sid) == pid, "the same process"


@pytest.mark.rule("S4")
@on_loop
async def test_nothing_is_told_twice_over_restarts(home: Path) -> None:
    async with core(home, last=False) as it:
        sid = (await it.start("[[say hello]]")).sid
        before = await it.when(sid, SessionStatus.IDLE, 1)
    for last in (False, True):
        async with core(home, last=last) as it:
            live = it.core.sessions.follower.get(sid)
            await eventually(
                lambda: (live := it.core.sessions.follower.get(sid)) and live.caught_up, "caught up"
            )
            await it.core.sessions.follower.settle(sid)
            assert it.happened == []
            assert live is None or live.state.turns == 1
            assert await it.core.sessions.get(sid) == before


@pytest.mark.rule("O10")
@pytest.mark.rule("S6")
@on_loop
async def test_a_helper_that_is_killed_in_a_turn_costs_nothing(home: Path) -> None:
    async with core(home) as it:
        session = await it.start("[[slow 40 10]]")
        sid, pid = session.sid, await it.pid(session.sid)
        helper = (await it.core.host.request("hello"))["pid"]
        os.kill(helper, signal.SIGKILL)
        await gone(helper)
        await it.core.sessions.send(sid, "[[say after]]")
        await eventually(
            lambda: ("[[say after]]", "consumed") in it.states, f"its fate in {it.states}"
        )
        await eventually(lambda: it.sessions[sid].status is SessionStatus.IDLE, "idle")
        assert await it.pid(sid) == pid
        assert "error" not in it.happened


@pytest.mark.rule("M1")
@on_loop
async def test_messages_of_an_agent_that_is_killed_are_each_taken_up_once(home: Path) -> None:
    async with core(home) as it:
        session = await it.start("[[slow 200 20]]")
        sid, pid = session.sid, await it.pid(session.sid)
        await it.core.sessions.send(sid, "[[say one]]")
        await it.core.sessions.send(sid, "[[say two]]")
        await eventually(lambda: ("[[say two]]", "delivered") in it.states, "in its hands")
        os.kill(pid, signal.SIGKILL)
        wanted = {("[[say one]]", "consumed"), ("[[say two]]", "consumed")}
        await eventually(lambda: wanted <= set(it.states), f"both of {it.states}")
        await eventually(lambda: it.sessions[sid].status is SessionStatus.IDLE, "idle")
        again = await it.pid(sid)
        assert again != pid
        rows = await it.core.store.run(lambda unit: unit.messages.in_states(sid, MessageState))
        assert [row.state for row in rows] == [MessageState.CONSUMED] * 3
        folder, ids = str(home / "practice"), [row.id for row in rows[1:]]
        await eventually(lambda: len(find_messages(folder, sid, ids)) == 2, "both on disk")
        (path,) = (home / "practice").glob(f"projects/*/{sid}.jsonl")
        users = [
            line
            for line in map(json.loads, path.read_text().split("\n")[:-1])
            if line["type"] == "user"
        ]
        for text in ("[[say one]]", "[[say two]]"):
            assert sum(text in json.dumps(line) for line in users) == 1, "taken up once"


@pytest.mark.rule("O10")
@on_loop
async def test_one_app_per_home(home: Path) -> None:
    async with core(home):
        with pytest.raises(AlreadyRunning):
            await Core(Paths(home)).start()
