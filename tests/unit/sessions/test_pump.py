"""Moving messages to the agent, whatever the daemon answers: none is lost, none goes out twice (M1 to M3)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from tests.fakes.loop import on_loop
from tests.unit.store.test_units import opened
from walnut_desktop.domain.errors import HostUnreachable, InvalidInput, StartFailed
from walnut_desktop.domain.ids import MessageId, Sid
from walnut_desktop.domain.message import Message, MessageState
from walnut_desktop.hosts.host import Host
from walnut_desktop.hosts.link import Following
from walnut_desktop.protocol.messages import Lookup, RemoteError, Send
from walnut_desktop.runtime.clock import SystemClock
from walnut_desktop.runtime.spawner import Spawner
from walnut_desktop.sessions import pump as pump_module
from walnut_desktop.sessions.follow import Follower
from walnut_desktop.sessions.live import LiveSession
from walnut_desktop.sessions.pump import Pump
from walnut_desktop.store.worker import Store

SID = Sid("s")


class Stage:
    """A pump between a real store and a daemon that does what the test says."""

    def __init__(self, store: Store, spawner: Spawner) -> None:
        self.store = store
        self.live = LiveSession(SID, None, lambda _live: None)
        self.live.following = Following(1, 0, "", restarted=False, session={})
        self.live.alive = True
        self.sent: list[str] = []
        self.resumed = 0
        self.answers: list[Exception] = []  # to the next sends, then all is well
        self.taken_up: set[str] = set()
        self.unreachable = False
        self.pump = Pump(store, cast(Host, self), cast(Follower, self), SystemClock(), spawner)
        self.pump.resume = self.resume
        self.pump.config_dir = self.text
        self.pump.why_not = self.text

    async def follow(self, _sid: Sid) -> LiveSession:
        """As the follower."""
        if self.unreachable:
            raise HostUnreachable("away")
        return self.live

    async def request(self, op: str, message: Any = None, timeout: float = 1.0) -> dict[str, Any]:
        """As the host."""
        if op == "lookup":
            assert isinstance(message, Lookup)
            return {"found": sorted(self.taken_up & set(message.uuids))}
        assert isinstance(message, Send)
        assert message.line["uuid"] == message.uuid
        if self.answers:
            raise self.answers.pop(0)
        self.sent.append(message.uuid)
        return {}

    async def resume(self, _sid: Sid) -> None:
        """A fresh process."""
        self.resumed += 1
        if self.answers:
            raise self.answers.pop(0)
        self.live.alive = True

    async def text(self, _sid: Sid) -> str:
        """Whatever is asked."""
        return "said"

    async def queue(self, *names: str, state: MessageState = MessageState.PENDING) -> None:
        """Messages of the person."""

        def unit_of_work(unit: Any) -> None:
            for name in names:
                unit.messages.add(Message(MessageId(name), SID, name, unit.now, state=state))

        await self.store.run(unit_of_work)

    async def states(self) -> dict[str, str]:
        """How they stand."""
        rows = await self.store.run(lambda unit: unit.messages.in_states(SID, MessageState))
        return {row.id: row.state.value for row in rows}

    async def reason(self, name: str) -> str:
        """Why."""
        row = await self.store.run(lambda unit: unit.messages.get(name))
        return row.reason if row else ""

    async def run(self) -> None:
        """Until there is nothing to do."""
        self.pump.ask(SID)
        await self.pump._flights.settle(SID)

    def feed(self, **line: Any) -> None:
        """The agent's stream goes on."""
        raw = json.dumps(line).encode() + b"\n"
        self.live.take(self.live.resume_offset(), raw)


@asynccontextmanager
async def stage(home: Path) -> AsyncIterator[Stage]:
    """A pump on a fresh home. An error of a task is an error of the test."""
    failed: list[BaseException] = []
    spawner = Spawner(lambda error, _where: failed.append(error))
    async with opened(home) as store:
        yield Stage(store, spawner)
        await spawner.close(0.1)
    assert failed == []


@pytest.mark.rule("M2")
@on_loop
async def test_a_living_process_gets_them_one_by_one_in_order(tmp_path: Path) -> None:
    async with stage(tmp_path / "w") as it:
        await it.queue("a", "b", "c")
        await it.run()
        assert it.sent == ["a", "b", "c"]
        assert set((await it.states()).values()) == {"delivered"}
        await it.run()
        assert it.sent == ["a", "b", "c"], "once"


@pytest.mark.rule("M3")
@on_loop
async def test_a_busy_process_is_asked_again_and_never_joined_by_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pump_module, "BUSY_PAUSE_S", 0.01)
    async with stage(tmp_path / "w") as it:
        it.answers = [RemoteError("busy", "")] * 3
        await it.queue("a")
        await it.run()
        assert (it.sent, it.resumed) == (["a"], 0)
        assert await it.reason("a") == ""


@pytest.mark.rule("M1")
@on_loop
async def test_a_link_that_breaks_in_the_middle_leaves_it_in_doubt(tmp_path: Path) -> None:
    async with stage(tmp_path / "w") as it:
        it.answers = [HostUnreachable("gone")]
        await it.queue("a")
        await it.run()
        assert await it.states() == {"a": "processing"}
        await it.run()
        assert it.sent == ["a"], "the same uuid again: a living process knows it"
        assert await it.states() == {"a": "delivered"}


@pytest.mark.rule("M1")
@on_loop
async def test_what_a_dead_process_took_up_is_not_sent_again_the_rest_is(tmp_path: Path) -> None:
    async with stage(tmp_path / "w") as it:
        it.live.alive = False
        it.taken_up = {"b"}
        await it.queue("a", "b", state=MessageState.DELIVERED)
        await it.queue("c")
        await it.run()
        assert it.resumed == 1
        assert it.sent == ["a", "c"]
        assert (await it.states())["b"] == "consumed"


@pytest.mark.rule("M1")
@on_loop
async def test_what_the_stream_has_shown_as_taken_up_counts_too(tmp_path: Path) -> None:
    async with stage(tmp_path / "w") as it:
        await it.queue("a")
        await it.run()
        it.feed(type="user", subtype="walnut-injected", uuid="a", message={"content": "a"})
        it.feed(type="command_lifecycle", command_uuid="a", state="queued")
        it.feed(type="command_lifecycle", command_uuid="a", state="completed")
        it.live.alive = False
        await it.run()
        assert it.sent == ["a"]
        assert await it.states() == {"a": "consumed"}


@pytest.mark.rule("M6")
@on_loop
async def test_a_process_that_dies_three_times_gets_no_fourth_chance(tmp_path: Path) -> None:
    async with stage(tmp_path / "w") as it:
        await it.queue("a")
        for _ in range(4):
            await it.run()
            it.live.alive = False
        await it.run()
        assert await it.states() == {"a": "failed"}
        assert "three times" in await it.reason("a")
        assert len(it.sent) == 3


@pytest.mark.rule("M1")
@pytest.mark.parametrize(
    "error",
    [
        StartFailed("It is not there.", "Install it.", reason="program_missing"),
        InvalidInput("This app knows no agent “new”."),
    ],
)
@on_loop
async def test_a_resume_that_fails_says_why_and_keeps_the_message(
    tmp_path: Path, error: StartFailed | InvalidInput
) -> None:
    async with stage(tmp_path / "w") as it:
        it.live.alive = False
        it.answers = [error]
        await it.queue("a", "b")
        await it.run()
        assert await it.states() == {"a": "failed", "b": "failed"}
        assert await it.reason("a") == error.sentence()
        assert it.resumed == 1


@pytest.mark.rule("S6")
@on_loop
async def test_a_host_out_of_reach_changes_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path / "w") as it:
        await it.queue("a")
        it.unreachable = True
        await it.run()
        assert await it.states() == {"a": "pending"}
        it.unreachable = False
        it.live.alive = False
        it.answers = [HostUnreachable("gone")]
        await it.run()
        assert await it.states() == {"a": "pending"}


@pytest.mark.rule("M1")
@pytest.mark.parametrize(
    ("word", "told"), [("too_long", "too long"), ("pipe_broken", "broken"), ("disk", "No space")]
)
@on_loop
async def test_a_refusal_is_told(tmp_path: Path, word: str, told: str) -> None:
    async with stage(tmp_path / "w") as it:
        it.answers = [RemoteError(word, "No space left.")]
        await it.queue("a", "b")
        await it.run()
        assert await it.states() == {"a": "failed", "b": "delivered"}
        assert told in await it.reason("a")


@pytest.mark.rule("M1")
@on_loop
async def test_the_agent_may_be_faster_than_the_answer(tmp_path: Path) -> None:
    async with stage(tmp_path / "w") as it:
        original: Callable[..., Any] = it.request

        async def consumed_meanwhile(op: str, message: Any = None, timeout: float = 1.0) -> Any:
            answer = await original(op, message, timeout)

            def unit_of_work(unit: Any) -> None:
                row = unit.messages.get("a")
                unit.messages.save(replace(row, state=MessageState.CONSUMED))

            await it.store.run(unit_of_work)
            return answer

        it.request = consumed_meanwhile  # type: ignore[method-assign]
        await it.queue("a")
        await it.run()
        assert await it.states() == {"a": "consumed"}
        assert it.sent == ["a"]
