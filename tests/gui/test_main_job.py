"""The main job through the window, with both agents: the acceptance of the first slice."""

from __future__ import annotations

import logging
import os
import signal

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.gui.conftest import MakeRig
from tests.gui.rig import Rig, eventually
from walnut_desktop.domain.ids import TaskId
from walnut_desktop.domain.phase import Phase
from walnut_desktop.domain.session import Session, SessionStatus
from walnut_desktop.gui.application import Application

TOUCH = '[[tool Bash {"command": "touch made.txt && echo made", "description": "Make a file"}]]'
SLOW = '[[tool Bash {"command": "sleep 1.5; echo slept", "description": "Wait"}]]'


@pytest.mark.rule("S1")
@pytest.mark.rule("S7")
@pytest.mark.rule("T15")
@pytest.mark.rule("G1")
@pytest.mark.rule("G2")
async def test_the_main_job(qapp: Application, rig_of: MakeRig, engine: str) -> None:
    async with rig_of(engine) as rig:
        await rig.open()
        other = await rig.add_task("Something else")
        task_id = await rig.add_task("Make a file")
        await rig.start(f"[[say Making it now.]] {TOUCH} [[say All done.]]")
        assert rig.task(task_id).exec_session_id == rig.session().sid
        await eventually(lambda: "Making it now." in rig.shown(), "the streamed words")
        await eventually(lambda: rig.desktop.window.chat.card is not None, "the permission card")
        assert rig.task(task_id).phase == Phase.AWAIT_HUMAN_ACTION.value
        assert not (rig.folder / "made.txt").exists()
        rig.allow()
        rig.desktop.window.tasks.choose(other)
        rig.desktop.window.close()
        await eventually(
            lambda: (
                rig.task(task_id).phase == "AWAIT_HUMAN_ACTION"
                and session(rig, task_id).status is SessionStatus.IDLE
            ),
            "the end",
        )
        assert rig.task(task_id).needs_attention
        assert (rig.folder / "made.txt").exists()
        key = f"{session(rig, task_id).sid}:turn:1.1"
        await eventually(lambda: key in rig.desktop.notices.shown(), "the notice")
        assert [title for title, _ in rig.desktop.notices.history].count(
            "Make a file: finished a turn"
        ) == 1
        assert "Make a file" in rig.desktop.tray.menu_texts()
        rig.desktop.tray.task_wanted.emit(task_id)
        await eventually(lambda: not rig.task(task_id).needs_attention, "the dot to go")
        await eventually(lambda: "All done." in rig.shown(), "the whole answer")
        await eventually(lambda: rig.desktop.notices.shown() == [], "the notice to go")
        assert "made" in rig.shown()
        assert rig.shown().count("All done.") == 2, "once in the prompt, once in the answer"


def session(rig: Rig, task_id: TaskId) -> Session:
    """The session of a task that is not shown."""
    found = rig.desktop.model.session(task_id)
    assert found is not None
    return found


@pytest.mark.rule("M1")
@pytest.mark.rule("M5")
async def test_a_message_in_mid_turn_is_taken_up_once(
    qapp: Application, rig_of: MakeRig, engine: str
) -> None:
    async with rig_of(engine) as rig:
        await rig.open()
        await rig.add_task("Wait")
        await rig.start(f"{SLOW} [[say Slept well.]]")
        await eventually(
            lambda: rig.desktop.window.chat.card is not None or "Bash" in rig.shown(), "the tool"
        )
        if rig.desktop.window.chat.card is not None:
            rig.allow()
        rig.write("And the weather?")
        await eventually(
            lambda: "And the weather?" in rig.own_messages(), "the message is shown at once"
        )
        await rig.close()
        await rig.open()
        await eventually(
            lambda: rig.maybe_session() and rig.session().status is SessionStatus.IDLE, "the end"
        )
        await eventually(lambda: "Slept well." in "".join(rig.texts()[1:]), "the answer")
        await eventually(lambda: rig.own_messages().count("And the weather?") == 1, "shown once")
        assert len(rig.own_messages()) == 2
        await eventually(lambda: rig.on_their_way() == [], "the agent takes it up")
        rows = await rig.core.sessions.messages(rig.session().sid)
        assert rows == [], "nothing is still on its way"


@pytest.mark.rule("O10")
@pytest.mark.rule("S4")
async def test_the_helper_is_killed_in_mid_turn(
    qapp: Application, rig_of: MakeRig, engine: str
) -> None:
    async with rig_of(engine) as rig:
        await rig.open()
        task_id = await rig.add_task("Survive")
        await rig.start(f"{SLOW} [[say Still here.]]")
        await eventually(
            lambda: rig.desktop.window.chat.card is not None or "Bash" in rig.shown(), "the tool"
        )
        if rig.desktop.window.chat.card is not None:
            rig.allow()
            await eventually(lambda: rig.desktop.window.chat.card is None, "the answer is taken")
        pid = rig.session().pid
        hello = await rig.core.host.request("hello")
        os.kill(hello["pid"], signal.SIGKILL)
        await eventually(lambda: not rig.core.host.connected, "the link is lost")
        await eventually(lambda: rig.core.host.connected, "the next helper")
        await rig.until_idle()
        assert rig.session().pid == pid, "the same process"
        assert "".join(rig.texts()[1:]).count("Still here.") == 1
        assert rig.task(task_id).phase == Phase.AWAIT_HUMAN_ACTION.value
        listed = await rig.core.host.request("list")
        assert [item["pid"] for item in listed["sessions"]] == [pid], "no second process"


@pytest.mark.rule("S2")
@pytest.mark.rule("S5.4")
async def test_the_agent_is_killed_in_mid_turn(
    qapp: Application, rig_of: MakeRig, engine: str
) -> None:
    async with rig_of(engine) as rig:
        await rig.open()
        task_id = await rig.add_task("Fall")
        await rig.start("[[slow 400 20]]")
        await eventually(lambda: "w5" in rig.shown(), "some words")
        pid = rig.session().pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await eventually(lambda: rig.session().status is SessionStatus.ERROR, "the error")
        assert rig.session().pid is None
        assert "Send a message to resume" in rig.session().error
        assert rig.task(task_id).exec_session_id is None
        assert rig.task(task_id).phase == Phase.AWAIT_HUMAN_ACTION.value
        rig.write("[[say Back again.]]")
        await eventually(lambda: "Back again." in "".join(rig.texts()[-3:]), "the answer")
        await rig.until_idle()
        assert rig.session().pid not in (None, pid)
        assert rig.task(task_id).exec_session_id == rig.session().sid


@pytest.mark.rule("S11")
async def test_interrupt_and_stop(qapp: Application, rig_of: MakeRig, engine: str) -> None:
    async with rig_of(engine) as rig:
        await rig.open()
        await rig.add_task("Too long")
        await rig.start("[[slow 2000 20]]")
        await eventually(lambda: "w5" in rig.shown(), "some words")
        pid = rig.session().pid
        QTest.mouseClick(rig.desktop.window.chat.header.interrupt, Qt.MouseButton.LeftButton)
        await eventually(lambda: rig.session().status is SessionStatus.IDLE, "the cut turn")
        assert rig.session().pid == pid
        assert "Interrupted" in rig.shown()
        QTest.mouseClick(rig.desktop.window.chat.header.stop, Qt.MouseButton.LeftButton)
        await eventually(
            lambda: rig.session().status is SessionStatus.STOPPED, "the end of the process"
        )
        assert rig.session().pid is None
        listed = await rig.core.host.request("list")
        assert listed["sessions"] == []


@pytest.mark.rule("S1")
@pytest.mark.rule("S4")
async def test_the_app_is_closed_while_a_session_starts(
    qapp: Application, rig_of: MakeRig, engine: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with rig_of(engine) as rig:
        await rig.open()
        await rig.add_task("Begin")
        before = await rig.start("[[say Here I am.]]")
        await rig.close()
        assert [one.getMessage() for one in caplog.records if one.levelno >= logging.ERROR] == []
        await rig.open()
        await eventually(
            lambda: rig.maybe_session() and rig.session().status is SessionStatus.IDLE, "the end"
        )
        await eventually(lambda: "Here I am." in "".join(rig.texts()[1:]), "the answer")
        assert (rig.session().sid, rig.session().pid) == (before.sid, before.pid)
        assert len(rig.own_messages()) == 1
