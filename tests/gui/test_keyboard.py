"""Everything of the main job with keys alone (Rule G1), and what every control must have (Rule G13)."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from tests.gui.conftest import MakeRig
from tests.gui.rig import Rig, eventually
from walnut_desktop.domain.phase import Phase
from walnut_desktop.domain.session import SessionStatus
from walnut_desktop.gui.application import Application


def press(rig: Rig, keys: str) -> None:
    """Press a shortcut of the window: the action that owns it is triggered, as Qt would."""
    wanted = QKeySequence(keys)
    for action in rig.desktop.window.findChildren(QAction):
        if action.shortcut() == wanted and action.parent() is rig.desktop.window:
            action.trigger()
            return
    raise AssertionError(f"no action has {keys}")


def focused() -> QWidget:
    """Where the keyboard is."""
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


@pytest.mark.rule("G1")
async def test_the_main_job_with_keys_alone(qapp: Application, rig_of: MakeRig) -> None:
    async with rig_of("practice") as rig:
        await rig.open()
        rig.desktop.window.chat.options.choose_engine("practice")
        rig.desktop.window.chat.options.folder.setText(str(rig.folder))
        press(rig, "Ctrl+N")
        assert focused() is rig.desktop.window.tasks.add_line
        QTest.keyClicks(focused(), "Keys only")
        QTest.keyClick(focused(), Qt.Key.Key_Return)
        await eventually(lambda: rig.shown_title() == "Keys only", "the new task")
        task_id = rig.desktop.chat.task_id
        assert task_id is not None
        press(rig, "Ctrl+2")
        QTest.keyClicks(focused(), '[[tool Bash {"command": "touch made"}]] [[say Ready.]]')
        QTest.keyClick(focused(), Qt.Key.Key_Return)
        await eventually(lambda: rig.desktop.window.chat.card is not None, "the card")
        press(rig, "Ctrl+J")
        card = rig.desktop.window.chat.card
        assert card is not None
        assert focused() is card.allow
        QTest.keyClick(focused(), Qt.Key.Key_Space)
        await eventually(lambda: rig.session().status is SessionStatus.IDLE, "the end of the turn")
        assert (rig.folder / "made").exists()
        press(rig, "Ctrl+1")
        assert focused() is rig.desktop.window.tasks.view
        QTest.keyClick(focused(), Qt.Key.Key_F2)
        editor = focused()
        assert editor is not rig.desktop.window.tasks.view
        QTest.keyClicks(editor, "Another name")
        QTest.keyClick(editor, Qt.Key.Key_Return)
        await eventually(lambda: rig.task(task_id).title == "Another name", "the new title")
        press(rig, "Ctrl+1")
        QTest.keyClick(focused(), Qt.Key.Key_Space)
        await eventually(lambda: rig.task(task_id).phase == Phase.COMPLETE.value, "done")
        assert rig.task(task_id).exec_session_id is None


@pytest.mark.rule("T13")
async def test_children_by_key_and_the_guard_of_their_parent(
    qapp: Application, rig_of: MakeRig
) -> None:
    async with rig_of("practice") as rig:
        await rig.open()
        parent = await rig.add_task("Parent")
        press(rig, "Ctrl+Shift+N")
        QTest.keyClicks(focused(), "Child")
        QTest.keyClick(focused(), Qt.Key.Key_Return)
        await eventually(lambda: rig.shown_title() == "Child", "the child")
        child = rig.desktop.chat.task_id
        assert child is not None
        assert rig.task(child).parent_id == parent
        rig.desktop.window.tasks.choose(parent)
        rig.desktop.window.tasks.view.setFocus()
        QTest.keyClick(rig.desktop.window.tasks.view, Qt.Key.Key_Space)
        await eventually(rig.banner, "why not")
        assert "1 open subtask" in rig.banner()
        assert rig.task(parent).phase == Phase.TODO.value
        QTest.keyClick(rig.desktop.window.tasks.view, Qt.Key.Key_Left)
        assert rig.desktop.model.rowCount() == 1, "folded"
        QTest.keyClick(rig.desktop.window.tasks.view, Qt.Key.Key_Right)
        assert rig.desktop.model.rowCount() == 2


@pytest.mark.rule("G13")
async def test_every_control_has_a_name_for_screen_readers(
    qapp: Application, rig_of: MakeRig
) -> None:
    async with rig_of("practice") as rig:
        await rig.open()
        await rig.add_task("Names")
        await rig.start('[[tool Bash {"command": "touch made"}]]')
        await eventually(lambda: rig.desktop.window.chat.card is not None, "the card")
        nameless = []
        for widget in rig.desktop.window.findChildren(QWidget):
            inner = widget.window() is not rig.desktop.window or widget.objectName().startswith(
                "qt_"
            )
            if widget.focusPolicy() == Qt.FocusPolicy.NoFocus or inner:
                continue
            text = widget.text() if isinstance(widget, QAbstractButton) else ""
            if not (widget.accessibleName() or text):
                nameless.append(f"{type(widget).__name__} {widget.objectName()}")
        assert nameless == []


@pytest.mark.rule("G1")
async def test_no_shortcut_is_given_twice(qapp: Application, rig_of: MakeRig) -> None:
    async with rig_of("practice") as rig:
        await rig.open()
        keys = [
            action.shortcut().toString()
            for action in rig.desktop.window.actions()
            if not action.shortcut().isEmpty()
        ]
        assert len(keys) == len(set(keys)) >= 8


@pytest.mark.rule("G2")
async def test_quitting_with_living_sessions_says_that_they_run_on(
    qapp: Application, rig_of: MakeRig
) -> None:
    from PySide6.QtWidgets import QMessageBox

    async with rig_of("practice") as rig:
        await rig.open()
        asked: list[bool] = []
        rig.desktop._ask_to_stop = lambda: asked.append(True)
        await rig.add_task("Lives on")
        await rig.start("[[say Hello.]]")
        await rig.until_idle()
        pid = rig.session().pid
        press(rig, "Ctrl+Q")
        box = rig.desktop.window.findChild(QMessageBox, "quitQuestion")
        assert box is not None
        assert "1 session keeps running without the app" in box.text()
        assert asked == []
        QTest.mouseClick(box.defaultButton(), Qt.MouseButton.LeftButton)
        await eventually(lambda: asked, "the end is asked for")
        await rig.close()
        await rig.open()
        await eventually(lambda: rig.session().status is SessionStatus.IDLE, "it is still there")
        assert rig.session().pid == pid
