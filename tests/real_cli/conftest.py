"""Fixtures for tests with the real CLI: a scripted API, a home of its own, no account."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.fakes.messages_api import MessagesApi
from tests.real_cli.cli import look_for_claude
from tests.real_cli.session import CliSession

OpenSession = Callable[..., CliSession]


@pytest.fixture(scope="session")
def claude_path() -> Path:
    """The real CLI; skips with the reason when there is none."""
    found = look_for_claude()
    if found.path is None:
        pytest.skip(found.reason)
    return found.path


@pytest.fixture
def messages_api() -> Iterator[MessagesApi]:
    """A scripted Messages API on a free port."""
    with MessagesApi() as api:
        yield api


@pytest.fixture
def claude_env(tmp_path: Path, messages_api: MessagesApi) -> dict[str, str]:
    """The whole environment for a CLI that reaches the scripted API and nothing else."""
    home = tmp_path / "home"
    home.mkdir()
    return claude_environment(home, messages_api.url)


def claude_environment(home: Path, url: str) -> dict[str, str]:
    """The environment, for tests that start their own API."""
    foreign = (
        "CLAUDE",
        "ANTHROPIC_",
        "AI_AGENT",
        "XDG_CONFIG",
        "XDG_DATA",
        "XDG_STATE",
        "XDG_CACHE",
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    scratch = home / "tmp"
    scratch.mkdir(mode=0o700)
    return {
        **kept,
        "HOME": str(home),
        "CLAUDE_CODE_TMPDIR": str(scratch),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "made-up-key",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1",
        "DISABLE_AUTOUPDATER": "1",
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The folder the agent works in."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def open_session(
    claude_path: Path, claude_env: dict[str, str], project: Path
) -> Iterator[OpenSession]:
    """Starts CLIs in the project; all of them are ended after the test, also when it fails."""
    with ExitStack() as stack:

        def start(*arguments: str, resume: str | None = None) -> CliSession:
            session = CliSession(claude_path, claude_env, project, *arguments, resume=resume)
            return stack.enter_context(session)

        yield start
