"""Nothing odd ends it, except the lines that end the real CLI (Rule G9)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.contract.practice.talk import ASKING, answer, ask, asked, idle, message, request, session

pytestmark = pytest.mark.rule("G9")


@pytest.mark.parametrize(
    "line",
    [
        {"type": "user", "message": {"role": "user"}},
        {"type": "user", "message": {"role": "user", "content": 5}},
        {
            "type": "user",
            "message": {"role": "user", "content": [1, None, {"type": "text"}, {"type": "image"}]},
        },
        {
            "type": "user",
            "message": {"role": "user", "content": ""},
            "uuid": 7,
            "origin": [],
            "priority": {},
        },
        {"type": "control_request", "request_id": 1, "request": {}},
        {"type": "control_request", "request": {"subtype": ["x"]}},
        request("set_permission_mode"),
        request("set_permission_mode", mode=["plan"]),
        request("set_model", model={"a": 1}),
        request("cancel_async_message"),
        request("stop_task", task_id=None),
        request("get_task_output", task_id="../../x"),
        request("rename_session", title=5),
        request("interrupt", cancel_queued="yes"),
        request("initialize", hooks=5),
        {"type": "control_response", "response": 5},
        {"type": "control_response", "response": {"subtype": "success"}},
    ],
)
def test_odd_lines(tmp_path: Path, line: dict[str, Any]) -> None:
    with session(tmp_path) as agent:
        agent.send(line)
        assert ask(agent, "[[say fine]]")["is_error"] is False
        agent.close()
        assert agent.finish() == 0
        assert agent.stderr == ""


@pytest.mark.parametrize(
    "directives",
    [
        "[[slow x y]] [[sleep inf]] [[sleep -1]] [[delay nan]] [[long 1e300]] [[status x 1]]",
        '[[tool Bash {"command": "echo \\u0000"}]]',
        '[[tool Bash {"command": "echo \\u0000", "run_in_background": true}]]',
        '[[tool Write {"file_path": "\\u0000", "content": "x"}]]',
        '[[tool Read {"file_path": "."}]] [[tool Read {"file_path": "nowhere"}]]',
        '[[tool Edit {"file_path": "nowhere", "old_string": "", "new_string": ""}]]',
        '[[tool Practice {"bytes": "x"}]] [[badtool]] [[toolout x]] [[stop]] [[header]]',
        '[[tool AskUserQuestion {"questions": 5}]] [[tool ExitPlanMode {"plan": 1}]] [[tool Nope {}]]',
        "[[say \ud800]] {{re:(}} [[say {{re:(}}]] [[raw {}]] [[garbage \ud800]]",
        "[[tool Bash " + '{"command":' * 5000,
    ],
)
def test_odd_directives(tmp_path: Path, directives: str) -> None:
    with session(tmp_path, "--permission-mode", "bypassPermissions") as agent:
        ask(agent, directives)
        ask(agent, "[[say fine]]", "second")
        agent.close()
        assert agent.finish() == 0
        assert agent.stderr == ""


@pytest.mark.parametrize(
    "changes",
    [
        {"updatedPermissions": 5},
        {
            "updatedPermissions": [
                5,
                {},
                {"type": "setMode", "mode": 5},
                {"type": "addRules", "rules": 5},
            ]
        },
        {"updatedInput": 5},
        {"updatedInput": {}},
        {"updatedInput": {"command": 5}},
    ],
)
def test_odd_answers(tmp_path: Path, changes: dict[str, Any]) -> None:
    with session(tmp_path, *ASKING) as agent:
        agent.send(message('[[tool Bash {"command": "touch made"}]] [[say done]]'))
        answer(agent, asked(agent), behavior="allow", **changes)
        assert agent.wait_for(lambda: idle(agent))
        assert ask(agent, "[[say fine]]", "second")["result"] == "fine"
        assert agent.stderr == ""


@pytest.mark.parametrize(
    "content", ["[]", "{", '{"permissions": 5}', '{"permissions": {"allow": 5}}']
)
def test_odd_settings_of_a_folder(tmp_path: Path, content: str) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.local.json").write_text(content)
    with session(tmp_path, *ASKING) as agent:
        agent.send(message('[[tool Bash {"command": "touch made"}]] [[say done]]'))
        question = asked(agent)
        rule = question["request"]["permission_suggestions"][0]
        answer(agent, question, behavior="allow", updatedPermissions=[rule])
        assert agent.wait_for(lambda: idle(agent))
        assert (tmp_path / "made").exists()
