"""Bad input, refusals, files and a person's own words (Rule G9)."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from tests.contract.practice.runner import environment, running, words
from tests.contract.practice.talk import (
    ASKING,
    BASE,
    answer,
    arguments,
    ask,
    asked,
    idle,
    message,
    of_type,
    session,
)

pytestmark = pytest.mark.rule("G9")


@pytest.mark.parametrize(
    ("line", "words_of_stderr"),
    [
        (b"not json\n", "Error parsing streaming input line (type=unknown, 8 chars): SyntaxError"),
        (b'{"type":"user"}\n', "Error: Expected message role 'user', got 'undefined'"),
        (b'{"type":"user","message":{"role":"assistant"}}\n', "got 'assistant'"),
        (
            b'{"type":"control_request","request_id":"r"}\n',
            "Error: Missing request on control_request",
        ),
        (b'{"type":"us{"type":"user"}\n', "Error parsing streaming input line"),
    ],
)
def test_a_bad_line_ends_it_at_once(tmp_path: Path, line: bytes, words_of_stderr: str) -> None:
    with running(arguments(), environment(tmp_path / "h"), tmp_path) as agent:
        agent.send(message("[[hang]]"))
        assert agent.wait_for(lambda: "system:init:default" in words(agent.lines))
        agent.send(line)
        assert agent.finish() == 1
        assert words_of_stderr in agent.stderr
        assert not any(line.get("type") == "result" for line in agent.lines)


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b"   \r\n",
        b'{"type":"made_up"}\n',
        b"[1,2]\n",
        b'{"type":"keep_alive"}\n',
        b'{"type":"control_response","response":{"subtype":"success","request_id":"none"}}\n',
    ],
)
def test_these_lines_are_ignored(tmp_path: Path, line: bytes) -> None:
    with running(arguments(), environment(tmp_path / "h"), tmp_path) as agent:
        agent.send(line)
        agent.send(message("[[say fine]]"))
        assert agent.wait_for(lambda: idle(agent))
        agent.close()
        assert agent.finish() == 0


def test_nothing_is_said_before_the_first_line(tmp_path: Path) -> None:
    with running(arguments(), environment(tmp_path / "h"), tmp_path) as agent:
        agent.close()
        assert agent.finish() == 0
        assert agent.lines == []
        assert not list((tmp_path / "h").glob("projects/*/*.jsonl"))


@pytest.mark.parametrize(
    ("arguments_", "said"),
    [
        ([*BASE[:-1]], "requires --verbose"),
        ([*BASE, "--session-id", "nonsense"], "Invalid session ID"),
        ([*BASE, "--permission-mode", "wild"], "Allowed choices are acceptEdits"),
        ([*BASE, "--session-id", str(uuid.uuid4()), "--resume=x"], "also needs --fork-session"),
    ],
)
def test_what_the_cli_refuses_is_refused(tmp_path: Path, arguments_: list[str], said: str) -> None:
    with running(arguments_, environment(tmp_path / "h"), tmp_path) as agent:
        assert agent.finish() == 1
        assert said in agent.stderr


def test_its_files_are_its_own(tmp_path: Path) -> None:
    home = tmp_path / "h"
    with running(arguments(), environment(home), tmp_path) as agent:
        agent.send(message("[[say one]]"))
        assert agent.wait_for(lambda: idle(agent))
        entry = json.loads(next((home / "sessions").glob("*.json")).read_text())
        assert entry["pid"] == agent.process.pid
        assert entry["procStart"]
        agent.close()
        agent.finish()
    assert not list((home / "sessions").glob("*.json")), "removed at a clean end"
    lines = [
        json.loads(line)
        for line in next(home.glob("projects/*/*.jsonl")).read_text().split("\n")
        if line
    ]
    kinds = {line["type"] for line in lines}
    assert kinds == {"queue-operation", "user", "assistant"}
    assert lines[2]["uuid"] == "11111111-1111-4111-8111-111111111111"


def test_a_rule_for_this_folder_outlives_the_session(tmp_path: Path) -> None:
    """`always` writes where the card said it would."""
    call = '[[tool Bash {"command": "touch x"}]] [[say done]]'
    asking = ("--permission-prompt-tool", "stdio")
    with running(arguments(*asking), environment(tmp_path / "h"), tmp_path) as agent:
        agent.send(message(call))
        assert agent.wait_for(
            lambda: any(line["type"] == "control_request" for line in agent.lines)
        )
        request = next(line for line in agent.lines if line["type"] == "control_request")
        rule = request["request"]["permission_suggestions"][0]
        answer = {
            "behavior": "allow",
            "updatedInput": {"command": "touch x"},
            "updatedPermissions": [rule],
        }
        response = {"subtype": "success", "request_id": request["request_id"], "response": answer}
        agent.send({"type": "control_response", "response": response})
        assert agent.wait_for(lambda: idle(agent))
        agent.close()
        agent.finish()
    saved = json.loads((tmp_path / ".claude" / "settings.local.json").read_text())
    assert saved["permissions"]["allow"] == ["Bash(touch x)"]
    with running(arguments(*asking), environment(tmp_path / "h"), tmp_path) as agent:
        agent.send(message(call))
        assert agent.wait_for(lambda: idle(agent))
        assert not any(line["type"] == "control_request" for line in agent.lines)


def test_a_person_gets_a_friendly_answer_that_says_what_it_is(tmp_path: Path) -> None:
    with running(
        arguments("--include-partial-messages"), environment(tmp_path / "h"), tmp_path
    ) as agent:
        agent.send(message("hello"))
        assert agent.wait_for(lambda: idle(agent))
        result = next(line for line in agent.lines if line["type"] == "result")
        assert "practice agent" in result["result"]
        deltas = [line for line in agent.lines if line["type"] == "stream_event"]
        said = "".join(
            line["event"]["delta"]["text"]
            for line in deltas
            if line["event"]["type"] == "content_block_delta"
        )
        assert said == result["result"], "streamed whole"


def test_work_is_asked_for_and_done(tmp_path: Path) -> None:
    with session(tmp_path, *ASKING) as agent:
        agent.send(message("fix my login form"))
        question = asked(agent)
        assert question["request"]["tool_name"] == "Write"
        agent.send(message("and the logo", "second"))
        assert agent.wait_for(lambda: len(of_type(agent, "command_lifecycle")) == 3)
        answer(agent, question, behavior="allow")
        assert agent.wait_for(lambda: idle(agent))
        assert "fix my login form" in (tmp_path / "walnut-practice.md").read_text()
        result = of_type(agent, "result")[0]
        assert "and the logo" in result["result"], "what came in between is not passed over"
        agent.send(message("add a test", "third"))
        answer(agent, asked(agent, 2), behavior="deny", message="no")
        assert agent.wait_for(lambda: len(of_type(agent, "result")) == 2 and idle(agent))
        assert "nothing was changed" in of_type(agent, "result")[1]["result"]


def test_work_in_plan_mode_begins_with_a_plan(tmp_path: Path) -> None:
    with session(tmp_path, *ASKING, "--permission-mode", "plan") as agent:
        agent.send(message("fix my login form"))
        question = asked(agent)
        assert question["request"]["tool_name"] == "ExitPlanMode"
        assert "walnut-practice.md" in question["request"]["input"]["plan"]
        assert not (tmp_path / "walnut-practice.md").exists()
        accept = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
        answer(agent, question, behavior="allow", updatedPermissions=[accept])
        assert agent.wait_for(lambda: idle(agent))
        assert (tmp_path / "walnut-practice.md").exists()


def test_words_come_one_after_the_other(tmp_path: Path) -> None:
    """A person sees it write; tests do not wait for that."""
    hello = {"WALNUT_PRACTICE_FAST": "0"}
    with session(tmp_path, "--include-partial-messages", **hello) as agent:
        assert ask(agent, "hello")["duration_ms"] > 1000
        assert len(of_type(agent, "stream_event")) > 50


def test_version_and_help() -> None:
    for flag, said in (("--version", "2.1.328 (Practice agent)"), ("--help", "[[say TEXT]]")):
        done = subprocess.run(
            [sys.executable, "-m", "walnut_desktop.practice", flag],
            capture_output=True,
            text=True,
            timeout=20,
        )
        assert done.returncode == 0
        assert said in done.stdout
