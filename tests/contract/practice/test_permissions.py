"""Who is asked before a tool runs, and what the answers do (Rule G9, cli-protocol 6)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.contract.practice.talk import (
    ASKING,
    answer,
    ask,
    asked,
    idle,
    message,
    of_type,
    request,
    results_of_tools,
    session,
    told,
    transcript,
)

pytestmark = pytest.mark.rule("G9")

TOUCH = '[[tool Bash {"command": "touch made"}]] [[say done]]'
WRITE = '[[tool Write {"file_path": "made", "content": "x"}]] [[say done]]'
LOOK = '[[tool Bash {"command": "ls -l && pwd; echo a | cat"}]] [[say done]]'


@pytest.mark.parametrize(
    ("mode", "prompt", "verdict"),
    [
        ("default", LOOK, "runs"),
        ("default", TOUCH, "asks"),
        ("default", WRITE, "asks"),
        ("acceptEdits", WRITE, "runs"),
        ("acceptEdits", TOUCH, "asks"),
        ("plan", WRITE, "asks"),
        ("bypassPermissions", TOUCH, "runs"),
        ("dontAsk", LOOK, "runs"),
        ("dontAsk", TOUCH, "refuses"),
    ],
)
def test_modes(tmp_path: Path, mode: str, prompt: str, verdict: str) -> None:
    with session(tmp_path, *ASKING, "--permission-mode", mode) as agent:
        agent.send(message(prompt))
        if verdict == "asks":
            answer(agent, asked(agent), behavior="allow")
        assert agent.wait_for(lambda: idle(agent))
        assert bool(of_type(agent, "control_request")) == (verdict == "asks")
        assert bool(of_type(agent, "permission_denied")) == (verdict == "refuses")
        assert (tmp_path / "made").exists() == (verdict != "refuses" and prompt != LOOK)
        assert of_type(agent, "init")[0]["permissionMode"] == mode


@pytest.mark.parametrize(
    "command",
    [
        "ls > made",
        "echo $(touch made)",
        "cat a & touch made",
        "echo `touch made`",
        "env touch made",
    ],
)
def test_a_harmless_first_word_is_not_enough(tmp_path: Path, command: str) -> None:
    prompt = f"[[tool Bash {json.dumps({'command': command})}]] [[say done]]"
    with session(tmp_path, *ASKING) as agent:
        agent.send(message(prompt))
        answer(agent, asked(agent), behavior="deny", message="no")
        assert agent.wait_for(lambda: idle(agent))
        assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("allowed", "runs"),
    [
        ("Bash", True),
        ("Bash(touch:*)", True),
        ("Read,Bash(touch made)", True),
        ("Bash(rm:*)", False),
    ],
)
def test_tools_that_the_command_line_allows(tmp_path: Path, allowed: str, *, runs: bool) -> None:
    with session(tmp_path, "--allowedTools", allowed) as agent:
        ask(agent, TOUCH)
        assert (tmp_path / "made").exists() == runs


def test_an_answer_may_change_the_call_and_the_mode(tmp_path: Path) -> None:
    with session(tmp_path, *ASKING) as agent:
        agent.send(message(WRITE))
        question = asked(agent)
        suggestion = question["request"]["permission_suggestions"][0]
        changed = {"file_path": "other", "content": "y"}
        answer(
            agent, question, behavior="allow", updatedInput=changed, updatedPermissions=[suggestion]
        )
        assert agent.wait_for(lambda: idle(agent))
        assert (tmp_path / "other").read_text() == "y"
        assert of_type(agent, "status")[0]["permissionMode"] == "acceptEdits"
        ask(agent, WRITE, "second")
        assert len(of_type(agent, "control_request")) == 1


def test_a_rule_for_the_session_ends_with_it(tmp_path: Path) -> None:
    rule = {"type": "addRules", "rules": [{"toolName": "Bash"}], "destination": "session"}
    with session(tmp_path, *ASKING) as agent:
        agent.send(message(TOUCH))
        answer(agent, asked(agent), behavior="allow", updatedPermissions=[rule])
        assert agent.wait_for(lambda: idle(agent))
        ask(agent, TOUCH, "second")
        assert len(of_type(agent, "control_request")) == 1
    assert not (tmp_path / ".claude").exists()


@pytest.mark.parametrize("broken", [{}, {"behavior": "perhaps"}, {"behavior": 7}])
def test_an_answer_of_a_wrong_shape_fails_the_tool_only(
    tmp_path: Path, broken: dict[str, object]
) -> None:
    with session(tmp_path, *ASKING) as agent:
        agent.send(message(TOUCH))
        answer(agent, asked(agent), **broken)
        assert agent.wait_for(lambda: idle(agent))
        assert results_of_tools(agent)[0]["is_error"]
        assert of_type(agent, "result")[0]["result"] == "done"


def test_a_second_answer_is_ignored(tmp_path: Path) -> None:
    with session(tmp_path, *ASKING) as agent:
        agent.send(message(TOUCH))
        question = asked(agent)
        answer(agent, question, behavior="deny", message="no")
        answer(agent, question, behavior="allow")
        assert agent.wait_for(lambda: idle(agent))
        answer(agent, question, behavior="allow")
        ask(agent, "[[say fine]]", "second")
        assert not (tmp_path / "made").exists()


def test_all_open_calls_of_an_interrupted_answer_get_a_result(tmp_path: Path) -> None:
    calls = " ".join(f'[[tool Bash {{"command": "touch {name}"}}]]' for name in "abc")
    with session(tmp_path, *ASKING) as agent:
        agent.send(message(calls))
        question = asked(agent)
        agent.send(request("interrupt"))
        assert agent.wait_for(lambda: idle(agent))
        cancels = of_type(agent, "control_cancel_request")
        assert [line["request_id"] for line in cancels] == [question["request_id"]]
        assert [found["is_error"] for found in results_of_tools(agent)] == [True] * 3


def test_a_changed_mode_does_not_answer_an_open_question(tmp_path: Path) -> None:
    with session(tmp_path, *ASKING) as agent:
        agent.send(message(WRITE))
        question = asked(agent)
        agent.send(request("set_permission_mode", mode="acceptEdits"))
        assert told(agent, "set_permission_mode")["response"] == {"mode": "acceptEdits"}
        agent.send(request("initialize"))
        pending = told(agent, "initialize")["pending_permission_requests"]
        assert pending == [question]
        answer(agent, question, behavior="allow")
        assert agent.wait_for(lambda: idle(agent))


def test_a_plan_is_shown_whole(tmp_path: Path) -> None:
    write = (
        r'[[tool Write {"file_path": "{{re:\\S+/plans/[\\w-]+\\.md}}", "content": "# A plan\n"}]]'
    )
    prompt = f"{write} [[next]] [[tool ExitPlanMode {{}}]] [[say begin]]"
    with session(tmp_path, *ASKING, "--permission-mode", "plan") as agent:
        agent.send(message(prompt))
        shown = asked(agent)["request"]["input"]
        assert shown["plan"] == "# A plan\n"
        assert Path(shown["planFilePath"]).parent == tmp_path / "h" / "plans"
        answer(agent, asked(agent), behavior="allow", updatedInput=shown)
        assert agent.wait_for(lambda: idle(agent))
        assert of_type(agent, "status")[-1]["permissionMode"] == "default"
        assert results_of_tools(agent)[-1]["content"].endswith("# A plan\n")
        agent.close()
        agent.finish()
    kinds = [
        line["attachment"]["type"] for line in transcript(tmp_path) if line["type"] == "attachment"
    ]
    assert kinds == ["plan_mode"]


def test_nobody_answers_a_question(tmp_path: Path) -> None:
    call = '[[tool AskUserQuestion {"questions": [{"question": "Why?"}]}]] [[say ok]]'
    with session(tmp_path, *ASKING) as agent:
        agent.send(message(call))
        question = asked(agent)
        assert question["request"]["requires_user_interaction"] is True
        answer(agent, question, behavior="allow", updatedInput=question["request"]["input"])
        assert agent.wait_for(lambda: idle(agent))
        assert results_of_tools(agent)[0]["content"] == "The user did not answer the questions."
