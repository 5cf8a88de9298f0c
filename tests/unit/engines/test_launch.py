"""How agents are started and spoken to (D2, cli-protocol 1 and 2)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.transcript import captures
from walnut_desktop.engines import stream_json
from walnut_desktop.engines.base import Engine, LaunchSpec
from walnut_desktop.engines.claude import ClaudeCode
from walnut_desktop.engines.practice import PracticeAgent
from walnut_desktop.engines.registry import Engines

SID = "11111111-2222-4333-8444-555555555555"
ENGINES: list[Engine] = [ClaudeCode(), PracticeAgent("/h/practice")]
NEEDED = {"-p", "--verbose", "--include-partial-messages"}
PAIRS = {
    "--input-format": "stream-json",
    "--output-format": "stream-json",
    "--permission-prompt-tool": "stdio",
}


def pairs(argv: list[str]) -> dict[str, str]:
    """What stands behind each option."""
    return {
        name: value for name, value in zip(argv, [*argv[1:], ""], strict=True) if name[0] == "-"
    }


@pytest.mark.rule("S1")
@pytest.mark.parametrize("engine", ENGINES, ids=lambda it: it.id)
def test_a_first_start_names_the_session_and_speaks_stream_json(
    engine: Engine,
) -> None:
    launch = engine.launch(LaunchSpec(SID, mode="plan", model="opus"))
    options = pairs(launch.argv)
    assert set(launch.argv) >= NEEDED
    assert options.items() >= PAIRS.items()
    assert (options["--session-id"], options["--permission-mode"]) == (SID, "plan")
    assert options["--model"] == "opus"
    assert not any(one.startswith("--resume") for one in launch.argv)
    assert launch.env["CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"] == "1"


@pytest.mark.rule("M3")
@pytest.mark.parametrize("engine", ENGINES, ids=lambda it: it.id)
def test_a_later_start_resumes_with_mode_and_model_again(
    engine: Engine,
) -> None:
    argv = engine.launch(LaunchSpec(SID, resume=True, mode="acceptEdits", model="opus")).argv
    assert f"--resume={SID}" in argv
    assert "--session-id" not in argv
    assert pairs(argv)["--permission-mode"] == "acceptEdits", "it is not remembered"
    assert pairs(argv)["--model"] == "opus"


def test_without_a_model_or_prompt_the_agent_chooses() -> None:
    argv = ClaudeCode().launch(LaunchSpec(SID)).argv
    assert "--model" not in argv
    assert "--append-system-prompt" not in argv
    assert pairs(argv)["--permission-mode"] == "default"


@given(st.text(min_size=1), st.text(min_size=1))
def test_what_a_person_typed_is_one_argument_behind_its_option(model: str, prompt: str) -> None:
    argv = ClaudeCode().launch(LaunchSpec(SID, model=model, system_prompt=prompt)).argv
    assert argv[argv.index("--model") + 1] == model
    at = len(argv) - 1 - argv[::-1].index("--append-system-prompt")
    assert prompt in argv[at : at + 2]


def test_programs_and_folders() -> None:
    assert ClaudeCode().launch(LaunchSpec(SID)).argv[0] == "claude"
    assert ClaudeCode("").launch(LaunchSpec(SID)).argv[0] == "claude"
    own = ClaudeCode("/opt/claude", "/c").launch(LaunchSpec(SID))
    assert (own.argv[0], own.config_dir) == ("/opt/claude", "/c")
    assert ClaudeCode().launch(LaunchSpec(SID)).config_dir == "~/.claude"
    practice = PracticeAgent("/h/practice").launch(LaunchSpec(SID))
    assert practice.argv[0] == "@practice"
    assert practice.env["WALNUT_PRACTICE_HOME"] == practice.config_dir == "/h/practice"
    one, two = ClaudeCode().launch(LaunchSpec(SID)), ClaudeCode().launch(LaunchSpec(SID))
    one.env["X"] = "changed"
    assert "X" not in two.env, "each launch has its own"


def test_engines_are_found_by_their_word() -> None:
    engines = Engines(ENGINES)
    assert engines.get("claude") is ENGINES[0]
    assert engines.get("newer") is None
    assert [engine.id for engine in engines.all()] == ["claude", "practice"]


@pytest.mark.rule("M1")
@given(st.text(), st.uuids())
def test_a_message_carries_its_uuid_and_is_taken_literally(text: str, uuid: object) -> None:
    line = json.loads(json.dumps(stream_json.user_line(text, str(uuid))))
    assert line["type"] == "user"
    assert line["message"] == {"role": "user", "content": text}
    assert line["uuid"] == str(uuid)
    assert line["client_composed"] is True, "no slash command, no file is read"
    assert line["origin"] == {"kind": "human"}


@pytest.mark.rule("G10")
def test_answers_have_the_shape_of_those_that_the_cli_took() -> None:
    taken = []
    for name in ("10-permission-allow", "11-permission-deny", "13-permission-always-allow"):
        events = (captures.ROOT / name / "stdin.jsonl").read_text().split("\n")
        for event in map(json.loads, filter(None, events)):
            line = event.get("line")
            if isinstance(line, dict) and line.get("type") == "control_response":
                taken.append(line["response"])
    assert len(taken) >= 3
    for response in taken:
        rid, inner = response["request_id"], response["response"]
        if inner["behavior"] == "deny":
            ours = stream_json.deny_line(rid, inner["message"])
        else:
            ours = stream_json.allow_line(
                rid, inner.get("updatedInput") or {}, inner.get("updatedPermissions") or ()
            )
        told = ours["response"]
        assert ours["type"] == "control_response"
        assert (told["subtype"], told["request_id"]) == ("success", rid)
        assert inner.items() <= told["response"].items()


@pytest.mark.rule("G10")
def test_a_refusal_always_says_something() -> None:
    assert stream_json.deny_line("r", "  ")["response"]["response"]["message"]
    said = stream_json.deny_line("r", " not there ")["response"]["response"]
    assert said == {"behavior": "deny", "message": "not there"}
    assert "updatedPermissions" not in stream_json.allow_line("r", {})["response"]["response"]


@pytest.mark.rule("S11")
def test_a_request_of_ours() -> None:
    line = stream_json.control_line("r", {"subtype": "interrupt"})
    assert line == {
        "type": "control_request",
        "request_id": "r",
        "request": {"subtype": "interrupt"},
    }
