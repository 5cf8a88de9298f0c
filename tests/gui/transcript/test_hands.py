"""Mouse and keys: choosing, copying, folding, links, and everything without a mouse (Rule G1)."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.gui.transcript.conftest import MakeView
from tests.gui.transcript.helpers import (
    BLOCKS,
    LONG,
    chat,
    clipboard,
    drag,
    hit_point,
    keys_on_screen,
    point_of,
    press,
    shown_text,
)
from walnut_desktop.gui.transcript_view import TailMessage, TranscriptView
from walnut_desktop.gui.transcript_view.layout import Action
from walnut_desktop.gui.transcript_view.rows import Unfolded
from walnut_desktop.gui.transcript_view.selection import Spot
from walnut_desktop.transcript.blocks import (
    TextBlock,
    ToolBlock,
    ToolState,
    UserBlock,
)

LEFT = Qt.MouseButton.LeftButton
CONTROL = Qt.KeyboardModifier.ControlModifier


def click(view: TranscriptView, point: QPoint) -> None:
    """Click with the mouse."""
    QTest.mouseClick(view.viewport(), LEFT, pos=point)


# -- choosing ------------------------------------------------------------------------------------------


def test_words_over_several_blocks(make_view: MakeView) -> None:
    view = make_view(BLOCKS)
    drag(view, point_of(view, 0, "queue"), point_of(view, 1, "places"))
    assert view.selected_text() == "queue.\n\nI found two "
    view.copy_selection()
    assert clipboard() == "queue.\n\nI found two "
    assert view.selection.text(markdown=True) == "queue.\n\nI found **two**"


def test_choosing_upwards_is_the_same(make_view: MakeView) -> None:
    view = make_view(BLOCKS)
    drag(view, point_of(view, 1, "places"), point_of(view, 0, "queue"))
    assert view.selected_text() == "queue.\n\nI found two "


def test_whole_blocks_between_give_their_source(make_view: MakeView) -> None:
    view = make_view(BLOCKS)
    drag(view, point_of(view, 0, "Please"), point_of(view, 5, "last"))
    text = view.selected_text()
    assert "**two**" in text
    assert "Bash: ls\none\ntwo" in text
    assert text.endswith("The ")


def test_all_is_chosen_without_laying_it_out(make_view: MakeView) -> None:
    blocks = chat(3000)
    view = make_view(blocks)
    press(view, Qt.Key.Key_A, CONTROL)
    text = view.selected_text()
    assert "Question 0" in text
    assert "Question 2996" in text
    assert view.surface.laid_count() < 60
    press(view, Qt.Key.Key_Escape)
    assert view.selected_text() == ""


def test_a_double_click_chooses_a_word(make_view: MakeView) -> None:
    view = make_view(BLOCKS)
    point = point_of(view, 1, "places")
    QTest.mouseDClick(view.viewport(), LEFT, pos=point)
    QTest.mouseRelease(view.viewport(), LEFT, pos=point)
    assert view.selected_text() == "places"


def test_shift_and_a_click_extend(make_view: MakeView) -> None:
    view = make_view(BLOCKS)
    click(view, point_of(view, 0, "look"))
    view.selection.begin(view.hands._spot(QPointF(point_of(view, 0, "look"))))  # type: ignore[arg-type]
    end = point_of(view, 0, "queue")
    QTest.mousePress(view.viewport(), LEFT, Qt.KeyboardModifier.ShiftModifier, pos=end)
    QTest.mouseRelease(view.viewport(), LEFT, Qt.KeyboardModifier.ShiftModifier, pos=end)
    assert view.selected_text() == "look at the "


def test_a_selection_survives_older_and_newer_blocks(make_view: MakeView) -> None:
    view = make_view(BLOCKS)
    drag(view, point_of(view, 0, "queue"), point_of(view, 1, "places"))
    view.prepend([UserBlock(f"old{n}", "old") for n in range(50)])
    assert view.selected_text() == "queue.\n\nI found two "
    view.set_blocks([])
    assert view.selected_text() == ""


def test_dragging_outside_scrolls(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(chat(60))
    value = view.verticalScrollBar().value()
    QTest.mousePress(view.viewport(), LEFT, pos=QPoint(200, 300))
    QTest.mouseMove(view.viewport(), QPoint(200, 200))
    QTest.mouseMove(view.viewport(), QPoint(200, -60))
    qtbot.waitUntil(lambda: view.verticalScrollBar().value() < value - 100)
    QTest.mouseRelease(view.viewport(), LEFT, pos=QPoint(200, -60))
    assert not view.hands._scroll.isActive()
    assert len(view.selected_text()) > 100


# -- clicking ------------------------------------------------------------------------------------------


def test_a_link_is_told_and_not_opened(
    make_view: MakeView, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[object] = []
    monkeypatch.setattr("PySide6.QtGui.QDesktopServices.openUrl", opened.append)
    view = make_view(BLOCKS)
    point = point_of(view, 1, "link")
    with qtbot.waitSignal(view.link_activated) as told:
        click(view, point)
    assert told.args == ["https://example.org/x"]
    assert opened == []
    QTest.mouseMove(view.viewport(), point)
    assert view.viewport().cursor().shape() is Qt.CursorShape.PointingHandCursor


def test_dragging_over_a_link_does_not_follow_it(make_view: MakeView) -> None:
    view = make_view(BLOCKS)
    told: list[str] = []
    view.link_activated.connect(told.append)
    drag(view, point_of(view, 1, "two"), point_of(view, 1, "link"))
    assert told == []


def test_a_click_on_the_head_unfolds(make_view: MakeView) -> None:
    view = make_view(BLOCKS)
    click(view, hit_point(view, 3, Action.FOLD))
    assert shown_text(view, 3) == "ls\none\ntwo"
    click(view, hit_point(view, 2, Action.FOLD))
    assert shown_text(view, 2) == "Hidden thought."
    click(view, hit_point(view, 3, Action.FOLD))
    assert view.surface.laid(3).document is None


def test_more_lines_on_a_click(make_view: MakeView) -> None:
    output = "\n".join(map(str, range(40)))
    view = make_view([ToolBlock("t", "i", "Bash", {"command": "seq"}, ToolState.DONE, output)])
    view.toggle(0)
    assert len(shown_text(view).split("\n")) == 13
    click(view, hit_point(view, 0, Action.MORE))
    assert view.surface.rows[0].unfolded is Unfolded.ALL
    assert shown_text(view).endswith("39")


def test_code_is_copied_by_its_button(make_view: MakeView) -> None:
    view = make_view(BLOCKS)
    point = hit_point(view, 1, Action.COPY)
    QTest.mouseMove(view.viewport(), point)
    assert view.hands.code is not None
    click(view, point)
    assert clipboard() == "x = 1\ny = 2"
    assert view.hands.just_copied


def test_a_stuck_message_can_be_sent_again_or_thrown_away(
    make_view: MakeView, qtbot: QtBot
) -> None:
    view = make_view(BLOCKS)
    view.set_tail([TailMessage("m1", "x", "failed", "why"), TailMessage("m2", "y", "queued")])
    assert view.surface.laid(len(BLOCKS) + 1).hits == []
    with qtbot.waitSignal(view.retry_wanted) as again:
        click(view, hit_point(view, len(BLOCKS), Action.RETRY))
    with qtbot.waitSignal(view.discard_wanted) as away:
        click(view, hit_point(view, len(BLOCKS), Action.DISCARD))
    assert (again.args, away.args) == (["m1"], ["m1"])


# -- keys ----------------------------------------------------------------------------------------------


@pytest.mark.rule("G13")
def test_everything_by_keys(make_view: MakeView) -> None:
    view = make_view(BLOCKS)
    view.clearFocus()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    number = view.focus.number()
    assert number == len(BLOCKS) - 1
    for _ in range(2):
        press(view, Qt.Key.Key_K)
    assert view.focus.number() == 3
    assert view.focus.ring
    press(view, Qt.Key.Key_Return)
    assert shown_text(view, 3) == "ls\none\ntwo"
    press(view, Qt.Key.Key_Space)
    assert view.surface.laid(3).document is None
    press(view, Qt.Key.Key_C, CONTROL)
    assert clipboard() == "Bash: ls\none\ntwo"
    press(view, Qt.Key.Key_J)
    assert view.focus.number() == 4
    press(view, Qt.Key.Key_Escape)
    assert view.focus.number() is None


def test_pieces_of_a_text_are_one_block_for_the_keys(make_view: MakeView) -> None:
    text = "\n\n".join([LONG] * 30)
    view = make_view([UserBlock("u", "x"), TextBlock("t", text), UserBlock("v", "y")])
    assert len(view.surface.rows) > 5
    view.focus.move(0)
    press(view, Qt.Key.Key_J)
    assert view.focus.number() == 1
    press(view, Qt.Key.Key_C, CONTROL)
    assert clipboard() == text
    press(view, Qt.Key.Key_J)
    assert view.surface.rows[view.focus.number() or 0].key == "v"
    press(view, Qt.Key.Key_J)
    press(view, Qt.Key.Key_K)
    assert view.focus.number() == 1


def test_scrolling_by_keys(make_view: MakeView) -> None:
    view = make_view(chat(100))
    values = []
    for key in (
        Qt.Key.Key_Up,
        Qt.Key.Key_PageUp,
        Qt.Key.Key_Home,
        Qt.Key.Key_Down,
        Qt.Key.Key_PageDown,
    ):
        press(view, key)
        values.append(view.surface.scroll_value)
    assert values[0] > values[1] > values[2] == 0
    assert 0 < values[3] < values[4]
    press(view, Qt.Key.Key_Space)
    assert view.surface.scroll_value > values[4]
    press(view, Qt.Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)
    assert view.surface.scroll_value == values[4]
    press(view, Qt.Key.Key_End)
    assert view.is_at_bottom()


def test_the_keyboard_brings_blocks_into_view(make_view: MakeView) -> None:
    view = make_view(chat(60))
    view.scroll_to_top()
    for _ in range(50):
        press(view, Qt.Key.Key_J)
        number = view.focus.number()
        assert number is not None
        spot = next(p for p in view.placed if p.number == number)
        assert spot.y >= 0
        assert spot.bottom <= view.viewport().height() or spot.y < 30
    for _ in range(50):
        press(view, Qt.Key.Key_K)
        assert view.surface.rows[view.focus.number() or 0].key in keys_on_screen(view)


def test_enter_sends_a_stuck_message_again(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(BLOCKS)
    view.set_tail([TailMessage("m1", "x", "parked", "why")])
    view.focus.move(len(BLOCKS))
    with qtbot.waitSignal(view.retry_wanted) as again:
        press(view, Qt.Key.Key_Return)
    assert again.args == ["m1"]


# -- code over several rows ----------------------------------------------------------------------------


def test_long_code_is_one_box_and_copied_whole(make_view: MakeView) -> None:
    code = "\n".join(f"line_{number} = {number}" for number in range(200))
    text = f"Before.\n\n```python\n{code}\n```\n\nAfter."
    view = make_view([TextBlock("t", text)])
    rows = view.surface.rows
    assert len(rows) > 3
    for number in range(len(rows) - 1):
        laid = view.surface.laid(number)
        assert laid.gap == 0, "the box is torn"
        assert laid.codes[-1].bottom() > laid.height
        assert view.surface.laid(number + 1).codes[0].top() < 0
    view.scroll_to_top()
    for number in range(len(rows)):
        row = rows[number]
        hit = next(hit for hit in view.surface.laid(number).hits if hit.action is Action.COPY)
        assert view.hands.whole_code(row, hit) == code
    view.select_all()
    assert view.selected_text() == text


def test_a_selection_over_pieces_has_no_marks_of_ours(make_view: MakeView) -> None:
    code = "\n".join(f"line_{number} = {number}" for number in range(150))
    view = make_view([TextBlock("t", f"```python\n{code}\n```")])
    rows = view.surface.rows
    view.selection.choose(Spot(rows[0], 3), Spot(rows[len(rows) - 1], 5))
    text = view.selected_text()
    assert "`" not in text
    assert [f"line_{number} = {number}" for number in range(1, 120)] == text.split("\n")[1:120]
