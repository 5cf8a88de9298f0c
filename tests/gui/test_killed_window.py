"""The window's process is killed in mid-turn: the next shows the whole answer once (Rules O10, S4)."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.gui.conftest import MakeRig
from tests.gui.rig import eventually
from walnut_desktop.domain.phase import Phase
from walnut_desktop.domain.session import SessionStatus
from walnut_desktop.gui.application import Application


@pytest.mark.rule("O10")
@pytest.mark.rule("S4")
async def test_the_window_is_killed_in_mid_turn(
    qapp: Application, rig_of: MakeRig, engine: str
) -> None:
    async with rig_of(engine) as rig:
        prompt = "[[slow 120 15]] [[next]] [[say never]]"
        command = [
            sys.executable,
            "-m",
            "tests.fakes.window_process",
            str(rig.home),
            str(rig.folder),
        ]
        child = subprocess.Popen(
            [*command, engine, prompt, "w7"],
            stdout=subprocess.PIPE,
            env=dict(os.environ),
            text=True,
        )
        assert child.stdout is not None
        with child, child.stdout:
            ready = child.stdout.readline()
            child.kill()
        assert ready.startswith("ready "), ready
        await rig.open()
        await eventually(lambda: rig.shown_title() == "Killed window", "the task is chosen again")
        task_id = rig.desktop.chat.task_id
        assert task_id is not None
        await eventually(
            lambda: rig.maybe_session() and rig.session().status is SessionStatus.IDLE, "the end"
        )
        assert rig.session().sid == ready.split()[1]
        await eventually(lambda: "w119" in rig.shown(), "the whole answer")
        answers = [text for text in rig.texts() if text.startswith("w0 w1")]
        assert answers == [" ".join(f"w{n}" for n in range(120))], "once, and whole"
        await eventually(
            lambda: rig.task(task_id).phase == Phase.AWAIT_HUMAN_ACTION.value, "the right phase"
        )
        assert rig.own_messages() == [prompt]
