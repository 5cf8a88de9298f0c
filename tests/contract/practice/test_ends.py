"""How it starts and ends: refusals, signals, exit codes, and what becomes of its children (Rule G9)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.contract.practice.runner import Agent, environment, running, words
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
    request,
    results_of_tools,
    session,
    told,
)

pytestmark = pytest.mark.rule("G9")

START_LIMIT_S = 0.5
"""A generous limit for a busy machine; it takes about 0.07 s on a quiet one."""


def child(agent: Agent, folder: Path) -> psutil.Process:
    """The process of its tool, once that has said who it is."""
    file = folder / "pid"
    assert agent.wait_for(lambda: file.exists() and file.read_text().endswith("\n"))
    return psutil.Process(int(file.read_text()))


def tool(*, background: bool = False) -> str:
    """A tool that runs until somebody ends it."""
    call = {"command": "echo $$ > pid; exec sleep 60", "run_in_background": background}
    return f"[[tool Bash {json.dumps(call)}]] [[say done]]"


def gone(process: psutil.Process) -> bool:
    """Whether it ends soon."""
    try:
        process.wait(5)
    except psutil.TimeoutExpired:
        return False
    return True


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 0)])
def test_signals_end_it_and_its_tools(
    tmp_path: Path, name: str, code: int, *, background: bool
) -> None:
    with session(tmp_path, "--allowedTools", "Bash") as agent:
        agent.send(message(tool(background=background)))
        process = child(agent, tmp_path)
        assert os.getsid(process.pid) == process.pid, "a session of its own"
        if background:
            assert agent.wait_for(lambda: idle(agent))
        agent.signal(name)
        assert agent.finish() == code
        assert gone(process)
        aborted = name == "SIGINT" and not background
        assert len(of_type(agent, "result")) == (1 if aborted or background else 0)
        assert idle(agent) == background
    assert not list((tmp_path / "h" / "sessions").glob("*.json"))


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
@pytest.mark.parametrize("when", ["before any input", "idle", "a question is open", "speaking"])
def test_signals_at_other_times(tmp_path: Path, name: str, when: str) -> None:
    with session(tmp_path, *ASKING, "--include-partial-messages") as agent:
        if when == "before any input":
            agent.send(request("initialize"))
            told(agent, "initialize")
        elif when == "idle":
            ask(agent, "[[say x]]")
        elif when == "a question is open":
            agent.send(message(tool()))
            asked(agent)
        else:
            agent.send(message("[[slow 500 20]]"))
            assert agent.wait_for(lambda: len(of_type(agent, "stream_event")) > 5)
        agent.signal(name)
        assert agent.finish() == {"SIGTERM": 143, "SIGHUP": 129, "SIGINT": 0}[name]
        assert agent.stderr == ""


def test_an_interrupt_ends_the_tool(tmp_path: Path) -> None:
    with session(tmp_path, "--allowedTools", "Bash") as agent:
        agent.send(message(tool()))
        process = child(agent, tmp_path)
        agent.send(request("interrupt"))
        assert agent.wait_for(lambda: idle(agent))
        assert gone(process)
        assert results_of_tools(agent)[0]["is_error"]


def test_what_a_command_leaves_behind_does_not_hold_it_up(tmp_path: Path) -> None:
    with session(tmp_path, "--allowedTools", "Bash") as agent:
        ask(agent, '[[tool Bash {"command": "sleep 1 & echo $! > pid; echo at once"}]]')
        assert results_of_tools(agent)[0]["content"] == "at once"
        process = child(agent, tmp_path)
    assert gone(process)


@pytest.mark.parametrize("background", [False, True])
def test_end_session(tmp_path: Path, *, background: bool) -> None:
    with session(tmp_path, "--allowedTools", "Bash") as agent:
        agent.send(message(tool(background=background)))
        process = child(agent, tmp_path)
        if background:
            assert agent.wait_for(lambda: idle(agent))
        agent.send(request("end_session"))
        assert agent.finish() == (0 if background else 1)
        assert gone(process)
        notes = [line["status"] for line in of_type(agent, "task_notification")]
        assert notes == (["stopped"] if background else [])


def test_the_end_of_input_fails_an_open_question(tmp_path: Path) -> None:
    with session(tmp_path, *ASKING) as agent:
        agent.send(message(tool()))
        asked(agent)
        agent.close()
        assert agent.finish() == 0
        assert "stream closed" in results_of_tools(agent)[0]["content"]
        assert idle(agent)


def test_the_exit_code_at_the_end_of_input_is_that_of_the_last_turn(tmp_path: Path) -> None:
    for prompt, code in (("[[say x]]", 0), ("[[status 400]]", 1)):
        with session(tmp_path) as agent:
            ask(agent, prompt)
            agent.close()
            assert agent.finish() == code


def test_output_that_nobody_takes_does_not_end_it(tmp_path: Path) -> None:
    """A closed pipe and a full disk are swallowed, as the real CLI does (cli-protocol 1.2)."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "walnut_desktop.practice", *arguments()],
            input=json.dumps(message("[[say x]]")).encode(),
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(tmp_path),
            cwd=tmp_path,
            timeout=20,
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    command = [sys.executable, "-m", "walnut_desktop.practice", *arguments()]
    done = subprocess.run(
        ["/bin/sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", *command],
        cwd=folder,
        env={**environment(tmp_path / "h"), "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert done.returncode == 1
    assert "The current directory no longer exists" in done.stderr


@pytest.mark.parametrize(
    ("sid", "words_of_result"),
    [
        ("77777777-7777-4777-8777-777777777777", "No conversation found"),
        ("nonsense", "valid session ID"),
    ],
)
def test_a_session_that_is_not_there(tmp_path: Path, sid: str, words_of_result: str) -> None:
    with running([*BASE, f"--resume={sid}"], environment(tmp_path / "h"), tmp_path) as agent:
        assert agent.finish() == 1
        result = of_type(agent, "result")[0]
        assert words_of_result in result["errors"][0]
        assert result["errors"][0] in agent.stderr
        assert (result["num_turns"], result["usage"]["input_tokens"]) == (0, 0)


def test_the_registry_tells_what_it_does(tmp_path: Path) -> None:
    def entry(agent: Agent) -> dict[str, object]:
        path = tmp_path / "h" / "sessions" / f"{agent.process.pid}.json"
        return dict(json.loads(path.read_text())) if path.exists() else {}

    with session(tmp_path, *ASKING) as agent:
        agent.send(message('[[tool Bash {"command": "touch made"}]]'))
        question = asked(agent)
        assert agent.wait_for(lambda: entry(agent)["status"] == "waiting")
        answer(agent, question, behavior="deny", message="no")
        assert agent.wait_for(lambda: idle(agent) and entry(agent)["status"] == "idle")
        started = psutil.Process(agent.process.pid)
        ticks = Path(f"/proc/{started.pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
        assert entry(agent)["procStart"] == ticks
        agent.signal("SIGKILL")
        agent.finish()
        assert entry(agent), "left behind, as the real CLI does"


def test_it_starts_at_once(tmp_path: Path) -> None:
    begun = time.monotonic()
    with session(tmp_path) as agent:
        agent.send(request("initialize"))
        told(agent, "initialize")
        assert time.monotonic() - begun < START_LIMIT_S


def test_it_needs_nothing_but_the_standard_library(tmp_path: Path) -> None:
    """The daemon runs it with any Python that is there."""
    package = tmp_path / "walnut_desktop"
    package.mkdir()
    (package / "__init__.py").write_text("")
    source = Path(__file__).parents[3] / "walnut_desktop" / "practice"
    shutil.copytree(source, package / "practice", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _RUN, str(tmp_path), *arguments()],
        input=json.dumps(message("hello")).encode(),
        capture_output=True,
        env=environment(tmp_path / "h"),
        cwd=tmp_path,
        timeout=20,
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.split(b"\n") if line]
    assert words(lines)[-1] == "system:session_state_changed:idle"


_RUN = """\
import os, sys
sys.path.insert(0, sys.argv.pop(1))
from walnut_desktop.practice.__main__ import main
code = main()
os._exit(code)
"""
