"""The daemon as a process: who may speak to it, what it starts, follows, adopts and never touches."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.process.daemons import Daemon, eventually, lines, run
from walnut_desktop.protocol.endpoint import daemon_dir
from walnut_desktop.protocol.messages import RemoteError


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a short path."""
    return tmp_path_factory.mktemp("d") / "w"


def test_only_its_owner_can_reach_it_and_there_is_one(home: Path, tmp_path: Path) -> None:
    async def test(it: Daemon) -> None:
        assert stat.S_IMODE(it.socket.stat().st_mode) == 0o600
        assert stat.S_IMODE(daemon_dir(home).stat().st_mode) == 0o700
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
        hello = await it.hello()
        assert hello["capabilities"]
        second = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "walnut_desktop.daemon",
            "--home",
            str(home),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        _, errors = await asyncio.wait_for(second.communicate(), 15)
        assert second.returncode == 3
        assert b"one runs already" in errors
        assert (await it.hello())["pid"] == hello["pid"], "the first goes on"

    run(home, tmp_path, test)


def test_attach_has_no_gap_and_no_overlap_from_anywhere(home: Path, tmp_path: Path) -> None:
    async def test(it: Daemon) -> None:
        sid = (await it.start())["sid"]
        whole = bytearray()
        await it.attach(sid, 0, whole)
        await it.send(sid, "[[slow 60 4]]")
        await eventually(lambda: len(whole) > 3000, "some output")
        later, offset = bytearray(), len(whole) // 2
        other = Daemon(it.home, it.folder)
        await other.attach(sid, offset, later)
        await eventually(lambda: b'"type":"result"' in whole.replace(b" ", b""), "the end")
        data = it.stream(sid).read_bytes()
        await eventually(lambda: len(whole) >= len(data), "all")
        await eventually(lambda: offset + len(later) >= len(data), "all for the second")
        assert bytes(whole[: len(data)]) == data
        assert bytes(later[: len(data) - offset]) == data[offset:]
        other.host.close()
        await other.spawner.close()

    run(home, tmp_path, test)


@pytest.mark.rule("O10")
def test_the_next_daemon_adopts_what_runs(home: Path, tmp_path: Path) -> None:
    async def test(it: Daemon) -> None:
        session = await it.start()
        sid, pid = session["sid"], session["pid"]
        await it.send(sid, "[[slow 40 10]]")
        first = (await it.hello())["pid"]
        links: list[bool] = []
        it.host.on_link = lambda up, _detail: links.append(up)
        os.kill(first, signal.SIGKILL)
        await eventually(lambda: not psutil.pid_exists(first), "its end")
        assert psutil.pid_exists(pid), "the agent goes on"
        await eventually(lambda: links == [False, True], "the next daemon")
        again = await it.status(sid)
        assert (again["alive"], again["pid"]) == (True, pid)
        whole = bytearray()
        await it.attach(sid, 0, whole)
        await eventually(lambda: b'"result"' in whole, "the answer")
        starts = [line for line in lines(bytes(whole)) if line.get("subtype") == "process-start"]
        assert len(starts) == 1, "no second agent"
        assert (await it.stop(sid))["stopped"]
        await eventually(lambda: not psutil.pid_exists(pid), "the agent's end")

    run(home, tmp_path, test)


@pytest.mark.rule("S5.4")
def test_an_agent_that_is_killed_is_told_and_can_be_resumed(home: Path, tmp_path: Path) -> None:
    async def test(it: Daemon) -> None:
        session = await it.start()
        sid, pid = session["sid"], session["pid"]
        await it.send(sid, "[[slow 200 20]]")
        os.kill(pid, signal.SIGKILL)
        await eventually(lambda: it.exits, "the event")
        assert it.exits[0]["sid"] == sid
        assert it.exits[0]["intended"] is False
        told = await it.status(sid)
        assert not told["alive"]
        assert not it.stream(sid).with_name(f"{sid}.pgid").exists()
        last = lines(it.stream(sid).read_bytes())[-1]
        assert last["subtype"] == "process-end"
        assert (await it.start(resume=sid))["pid"] != pid

    run(home, tmp_path, test)


@pytest.mark.rule("O2")
def test_a_stranger_named_by_a_forged_file_is_never_signalled(home: Path, tmp_path: Path) -> None:
    streams = home / "sessions" / "streams"
    streams.mkdir(parents=True, mode=0o700)
    sid = "0f0f0f0f-0000-4000-8000-000000000001"
    with subprocess.Popen(["sleep", "300"], start_new_session=True) as stranger:
        forged = {"pid": stranger.pid, "start": "1", "boot": "another boot"}
        content = {"agent": forged, "shim": forged, "spawn": "abc", "pgid": stranger.pid}
        (streams / f"{sid}.pgid").write_text(json.dumps(content))

        async def test(it: Daemon) -> None:
            assert not (await it.status(sid))["alive"]
            assert (await it.stop(sid)).get("stopped") is not True
            assert stranger.poll() is None

        try:
            run(home, tmp_path, test)
            assert stranger.poll() is None, "not at the daemon's end either"
        finally:
            stranger.kill()


@pytest.mark.rule("O2")
@pytest.mark.parametrize("content", ['{"agent": "x"}', "[]", '{"agent": [1]}', "{torn", ""])
def test_a_file_that_says_nonsense_does_not_keep_the_daemon_from_starting(
    home: Path, tmp_path: Path, content: str
) -> None:
    streams = home / "sessions" / "streams"
    streams.mkdir(parents=True, mode=0o700)
    sid = "0f0f0f0f-0000-4000-8000-000000000003"
    (streams / f"{sid}.pgid").write_text(content)

    async def test(it: Daemon) -> None:
        assert not (await it.status(sid))["alive"]

    run(home, tmp_path, test)


@pytest.mark.rule("O4")
def test_another_home_can_not_end_a_session(home: Path, tmp_path: Path) -> None:
    async def test(it: Daemon) -> None:
        session = await it.start()
        answer = await it.stop(session["sid"], home=str(tmp_path / "other"))
        assert (answer["stopped"], answer["detail"]) == (False, "other_walnut")
        assert psutil.pid_exists(session["pid"])

    run(home, tmp_path, test)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"argv": ["no-such-program-at-all"]}, "program_missing"),
        ({"cwd": "/no/such/folder"}, "cwd_missing"),
        ({"argv": ["@practice", "a\0b"]}, "spawn_failed"),
        ({"argv": ["@practice", "x" * 3_000_000]}, "spawn_failed"),
        ({"sid": "abc\n"}, "bad_request"),
    ],
)
def test_a_start_that_can_not_be_leaves_nothing(
    home: Path, tmp_path: Path, changes: dict[str, Any], word: str
) -> None:
    async def test(it: Daemon) -> None:
        with pytest.raises(RemoteError) as caught:
            await it.start(**changes)
        assert caught.value.error == word
        streams = home / "sessions" / "streams"
        assert not streams.exists() or list(streams.iterdir()) == []
        assert (await it.host.request("list"))["sessions"] == []

    run(home, tmp_path, test)


def test_two_starts_of_one_session_make_one_process(home: Path, tmp_path: Path) -> None:
    async def test(it: Daemon) -> None:
        sid = "0f0f0f0f-0000-4000-8000-000000000002"
        got = await asyncio.gather(it.start(sid=sid), it.start(sid=sid), return_exceptions=True)
        refused = [one for one in got if isinstance(one, RemoteError)]
        assert [one.error for one in refused] == ["already_running"]
        assert len((await it.host.request("list"))["sessions"]) == 1

    run(home, tmp_path, test)


def test_an_agent_does_not_see_what_other_agent_shells_have_set(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("CLAUDE_CODE_ENTRYPOINT", "cli")
    monkeypatch.setenv("KEEP_ME", "yes")

    async def test(it: Daemon) -> None:
        session = await it.start()
        seen = psutil.Process(session["pid"]).environ()
        assert "CLAUDECODE" not in seen
        assert "CLAUDE_CODE_ENTRYPOINT" not in seen
        assert seen["KEEP_ME"] == "yes"

    run(home, tmp_path, test)
