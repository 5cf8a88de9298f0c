"""Each directive does what the help says, at its place (Rule G9)."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.contract.practice.talk import (
    FIRST,
    ask,
    idle,
    message,
    of_type,
    request,
    results_of_tools,
    session,
    told,
)
from walnut_desktop.practice import script
from walnut_desktop.practice.helptext import HELP

pytestmark = pytest.mark.rule("G9")


def test_the_help_explains_every_directive() -> None:
    assert set(re.findall(r"^ +\[\[(\w+)", HELP, re.MULTILINE)) == set(script.NAMES)


def test_what_is_no_directive_is_plain_text() -> None:
    assert script.parse("a [[b]] [[tool]] [[tool Bash {bad]] [[say") == []


def test_rounds_end_at_next_and_after_tools() -> None:
    steps = script.parse(
        "[[say a]] [[tool X {}]] [[tool Y {}]] [[stop end_turn]] [[say b]] [[next]] [[say c]]"
    )
    names = [[step.name for step in current] for current in script.rounds(steps)]
    assert names == [["say", "tool", "tool", "stop"], ["say"], ["say"]]


def test_a_pause_is_where_it_was_put(tmp_path: Path) -> None:
    """And an interrupt ends it at once, however long it is."""
    with session(tmp_path) as agent:
        agent.send(message("[[say before]] [[hang]] [[say after]]"))
        assert agent.wait_for(lambda: len(of_type(agent, "assistant")) == 1)
        agent.send(request("interrupt"))
        assert agent.wait_for(lambda: idle(agent))
        assert len(of_type(agent, "assistant")) == 1
        assert of_type(agent, "result")[0]["terminal_reason"] == "aborted_streaming"
        assert ask(agent, "[[say next]]", "second")["result"] == "next"


def test_crash_and_exit(tmp_path: Path) -> None:
    with session(tmp_path) as agent:
        agent.send(message("[[say a]] [[crash]]"))
        assert agent.finish() == -signal.SIGKILL
        assert not of_type(agent, "result")
    with session(tmp_path) as agent:
        agent.send(message("[[say a]] [[exit 7]]"))
        assert agent.finish() == 7
        assert of_type(agent, "assistant")
        assert not of_type(agent, "result")


def test_bad_lines(tmp_path: Path) -> None:
    with session(tmp_path) as agent:
        ask(
            agent,
            '[[garbage not json]] [[torn {"type":"sys]] [[raw {"type":"made_up","n":1}]] [[say x]]',
        )
        unreadable = [line["raw"] for line in of_type(agent, "unreadable")]
        assert unreadable[0] == b"not json\n"
        assert unreadable[1] == b'{"type":"sys{"type":"made_up","n":1}\n'


def test_long_lines(tmp_path: Path) -> None:
    with session(tmp_path) as agent:
        result = ask(agent, "[[toolout 300000]] [[long 2000000]]")
        assert len(result["result"]) == 2_000_000
        assert results_of_tools(agent)[0]["content"] == "x" * 300_000


def test_a_text_can_take_up_what_was_seen(tmp_path: Path) -> None:
    with session(tmp_path) as agent:
        call = '[[tool Bash {"command": "echo id-42; echo id-43"}]]'
        text = call + r" [[say It is {{re:id-(\d+)}}, {{re:q\d}}.]]"
        assert ask(agent, text)["result"] == "It is 43, NO_MATCH."


def test_a_tool_whose_input_is_no_json(tmp_path: Path) -> None:
    with session(tmp_path) as agent:
        assert ask(agent, '[[badtool Bash {"command": "ec]] [[say done]]')["result"] == "done"
        found = results_of_tools(agent)[0]
        assert found["is_error"]
        assert "could not be parsed as JSON" in found["content"]


@pytest.mark.parametrize(
    ("directive", "retries", "failed"),
    [
        ("[[status 400]]", 0, True),
        ("[[status 529]]", 2, True),
        ("[[status 529 1]]", 1, False),
        ("[[status 401]]", 10, True),
    ],
)
def test_errors_of_the_service(
    tmp_path: Path, directive: str, retries: int, *, failed: bool
) -> None:
    """They are successes with is_error, and the session goes on."""
    with session(tmp_path) as agent:
        result = ask(agent, f"{directive} [[say fine]]")
        assert (result["subtype"], result["is_error"]) == ("success", failed)
        assert len(of_type(agent, "api_retry")) == retries
        assert ask(agent, "[[say still here]]", "second")["result"] == "still here"


@pytest.mark.parametrize("how", ["directive", "environment"])
def test_nobody_is_logged_in(tmp_path: Path, how: str) -> None:
    env = {"WALNUT_PRACTICE_LOGGED_OUT": "1"} if how == "environment" else {}
    with session(tmp_path, **env) as agent:
        result = ask(agent, "hello" if how == "environment" else "[[login]]")
        assert result["is_error"] is True
        assert result["result"] == "Not logged in · Please run /login"
        line = of_type(agent, "assistant")[0]
        assert line["error"] == "authentication_failed"
        assert line["user_message_uuids"] == [FIRST]
        agent.close()
        assert agent.finish() == 1


def test_the_limits_of_a_subscription(tmp_path: Path) -> None:
    name = "anthropic-ratelimit-unified"
    with session(tmp_path) as agent:
        text = (
            f"[[header {name}-status rejected]] [[header {name}-reset 1796200000]] [[status 429]]"
        )
        assert "limit" in ask(agent, text)["result"]
        info = of_type(agent, "rate_limit_event")[0]["rate_limit_info"]
        assert (info["status"], info["resetsAt"]) == ("rejected", 1796200000)
        assert not of_type(agent, "api_retry")


def test_a_job_in_the_background_is_reported_with_its_end(tmp_path: Path) -> None:
    with session(tmp_path) as agent:
        call = '[[tool Bash {"command": "echo out; exit 3", "run_in_background": true}]]'
        agent.send(message(f"{call} [[say started]]"))
        assert agent.wait_for(lambda: bool(of_type(agent, "task_notification")) and idle(agent))
        note = of_type(agent, "task_notification")[0]
        assert (note["status"], Path(note["output_file"]).read_text()) == ("failed", "out\n")
        agent.send(request("get_task_output", task_id=note["task_id"]))
        assert told(agent, "get_task_output")["response"]["output"] == "out\n"
        levels = [line["tasks"] for line in of_type(agent, "background_tasks_changed")]
        assert [len(tasks) for tasks in levels] == [1, 0]
