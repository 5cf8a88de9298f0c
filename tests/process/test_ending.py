"""How processes end: asked, told, forced, with their tools, never with a stranger (Rules O7, O10, D7)."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.fakes.loop import on_loop
from tests.process.agents import Desk, daemon, desk, eventually, home, lives
from walnut_desktop.daemon.ending import Ender, Waits
from walnut_desktop.daemon.identity import Identity, boot_id, identify
from walnut_desktop.daemon.journal import Journal
from walnut_desktop.daemon.registry import Owned, Registry
from walnut_desktop.protocol.messages import RemoteError, Status, Stop

__all__ = ["home"]


@pytest.mark.rule("O7")
@on_loop
async def test_an_agent_that_listens_is_only_asked(home: Path, tmp_path: Path) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("echo")
        await it.hear(sid, "ready")
        assert await it.stop(sid) | {"id": 0} == {"id": 0, "ok": True, "stopped": True, "code": 0}
        (end,) = await it.hear_if(sid, lambda line: line.get("subtype") == "process-end")
        assert (end["code"], end["intended"]) == (0, True)
        assert it.exits[0]["intended"] is True
        left = sorted(path.name for path in it.stream(sid).parent.iterdir())
        assert left == [f"{sid}.jsonl", f"{sid}.jsonl.err"]


@pytest.mark.rule("O7")
@on_loop
async def test_one_that_does_not_read_is_interrupted(home: Path, tmp_path: Path) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("deaf")
        await it.hear(sid, "ready")
        assert (await it.stop(sid))["code"] == 130


@pytest.mark.rule("O7")
@on_loop
async def test_a_stubborn_one_is_ended_with_its_tool_but_nobody_else_is(
    home: Path, tmp_path: Path
) -> None:
    with subprocess.Popen(["sleep", "300"], start_new_session=True) as stranger:
        try:
            async with desk(home, tmp_path) as it:
                sid = await it.agent("stubborn")
                other = await it.agent("echo")
                (ready,) = await it.hear(sid, "ready")
                (pid,) = {(await it.status(sid))["pid"]}
                assert (await it.stop(sid))["code"] == 128 + signal.SIGKILL
                assert not lives(pid)
                await eventually(lambda: not lives(ready["tool"]), "the end of its tool")
                assert (await it.status(other))["alive"]
                assert stranger.poll() is None
        finally:
            stranger.kill()


@pytest.mark.rule("O7")
@on_loop
async def test_tools_that_went_their_own_way_end_with_it(home: Path, tmp_path: Path) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("leaves-tools")
        (ready,) = await it.hear(sid, "ready")
        assert lives(ready["tool"])
        assert lives(ready["orphan"])
        assert (await it.stop(sid))["code"] == 0
        await eventually(lambda: not lives(ready["tool"]), "its tool")
        await eventually(lambda: not lives(ready["orphan"]), "the one that was nobody's child")


@pytest.mark.rule("O1")
@on_loop
async def test_numbers_that_others_have_by_now_are_left_alone(home: Path, tmp_path: Path) -> None:
    """Agent and shell are gone and a stranger with a child has their number."""
    registry = Registry(home, boot_id())
    code = ["/bin/sh", "-c", "sleep 300 & echo $!; wait"]
    with subprocess.Popen(code, stdout=subprocess.PIPE, start_new_session=True) as stranger:
        assert stranger.stdout is not None
        child = int(stranger.stdout.readline())
        try:
            old = Identity(stranger.pid, "1", registry.boot)
            owned = Owned("s", "x", old, old, registry.files("s"), None)
            home.mkdir()
            registry.streams.mkdir(parents=True)
            registry.owned["s"] = owned
            ender = Ender(registry, Journal(home / "j"), Waits(0.01, 0.01, 0.01, 0.01))
            owned.ended.set()
            await ender.stop(Stop("s", str(home)))
            assert stranger.poll() is None
            assert identify(child, registry.boot) is not None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(stranger.pid, signal.SIGKILL)


@pytest.mark.rule("O4")
@on_loop
async def test_a_stop_for_another_process_is_refused(home: Path, tmp_path: Path) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("echo")
        answer = await it.stop(sid, expect_pid=4242, reason="orphan")
        assert (answer["stopped"], answer["detail"]) == (False, "pid_mismatch")
        assert (await it.status(sid))["alive"]
        answer = await it.stop("never-was")
        assert (answer["stopped"], answer["reason"]) == (False, "not_running")


@pytest.mark.rule("S1")
@on_loop
async def test_one_that_dies_at_once_says_why(home: Path, tmp_path: Path) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("dies")
        await eventually(lambda: it.exits, "its end")
        told = await it.status(sid)
        assert (told["alive"], told["code"], told["intended"]) == (False, 7, False)
        assert told["stderr"].endswith("no luck today")
        assert len(told["stderr"]) <= 4096


@pytest.mark.rule("O10")
@on_loop
async def test_what_ended_while_no_daemon_ran_is_told_with_its_code(
    home: Path, tmp_path: Path
) -> None:
    async with daemon(home, tmp_path) as plain:
        it = Desk(plain.home, plain.folder)
        sid = await it.agent("echo")
        await it.hear(sid, "ready")
        await it.hand_over(sid, {"n": 1})
        hello = await it.hello()
        fifo = os.open(it.stream(sid).with_suffix(".pipe"), os.O_RDWR)
        it.host.close()
        plain.host.close()
        os.kill(hello["pid"], signal.SIGKILL)
        await eventually(lambda: not lives(hello["pid"]), "the daemon's end")
        os.write(fifo, b'{"exit": 9}\n')
        os.close(fifo)
        await eventually(lambda: it.stream(sid).with_suffix(".exit").exists(), "the shell's word")
        again = Desk(home, tmp_path)
        told = await again.status(sid)
        assert (told["alive"], told["code"]) == (False, 9)
        (end,) = await again.hear_if(sid, lambda line: line.get("subtype") == "process-end")
        assert (end["code"], end["intended"]) == (9, False)
        assert (await again.hello())["pid"] != hello["pid"]
        await again.end()
        await it.spawner.close()


@on_loop
async def test_discard_leaves_nothing_and_never_a_living_session(
    home: Path, tmp_path: Path
) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("echo")
        with pytest.raises(RemoteError, match="runs"):
            await it.host.request("discard", Status(sid))
        await it.stop(sid)
        await it.host.request("discard", Status(sid))
        assert list(it.stream(sid).parent.iterdir()) == []
        assert (await it.agent("echo", sid=sid)) == sid, "its id is free again"


@on_loop
async def test_a_session_id_is_used_once_but_resumed_at_will(home: Path, tmp_path: Path) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("echo")
        await it.hear(sid, "ready")
        await it.stop(sid)
        with pytest.raises(RemoteError) as caught:
            await it.agent("echo", sid=sid)
        assert caught.value.error == "sid_in_use"
        assert await it.agent("echo", resume=sid) == sid
        await it.hear(sid, "ready", 2)
        starts = await it.hear_if(sid, lambda line: line.get("subtype") == "process-start", 2)
        assert [start["resume"] for start in starts] == [False, True]
        assert [it["sid"] for it in (await it.host.request("list"))["sessions"]] == [sid]
