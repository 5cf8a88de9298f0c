"""What is held of a running session: an end that is told before the start was answered still counts."""

from __future__ import annotations

import json

import pytest

from walnut_desktop.domain.ids import Sid
from walnut_desktop.hosts.link import Following
from walnut_desktop.sessions.live import LiveSession


def marker(subtype: str, spawn: str, **more: object) -> bytes:
    """A line of the daemon in the stream."""
    line = {"type": "walnut", "subtype": subtype, "spawn": spawn, **more}
    return json.dumps(line).encode() + b"\n"


def live_with(data: bytes) -> tuple[LiveSession, list[str]]:
    """A session that has read the bytes, and its changes."""
    changes: list[str] = []
    live = LiveSession(Sid("s"), None, lambda it: changes.append(it.state.process))
    live.following = Following(1, len(data), "", restarted=False, session={})
    live.take(0, data)
    return live, changes


@pytest.mark.rule("S1")
@pytest.mark.parametrize(
    ("answered", "alive"),
    [("first", False), ("second", True)],
)
def test_the_answer_of_a_start_does_not_undo_the_end_of_the_same_process(
    answered: str, alive: bool
) -> None:
    live, _ = live_with(marker("process-start", "first") + marker("process-end", "first", code=7))
    live.started({"alive": True, "spawn": answered})
    assert live.is_alive() is alive


@pytest.mark.rule("S4")
def test_bytes_that_were_taken_are_left_out_and_a_gap_is_an_error() -> None:
    data = marker("process-start", "first")
    live, _ = live_with(data)
    live.take(0, data + marker("process-end", "first", code=0))
    assert live.state.spawns == 1
    assert live.is_alive() is False
    with pytest.raises(ValueError, match="missing"):
        live.take(10_000, b"x")
