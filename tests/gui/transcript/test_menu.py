"""The menu of the transcript: everything that the mouse can do, without one."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.gui.transcript.conftest import MakeView
from tests.gui.transcript.helpers import BLOCKS, clipboard, drag, point_of
from walnut_desktop.gui.transcript_view import TranscriptView
from walnut_desktop.gui.transcript_view.rows import Unfolded

# The unseen screen says so of every popup.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


def menu_items(view: TranscriptView, point: QPoint | None) -> dict[str, QAction]:
    """Open the menu, by key without a point; answers its items."""
    by = QContextMenuEvent.Reason.Mouse if point is not None else QContextMenuEvent.Reason.Keyboard
    event = QContextMenuEvent(by, point or QPoint(), view.viewport().mapToGlobal(point or QPoint()))
    QApplication.sendEvent(view.viewport(), event)
    assert view.keys.menu.isVisible()
    items = {action.text(): action for action in view.keys.menu.actions() if action.text()}
    view.keys.menu.close()
    return items


def test_the_menu_of_a_block(make_view: MakeView) -> None:
    view = make_view(BLOCKS)
    items = menu_items(view, point_of(view, 0, "look"))
    assert list(items) == ["Copy message", "Select all"]
    items["Copy message"].trigger()
    assert clipboard() == "Please look at the queue."


def test_the_menu_of_a_selection(make_view: MakeView) -> None:
    view = make_view(BLOCKS)
    drag(view, point_of(view, 1, "found"), point_of(view, 1, "places"))
    items = menu_items(view, point_of(view, 1, "two"))
    items["Copy as Markdown"].trigger()
    assert clipboard() == "found **two**"
    items["Copy"].trigger()
    assert clipboard() == "found two "
    items["Copy answer"].trigger()
    assert clipboard().startswith("I found **two**")


@pytest.mark.rule("G13")
def test_links_and_folding_without_a_mouse(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(BLOCKS)
    view.focus.move(1)
    items = menu_items(view, None)
    with qtbot.waitSignal(view.link_activated) as told:
        items["Open https://example.org/x"].trigger()
    assert told.args == ["https://example.org/x"]
    view.focus.move(3)
    menu_items(view, None)["Unfold"].trigger()
    assert view.surface.rows[3].unfolded is Unfolded.YES


def test_the_menu_over_code(make_view: MakeView) -> None:
    view = make_view(BLOCKS)
    menu_items(view, point_of(view, 1, "x = 1"))["Copy code"].trigger()
    assert clipboard() == "x = 1\ny = 2"


def test_the_menu_of_nothing(make_view: MakeView) -> None:
    view = make_view()
    assert list(menu_items(view, QPoint(50, 50))) == ["Select all"]
    menu_items(view, None)["Select all"].trigger()
    assert view.selected_text() == ""
