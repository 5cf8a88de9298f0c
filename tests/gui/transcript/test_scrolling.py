"""What is under the eye never moves by itself; who is at the end stays there."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.gui.transcript.conftest import MakeView
from tests.gui.transcript.helpers import LONG, chat, draw, grow, keys_on_screen, press, wheel, y_of
from walnut_desktop.gui.transcript_view import TailMessage, TranscriptView
from walnut_desktop.gui.transcript_view.surface import MAX_LAID
from walnut_desktop.transcript.blocks import Change, TextBlock, UserBlock


def middle_key(view: TranscriptView) -> str:
    """A row in the middle of the screen."""
    return view.surface.rows[view.placed[len(view.placed) // 2].number].key


def test_a_new_transcript_is_shown_from_its_end(make_view: MakeView) -> None:
    view = make_view(chat(200))
    assert view.is_at_bottom()
    assert keys_on_screen(view)[-1] == "b199"
    assert view.verticalScrollBar().value() == view.verticalScrollBar().maximum()


def test_a_short_one_begins_at_the_top(make_view: MakeView) -> None:
    view = make_view(chat(2))
    assert y_of(view, "b0") == view.surface.top
    assert view.verticalScrollBar().maximum() == 0


def test_only_what_is_seen_is_laid_out(make_view: MakeView) -> None:
    view = make_view(chat(5000))
    assert view.surface.laid_count() < 40
    for _ in range(400):
        view.scroll_by(-300)
    assert view.surface.laid_count() <= MAX_LAID


@pytest.mark.parametrize("pixels", [-1, -37, -300, -900])
def test_every_step_up_moves_by_its_pixels(make_view: MakeView, pixels: int) -> None:
    view = make_view(chat(400))
    for _ in range(60):
        spot = view.placed[0]
        row, y = view.surface.rows[spot.number], spot.y
        view.scroll_by(pixels)
        number = view.surface.rows.number_of(row)
        now = next((p.y for p in view.placed if p.number == number), None)
        if now is not None:
            assert now == y - pixels
        else:
            assert y - pixels >= view.viewport().height()


def test_up_and_down_again_is_the_same_place(make_view: MakeView) -> None:
    view = make_view(chat(400))
    view.scroll_to_top()
    for _ in range(50):
        view.scroll_by(173)
    before = [(p.number, p.y) for p in view.placed]
    for _ in range(20):
        view.scroll_by(-211)
    for _ in range(20):
        view.scroll_by(211)
    assert [(p.number, p.y) for p in view.placed] == before


def test_the_wheel_and_the_ends(make_view: MakeView) -> None:
    view = make_view(chat(100))
    wheel(view, 1)
    assert not view.is_at_bottom()
    wheel(view, -1)
    assert view.is_at_bottom()
    for _ in range(500):
        wheel(view, 5)
    assert keys_on_screen(view)[0] == "b0"
    assert view.verticalScrollBar().value() == 0


def test_the_end_is_left_by_one_pixel_and_found_by_the_last(make_view: MakeView) -> None:
    view = make_view(chat(100))
    view.scroll_by(-6)
    assert not view.is_at_bottom()
    view.scroll_by(1)
    assert not view.is_at_bottom()
    view.scroll_by(1)
    assert view.is_at_bottom()


def test_the_bar_goes_everywhere(make_view: MakeView) -> None:
    view = make_view(chat(300))
    bar = view.verticalScrollBar()
    seen = []
    for part in (0.0, 0.25, 0.5, 0.75):
        bar.setValue(int(bar.maximum() * part))
        seen.append(view.placed[0].number)
    assert seen == sorted(set(seen))
    assert seen[0] == 0
    bar.setValue(bar.maximum())
    assert view.is_at_bottom()


def test_older_blocks_move_nothing(make_view: MakeView) -> None:
    view = make_view(chat(60, start=1000))
    view.scroll_by(-500)
    key = middle_key(view)
    y = y_of(view, key)
    view.prepend(chat(200, start=500))
    QApplication.processEvents()
    assert y_of(view, key) == y
    view.prepend(chat(200, start=100))
    assert y_of(view, key) == y
    assert view.block_count() == 460


def test_older_blocks_move_nothing_at_the_end_either(make_view: MakeView) -> None:
    view = make_view(chat(60, start=1000))
    before = [(view.surface.rows[p.number].key, p.y) for p in view.placed]
    view.prepend(chat(200, start=500))
    assert [(view.surface.rows[p.number].key, p.y) for p in view.placed] == before
    assert view.is_at_bottom()


def test_folding_at_the_end_goes_on_following(make_view: MakeView) -> None:
    view = make_view(chat(24))
    last = len(view.surface.rows) - 1
    assert view.surface.rows[last].foldable
    view.toggle(last)
    assert not view.is_at_bottom()
    view.toggle(last)
    assert view.is_at_bottom()
    view.toggle(last)
    view.focus.move(last)
    assert view.is_at_bottom()


def test_who_is_at_the_end_follows(make_view: MakeView) -> None:
    view = make_view(chat(40))
    text = ""
    for number in range(60):
        text += f"word {number} " * 5 + ("\n\n" if number % 7 == 6 else "")
        grow(view, "live", text, new=number == 0)
        draw(view)
        assert view.is_at_bottom()
        assert keys_on_screen(view)[-1] == "live"
    grow(view, "live", text, streaming=False)
    draw(view)
    assert view.is_at_bottom()
    assert view.ambience.jump.isHidden()


def test_who_reads_above_is_never_moved(make_view: MakeView) -> None:
    view = make_view(chat(40))
    grow(view, "live", "begin", new=True)
    draw(view)
    view.scroll_by(-900)
    before = [(p.number, p.y) for p in view.placed]
    text = "begin"
    for number in range(40):
        text += f" more {number}\n\n" + LONG
        grow(view, "live", text)
        view.apply([Change(UserBlock(f"new{number}", "next"), True)])
        draw(view)
        assert [(p.number, p.y) for p in view.placed] == before
    assert view.ambience.jump.isVisible()
    view.ambience.jump.click()
    assert view.is_at_bottom()
    assert view.ambience.jump.isHidden()


def test_who_reads_the_growing_text_itself_is_not_moved(make_view: MakeView) -> None:
    view = make_view(chat(4))
    text = LONG * 12
    grow(view, "live", text, new=True)
    draw(view)
    view.scroll_by(-200)
    y = y_of(view, "live")
    for _ in range(20):
        text += LONG
        grow(view, "live", text)
        draw(view)
        assert y_of(view, "live") == y


def test_folding_keeps_the_row_in_its_place(make_view: MakeView) -> None:
    view = make_view(chat(80))
    view.scroll_by(-700)
    spot = next(p for p in view.placed if view.surface.rows[p.number].foldable and p.y > 0)
    for _ in range(2):
        view.toggle(spot.number)
        now = next(p for p in view.placed if p.number == spot.number)
        assert now.y == spot.y


def test_another_width_keeps_the_row_in_sight(make_view: MakeView) -> None:
    view = make_view(chat(200))
    view.scroll_by(-5000)
    key = keys_on_screen(view)[0]
    for width in (500, 380, 620, 700):
        view.resize(width, 600)
        QApplication.processEvents()
        assert key in keys_on_screen(view)


def test_a_wider_window_moves_the_column_only(make_view: MakeView) -> None:
    view = make_view(chat(50), width=1200)
    layout, left = view.surface.layout, view.surface.left
    view.resize(1500, 600)
    QApplication.processEvents()
    assert view.surface.layout is layout
    assert view.surface.left > left


def test_more_is_asked_for_near_the_top_once(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(chat(200))
    asked: list[int] = []
    view.older_wanted.connect(lambda: asked.append(1))
    view.set_more_above(True)
    assert asked == []
    view.scroll_to_top()
    view.scroll_by(50)
    assert asked == [1]
    view.prepend(chat(100, start=1000))
    view.set_more_above(True)
    view.scroll_to_top()
    assert asked == [1, 1]
    view.set_more_above(False)
    view.scroll_to_top()
    assert asked == [1, 1]


def test_a_short_transcript_asks_at_once(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(chat(2))
    with qtbot.waitSignal(view.older_wanted, timeout=1000):
        view.set_more_above(True)


def test_the_bottom_is_announced(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(chat(80))
    with qtbot.waitSignal(view.at_bottom_changed) as left:
        view.scroll_by(-100)
    assert left.args == [False]
    with qtbot.waitSignal(view.at_bottom_changed) as back:
        press(view, Qt.Key.Key_End)
    assert back.args == [True]


def test_messages_on_their_way_follow_the_chat(make_view: MakeView) -> None:
    view = make_view(chat(20))
    view.set_tail(
        [TailMessage("m1", "first", "queued"), TailMessage("m2", "second", "failed", "no")]
    )
    assert keys_on_screen(view)[-2:] == ["m1", "m2"]
    assert view.block_count() == 20
    assert view.is_at_bottom()
    view.apply([Change(TextBlock("t", "An answer."), True)])
    draw(view)
    assert keys_on_screen(view)[-3:] == ["t", "m1", "m2"]
    view.set_tail([])
    assert keys_on_screen(view)[-1] == "t"


def test_a_hidden_view_takes_everything_and_shows_it_later(qtbot: QtBot) -> None:
    view = TranscriptView()
    qtbot.addWidget(view)
    view.set_blocks(chat(30))
    view.set_busy("Working…")
    assert not view.ambience._timer.isActive()
    with qtbot.waitExposed(view):
        view.show()
    assert view.is_at_bottom()
    assert keys_on_screen(view)[-1] == "b29"
    assert view.ambience._timer.isActive()
    view.hide()
    assert not view.ambience._timer.isActive()
