"""How it looks: both themes, larger text, marks of our own; and how a screen reader hears it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QColor, QTextTable
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.gui.transcript import sample
from tests.gui.transcript.conftest import MakeView
from tests.gui.transcript.helpers import chat, document_of, draw, press, shown_text
from walnut_desktop.gui.icon import FOLDER, app_icon, icon
from walnut_desktop.gui.theme import Theme, apply_theme
from walnut_desktop.gui.transcript_view import TranscriptView
from walnut_desktop.gui.transcript_view.rows import Row
from walnut_desktop.transcript.blocks import (
    Change,
    TextBlock,
    ThinkingBlock,
    ToolBlock,
    ToolState,
    TurnBlock,
)

Name = QAccessible.Text.Name


def colours_of(view: TranscriptView) -> set[str]:
    """All colours of a picture of the view, a few pixels apart."""
    picture = view.grab().toImage()
    return {
        picture.pixelColor(x, y).name()
        for x in range(0, picture.width(), 3)
        for y in range(0, picture.height(), 3)
    }


def test_everything_is_painted_in_both_themes(make_view: MakeView, qapp: QApplication) -> None:
    view = make_view(sample.blocks(), height=900)
    view.set_tail(sample.tail())
    view.set_busy("Working…")
    for scheme in ("dark", "light", "dark"):
        theme = apply_theme(qapp, scheme)
        view.set_theme(theme)
        for number in range(len(view.surface.rows)):
            if view.surface.rows[number].foldable:
                view.toggle(number)
        view.scroll_to_bottom()
        assert theme.color("surface").name() in colours_of(view)
        view.scroll_to_top()
        assert theme.color("user_card").name() in colours_of(view)


def test_the_live_switch_keeps_the_place(make_view: MakeView, qapp: QApplication) -> None:
    view = make_view(chat(100))
    view.scroll_by(-3000)
    before = view.placed[0].number
    view.set_theme(apply_theme(qapp, "dark"))
    assert view.placed[0].number == before
    ink = document_of(view, before).begin().charFormat().foreground().color()
    assert ink != Theme("light").color("text")


@pytest.mark.rule("G13")
def test_text_scales(make_view: MakeView, qapp: QApplication) -> None:
    font = qapp.font()
    heights = []
    try:
        for size in (10.0, 20.0):
            larger = qapp.font()
            larger.setPointSizeF(size)
            qapp.setFont(larger)
            view = make_view(sample.blocks())
            heights.append(view.surface.rows.total)
            view.grab()
    finally:
        qapp.setFont(font)
    assert heights[1] > 1.5 * heights[0]


def test_a_narrow_window_still_works(make_view: MakeView) -> None:
    view = make_view(sample.blocks(), width=180, height=200)
    view.set_tail(sample.tail())
    view.scroll_to_top()
    view.grab()
    assert view.surface.layout.width >= 120


def test_the_column_has_a_measure(make_view: MakeView) -> None:
    view = make_view(chat(10), width=1800)
    assert view.surface.layout.width < 60 * view.surface.layout.line
    right = view.viewport().width() - view.surface.left - view.surface.layout.width
    assert abs(right - view.surface.left) < 20


def test_code_boxes_ticks_and_tables(make_view: MakeView) -> None:
    view = make_view([TextBlock("t", sample.ANSWER)], height=900)
    laid = view.surface.laid(0)
    assert [ticked for _box, ticked in laid.checks] == [True, False]
    assert len(laid.codes) == len(laid.quotes) == 1
    assert len(laid.bullets) == 2
    document = document_of(view, 0)
    code = document.findBlockByNumber(document.code_runs[0][0])
    assert code.text().startswith("def enqueue")
    assert code.layout().formats(), "no colours"
    tables = [f for f in document.rootFrame().childFrames() if isinstance(f, QTextTable)]
    cell = tables[0].cellAt(0, 0)
    assert cell.firstCursorPosition().block() == cell.lastCursorPosition().block()
    assert tables[0].format().borderBrush().color() == view.theme.color("border")
    for box in laid.codes:
        assert 0 <= box.left() < box.right() <= view.surface.layout.width


def test_indented_code_is_a_box_too(make_view: MakeView) -> None:
    view = make_view(
        [TextBlock("t", "words\n\n    indented = 1\n\n- item\n\n  ```\n  inner\n  ```\n")]
    )
    assert len(view.surface.laid(0).codes) == 2


def test_a_thought_is_one_line_until_it_is_wanted(make_view: MakeView) -> None:
    view = make_view([ThinkingBlock("th", "secret " * 100)])
    folded = view.surface.rows.height(0)
    view.toggle(0)
    assert view.surface.rows.height(0) > 2 * folded
    assert "secret" in shown_text(view)


def test_a_failed_turn_is_a_card_with_words(make_view: MakeView) -> None:
    view = make_view(
        [TurnBlock("x", False, 1000, 0, "The limit is reached."), TurnBlock("y", True, 1000)]
    )
    assert shown_text(view, 0) == "The limit is reached."
    assert view.surface.laid(1).document is None


def test_the_placeholder(make_view: MakeView) -> None:
    view = make_view()
    empty = view.grab().toImage()
    view.set_placeholder("Nothing yet", "Write something.")
    assert view.grab().toImage() != empty
    view.set_blocks(chat(1))
    assert view.block_count() == 1


def test_the_busy_line_moves_only_while_it_is_seen(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(chat(40))
    view.set_busy("Working…")
    assert view.is_at_bottom()
    assert view.ambience._busy_box() is not None
    view.scroll_by(-2000)
    assert view.ambience._busy_box() is None
    view.set_busy("")
    assert not view.ambience._timer.isActive()
    assert view.surface.extra == 0


def test_every_drawing_can_be_drawn(qapp: QApplication) -> None:
    for path in FOLDER.glob("*.svg"):
        for size in (12, 24):
            picture = icon(path.stem, QColor("#ff0000"), size).pixmap(size, size).toImage()
            assert any(
                picture.pixelColor(x, y).alpha() for x in range(size) for y in range(size)
            ), path
    assert not app_icon().isNull()
    assert icon("check", QColor("#ff0000"), 16) is icon("check", QColor("#ff0000"), 16)


# -- screen readers ------------------------------------------------------------------------------------


@pytest.mark.rule("G13")
def test_a_screen_reader_hears_a_list(make_view: MakeView) -> None:
    view = make_view(sample.blocks())
    view.set_tail(sample.tail())
    root = QAccessible.queryAccessibleInterface(view)
    assert root.role() is QAccessible.Role.List
    assert root.text(Name) == "Transcript"
    rows = view.surface.rows
    assert root.childCount() == len(rows) == len(sample.blocks()) + 3
    heard = [root.child(number).text(Name) for number in range(root.childCount())]
    assert heard[0].startswith("You: Messages get lost")
    assert heard[1].startswith("Thought: ")
    assert heard[2] == "Agent: I'll read the delivery code first."
    assert heard[3].startswith("Done: Read: walnut/sessions/delivery.py")
    assert "Failed: Bash: python -m pump --once" in "\n".join(heard)
    assert heard[-1] == "You, not sent: The host does not answer. Then push it."
    last = root.child(len(rows) - 1)
    assert last.role() is QAccessible.Role.ListItem
    assert root.indexOfChild(last) == len(rows) - 1
    assert not last.rect().isEmpty()
    assert root.child(0).rect().isEmpty()
    assert root.child(len(rows)) is None


@pytest.mark.rule("G13")
def test_items_follow_their_rows(make_view: MakeView) -> None:
    view = make_view(chat(10, start=100))
    root = QAccessible.queryAccessibleInterface(view)
    item = root.child(3)
    view.prepend(chat(8))
    assert root.indexOfChild(item) == 11
    assert root.child(11).text(Name) == item.text(Name)
    assert item.isValid()
    view.set_blocks([])
    assert not item.isValid()
    assert item.rect().isEmpty()


@pytest.mark.rule("G13")
def test_states_are_said(make_view: MakeView) -> None:
    view = make_view([ToolBlock("t", "i", "Bash", {"command": "x"}, ToolState.WAITING)])
    item = QAccessible.queryAccessibleInterface(view).child(0)
    assert item.text(Name) == "Needs you: Bash: x"
    assert item.state().expandable
    assert item.state().collapsed
    view.setFocus()
    view.focus.move(0)
    view.toggle(0)
    assert item.state().expanded
    assert item.state().focused


def test_a_reader_that_listens_is_told(
    make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[object] = []
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(QAccessible, "updateAccessibility", told.append)
    view = make_view(chat(3))
    told.clear()
    view.focus.move(1)
    view.apply([Change(TurnBlock("x", True, 1000), True)])
    draw(view)
    assert len(told) == 2


def test_long_texts_are_not_read_whole() -> None:
    from walnut_desktop.gui.transcript_view.accessible import MOST_SPOKEN, spoken

    block = ToolBlock("t", "i", "Bash", {}, ToolState.DONE, "x" * 1_000_000)
    assert len(spoken(Row(block, "Bash"))) == MOST_SPOKEN


def test_views_can_come_and_go(qtbot: QtBot, qapp: QApplication) -> None:
    for _ in range(20):
        view = TranscriptView()
        view.set_blocks(chat(5))
        view.show()
        root = QAccessible.queryAccessibleInterface(view)
        assert root.childCount() == 5
        press(view, Qt.Key.Key_J)
        view.close()
        view.deleteLater()
        qapp.sendPostedEvents()
        qapp.processEvents()


@pytest.mark.parametrize(
    "text",
    [
        "```py\nx = 1\n```",
        "```\nx\n```\n\nwords",
        "words\n\n```\nx\n```",
        "- item\n\n  ```\n  x\n  ```",
    ],
)
def test_a_box_of_code_has_its_room(make_view: MakeView, text: str) -> None:
    view = make_view([TextBlock("a", text), ThinkingBlock("b", text)])
    view.toggle(1)
    for number in range(2):
        laid = view.surface.laid(number)
        for box in laid.codes:
            assert box.top() >= laid.head
            assert box.bottom() <= laid.height - laid.gap


def test_the_bar_stands_on_the_same_ground(make_view: MakeView, qapp: QApplication) -> None:
    view = make_view(chat(100))
    view.scroll_to_top()
    for scheme in ("light", "dark"):
        theme = apply_theme(qapp, scheme)
        view.set_theme(theme)
        qapp.processEvents()
        picture = view.grab().toImage()
        bottom = picture.height() - 3
        right = {
            picture.pixelColor(x, bottom).name()
            for x in range(picture.width() - 12, picture.width())
        }
        assert right == {theme.color("surface").name()}
