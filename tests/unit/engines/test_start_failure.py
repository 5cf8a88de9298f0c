"""Why an agent did not start: texts of the real CLI become a sentence with what to do (cli-protocol 1.4)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.transcript import captures
from walnut_desktop.engines.start_failure import by_output, by_word

SID = "11111111-2222-4333-8444-555555555555"


@pytest.mark.rule("S1")
@pytest.mark.parametrize(
    ("output", "reason", "said"),
    [
        (f"Error: Session ID {SID} is already in use.", "sid_in_use", "with this id"),
        (
            "The current directory no longer exists (it was deleted or moved). "
            "Start Claude Code from an existing directory.",
            "cwd_missing",
            "folder does not exist",
        ),
        (f"No conversation found with session ID: {SID}", "conversation_lost", "no longer has"),
        (
            "Error: That session is running in the background (a1b2). Run `claude agents`.",
            "held_elsewhere",
            "another program",
        ),
        ("error: unknown option '--permission-prompts'", "unknown_option", "--permission-prompts"),
        ("Not logged in · Please run /login", "not_logged_in", "not logged in"),
        ("Invalid API key · Fix external API key", "not_logged_in", "not logged in"),
        (
            "Error: Invalid MCP configuration:\nMCP config file not found: /x/mcp.json",
            "mcp_config",
            "MCP config file not found: /x/mcp.json",
        ),
        (
            "--dangerously-skip-permissions cannot be used with root/sudo privileges for "
            "security reasons",
            "root_refused",
            "as root",
        ),
        ("Error: Invalid session ID. Must be a valid UUID.", "ended", "Must be a valid UUID."),
        ("", "ended", "exit code 1"),
        ("\n \n", "ended", "exit code 1"),
        (
            "node:internal/modules/cjs/loader:1\nError: Cannot find module '/srv/login/index.js'",
            "ended",
            "Cannot find module",
        ),
    ],
)
def test_real_texts(output: str, reason: str, said: str) -> None:
    told = by_output(output, 1, "Claude Code")
    assert told.reason == reason
    assert said in told.message
    assert told.hint
    assert "{" not in told.message


@pytest.mark.rule("S1")
@pytest.mark.parametrize(
    ("capture", "reason"),
    [
        ("65-start-fail-session-id-in-use", "sid_in_use"),
        ("66-start-fail-resume-unknown", "conversation_lost"),
        ("67-start-fail-bad-flag", "unknown_option"),
    ],
)
def test_what_the_real_cli_said(capture: str, reason: str) -> None:
    run = json.loads((captures.ROOT / capture / "run.json").read_text())
    assert by_output(run["stderr"], run["processes"][-1]["rc"], "Claude Code").reason == reason


@pytest.mark.rule("S1")
@pytest.mark.parametrize(
    "word",
    [
        "program_missing",
        "cwd_missing",
        "cwd_forbidden",
        "held_elsewhere",
        "sid_in_use",
        "already_running",
        "disk",
        "timeout",
        "not_logged_in",
    ],
)
def test_the_words_of_the_daemon(word: str) -> None:
    told = by_word(word, "Claude Code", "detail of the daemon")
    assert told.reason == word
    assert told.hint
    assert "{" not in told.message
    assert ("detail of the daemon" in told.message) is word.startswith("cwd")


def test_a_word_that_is_not_known_is_told_as_the_daemon_says_it() -> None:
    assert by_word("brand_new", "Claude Code", "It is so.").message == "It is so."
    assert "Claude Code" in by_word("brand_new", "Claude Code").message


@given(st.text(), st.none() | st.integers(0, 255), st.text(max_size=5))
def test_anything_is_explained(output: str, code: int | None, label: str) -> None:
    told = by_output(output, code, label)
    assert told.reason
    assert told.message
    assert len(told.message) < len(output) + len(label) + 200
