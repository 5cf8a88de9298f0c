"""Our scripted API and the real CLI understand each other, so that other tests may rely on both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes.messages_api import MessagesApi
from tests.real_cli.conftest import OpenSession

pytestmark = pytest.mark.real_cli


def test_a_simple_turn(open_session: OpenSession) -> None:
    session = open_session()
    message = session.send("[[think Let me see.]] [[say Hello there.]]")
    result = session.wait_for_result_of(message)
    session.wait_for_kind("system", "session_state_changed", state="idle")
    assert result["is_error"] is False
    assert result["result"] == "Hello there."
    assert session.lifecycle(message) == ["queued", "started", "completed"]
    assert session.garbage == []
    assert session.end() == 0


def test_a_permission_is_asked_and_allowed(open_session: OpenSession, project: Path) -> None:
    session = open_session()
    message = session.send('[[tool Bash {"command": "touch made.txt"}]] [[say It is made.]]')
    request = session.wait_for_request()
    assert request["request"]["input"]["command"] == "touch made.txt"
    assert not (project / "made.txt").exists()
    session.allow(request)
    assert session.wait_for_result_of(message)["result"] == "It is made."
    assert (project / "made.txt").exists()


def test_a_message_in_the_middle_of_a_turn_is_absorbed(
    open_session: OpenSession, messages_api: MessagesApi
) -> None:
    """The second message arrives while a permission waits; the model sees it in the next round."""
    session = open_session()
    first = session.send('[[tool Bash {"command": "touch made.txt"}]] [[say First round done.]]')
    request = session.wait_for_request()
    second = session.send("Mention the weather.")
    session.wait_for_kind("command_lifecycle", command_uuid=second, state="queued")
    session.allow(request)
    result = session.wait_for_result_of(first)
    assert set(result["user_message_uuids"]) == {first, second}
    last = messages_api.wait_for(lambda request: bool(request.reading.later))
    assert last.reading.later == ["Mention the weather."]


def test_an_interrupt_ends_the_turn_but_not_the_process(
    open_session: OpenSession, messages_api: MessagesApi
) -> None:
    session = open_session()
    session.send("[[say I begin.]] [[gate never]] [[say I never get here.]]")
    session.wait_for_kind("assistant")
    assert session.control("interrupt")["subtype"] == "success"
    result = session.wait_for_kind("result")
    assert result["is_error"] is True
    assert result["terminal_reason"] == "aborted_streaming"
    after = session.send("[[say Still here.]]")
    assert session.wait_for_result_of(after)["result"] == "Still here."
    assert len(messages_api.requests) == 2


def test_a_session_is_resumed_with_its_history(
    open_session: OpenSession, messages_api: MessagesApi, claude_env: dict[str, str]
) -> None:
    first = open_session()
    first.wait_for_result_of(first.send("[[say The word is walnut.]]"))
    assert first.end() == 0
    second = open_session(resume=first.id)
    second.wait_for_result_of(second.send("[[say Yes.]]"))
    said = json.dumps(messages_api.requests[-1].body["messages"])
    assert "The word is walnut." in said
    projects = Path(claude_env["HOME"]) / ".claude" / "projects"
    assert [path.stem for path in projects.glob("*/*.jsonl")] == [first.id]


def test_an_overloaded_api_is_tried_again(open_session: OpenSession) -> None:
    session = open_session()
    message = session.send("[[status 529 1]] [[say Recovered.]]")
    assert session.wait_for_kind("system", "api_retry")["error_status"] == 529
    assert session.wait_for_result_of(message)["result"] == "Recovered."


def test_a_refused_request_is_an_error_result(open_session: OpenSession) -> None:
    session = open_session()
    message = session.send("[[status 400 0 invalid_request_error No such thing.]]")
    result = session.wait_for_result_of(message)
    assert (result["subtype"], result["is_error"]) == ("success", True)
    assert "No such thing." in result["result"]
