"""What can't be started says why and what to do, and leaves everything as it was (Rule S1)."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from tests.gui.conftest import MakeRig
from tests.gui.rig import Rig, eventually
from walnut_desktop.domain.ids import TaskId
from walnut_desktop.domain.phase import Phase
from walnut_desktop.gui.application import Application

PROMPT = "[[say Hello.]]"


async def try_to_start(rig: Rig, prompt: str = PROMPT) -> tuple[TaskId, str]:
    """Start a session that can't be started; answer the task and what is said."""
    await rig.open()
    task_id = await rig.add_task("Try it")
    options = rig.desktop.window.chat.options
    options.choose_engine(rig.engine)
    options.folder.setText(str(rig.folder))
    rig.write(prompt)
    await eventually(rig.banner, "the reason")
    return task_id, rig.banner()


async def assert_nothing_is_left(rig: Rig, task_id: TaskId, prompt: str = PROMPT) -> None:
    """The task is as before, the text is back, and neither session nor process exists."""
    task = rig.task(task_id)
    assert task.phase == Phase.TODO.value
    assert task.exec_session_id is None
    assert task.session_ids == ()
    assert not task.needs_attention
    assert rig.desktop.window.chat.composer.text() == prompt
    assert await rig.core.sessions.all() == []
    listed = await rig.core.host.request("list")
    assert listed["sessions"] == []
    streams = rig.home / "sessions" / "streams"
    assert [path.name for path in streams.iterdir()] == []


@pytest.mark.rule("S1")
async def test_claude_is_missing(qapp: Application, rig_of: MakeRig) -> None:
    async with rig_of("practice") as rig:
        rig.engine = "claude"
        rig.settings(claude_program="claude-that-is-not-there")
        task_id, said = await try_to_start(rig)
        assert "Claude Code was not found" in said
        assert "npm install" in said
        await assert_nothing_is_left(rig, task_id)


@pytest.mark.rule("S1")
async def test_not_logged_in(qapp: Application, rig_of: MakeRig) -> None:
    async with rig_of("practice") as rig:
        os.environ["WALNUT_PRACTICE_LOGGED_OUT"] = "1"
        task_id, said = await try_to_start(rig)
        assert "is not logged in" in said
        assert "/login" in said
        await assert_nothing_is_left(rig, task_id)


@pytest.mark.rule("S1")
@pytest.mark.real_cli
async def test_the_real_cli_is_not_logged_in(qapp: Application, rig_of: MakeRig) -> None:
    async with rig_of("claude") as rig:
        del os.environ["ANTHROPIC_API_KEY"]
        task_id, said = await try_to_start(rig)
        assert "Claude Code is not logged in" in said
        await assert_nothing_is_left(rig, task_id)


@pytest.mark.rule("T12")
async def test_the_folder_does_not_exist(qapp: Application, rig_of: MakeRig) -> None:
    async with rig_of("practice") as rig:
        rig.folder = rig.folder / "nowhere"
        task_id, said = await try_to_start(rig)
        assert "nowhere does not exist" in said
        assert "Choose another folder" in said
        await assert_nothing_is_left(rig, task_id)


def fake_program(folder: Path, body: str) -> Path:
    """A program that behaves in one bad way."""
    path = folder / "claude"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.rule("S1")
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            "echo \"error: unknown option '--include-partial-messages'\" >&2; exit 1",
            "does not know the option",
        ),
        (
            'echo "Error: Session ID 1234 is already in use." >&2; exit 1',
            "session with this id already",
        ),
        (
            "echo some trouble >&2; exit 7",
            "ended with exit code 7 before it began. It said: some trouble",
        ),
        ("kill -9 $$", "before it began"),
    ],
)
async def test_the_program_ends_at_once(
    qapp: Application, rig_of: MakeRig, tmp_path: Path, body: str, words: str
) -> None:
    async with rig_of("practice") as rig:
        rig.engine = "claude"
        rig.settings(claude_program=str(fake_program(tmp_path, body)))
        task_id, said = await try_to_start(rig)
        assert words in said
        await assert_nothing_is_left(rig, task_id)


@pytest.mark.rule("S1")
async def test_the_program_says_nothing_in_time(
    qapp: Application, rig_of: MakeRig, tmp_path: Path
) -> None:
    async with rig_of("practice") as rig:
        rig.engine = "claude"
        silent = fake_program(tmp_path, "exec sleep 600")
        rig.settings(claude_program=str(silent), start_timeout_s=1.0)
        task_id, said = await try_to_start(rig)
        assert "did not answer in time" in said
        await assert_nothing_is_left(rig, task_id)


@pytest.mark.rule("S14")
@pytest.mark.rule("M3")
async def test_a_session_that_runs_elsewhere_is_not_resumed(
    qapp: Application, rig_of: MakeRig
) -> None:
    async with rig_of("practice") as rig:
        await rig.open()
        await rig.add_task("Mine")
        await rig.start(PROMPT)
        await rig.until_idle()
        sid = rig.session().sid
        await rig.core.sessions.stop(sid)
        live = rig.home / "practice" / "sessions"
        live.mkdir(exist_ok=True)
        stat_line = Path("/proc/self/stat").read_text()
        start = stat_line[stat_line.rfind(")") + 2 :].split()[19]
        entry = {"pid": os.getpid(), "sessionId": sid, "procStart": start, "kind": "interactive"}
        (live / f"{os.getpid()}.json").write_text(json.dumps(entry))
        rig.write("[[say Me too.]]")
        await eventually(lambda: "[[say Me too.]]" in rig.own_messages(), "the message is kept")
        rows = await rig.core.sessions.messages(sid)

        async def failed() -> bool:
            return any(row.state == "failed" for row in await rig.core.sessions.messages(sid))

        for _ in range(400):
            if await failed():
                break
            await eventually(lambda: True, "a turn of the loop")
        rows = await rig.core.sessions.messages(sid)
        assert [row.state for row in rows] == ["failed"]
        assert "already runs in another program" in rows[0].reason
        assert (await rig.core.host.request("list"))["sessions"] == []
        (live / f"{os.getpid()}.json").unlink()
        await rig.core.sessions.retry(rows[0].id)
        await eventually(lambda: "Me too." in "".join(rig.texts()[-3:]), "the answer after all")
