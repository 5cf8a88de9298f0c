"""What an agent inherits: nothing of the agent or the bundle around us (cli-protocol 1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from walnut_desktop.daemon.environment import agent_environment

NAMES = st.from_regex(r"(CLAUDE|CLAUDE_CODE_|QT_|LD_|AI_|ANTHROPIC_|)[A-Z]{1,4}", fullmatch=True)


@pytest.mark.parametrize(
    "name",
    [
        "CLAUDECODE",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_PID",
        "CLAUDE_CODE_SSE_PORT",
        "AI_AGENT",
        "QT_QPA_PLATFORM",
        "QT_PLUGIN_PATH",
        "WALNUT_DAEMON_X",
    ],
)
def test_traces_of_what_runs_around_us_are_dropped(name: str) -> None:
    assert agent_environment({name: "1", "PATH": "/bin"}, {}) == {"PATH": "/bin"}


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "HOME",
        "SSH_AUTH_SOCK",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "HTTPS_PROXY",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "LD_LIBRARY_PATH",
    ],
)
def test_settings_of_the_person_are_kept(name: str) -> None:
    assert agent_environment({name: "x"}, {}) == {name: "x"}


def test_what_the_engine_sets_wins() -> None:
    base = {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "0", "A": "old"}
    extra = {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1", "A": "new"}
    assert agent_environment(base, extra) == extra


def test_the_libraries_of_the_bundle_are_not_those_of_the_agent() -> None:
    base = {"LD_LIBRARY_PATH": "/bundle", "LD_LIBRARY_PATH_ORIG": "/mine"}
    assert agent_environment(base, {}) == {"LD_LIBRARY_PATH": "/mine"}
    assert agent_environment(base, {}, bundled=True) == {"LD_LIBRARY_PATH": "/mine"}
    assert agent_environment({"LD_LIBRARY_PATH": "/bundle"}, {}, bundled=True) == {}


@given(st.dictionaries(NAMES, st.text(max_size=3)), st.dictionaries(NAMES, st.text(max_size=3)))
def test_nothing_is_made_up(base: dict[str, str], extra: dict[str, str]) -> None:
    made = agent_environment(base, extra)
    assert made.items() >= extra.items()
    assert all(name in extra or base.get(name) == value for name, value in made.items())
