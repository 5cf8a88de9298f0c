"""Looking for words: in the data, at the right place, without laying everything out."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication

from tests.gui.transcript.conftest import MakeView
from tests.gui.transcript.helpers import chat, keys_on_screen
from walnut_desktop.transcript.blocks import (
    Change,
    TextBlock,
    ThinkingBlock,
    ToolBlock,
    ToolState,
    UserBlock,
)


def test_all_places_are_counted_and_visited_in_order(make_view: MakeView) -> None:
    blocks = chat(2000)
    for at in (100, 900, 1700):
        blocks[at] = TextBlock(f"hit{at}", "A Needle, a **needle**, and hay.")
    view = make_view(blocks)
    view.scroll_to_top()
    seen = []
    for _ in range(7):
        assert view.find("needle") == 6
        QApplication.processEvents()
        assert view.selected_text().lower() == "needle"
        seen.append(next(key for key in keys_on_screen(view) if key.startswith("hit")))
    assert seen == ["hit100"] * 2 + ["hit900"] * 2 + ["hit1700"] * 2 + ["hit100"]
    assert view.surface.laid_count() < 200


def test_backwards(make_view: MakeView) -> None:
    view = make_view([UserBlock(f"u{n}", f"word {n}") for n in range(200)])
    view.find("word 1", backward=True)
    first = view.selection.chosen()
    view.find("word 1", backward=True)
    second = view.selection.chosen()
    assert first is not None
    assert second is not None
    assert second.first < first.first


def test_what_is_folded_is_unfolded(make_view: MakeView) -> None:
    output = "\n".join(map(str, range(500))) + "\nneedle"
    view = make_view(
        [
            *chat(50),
            ToolBlock("t", "i", "Bash", {"command": "x"}, ToolState.DONE, output),
            ThinkingBlock("th", "A hidden thing."),
        ]
    )
    assert view.find("needle") == 1
    assert view.selected_text() == "needle"
    assert view.find("hidden") == 1
    assert view.selected_text() == "hidden"


def test_nothing_to_find(make_view: MakeView) -> None:
    view = make_view(chat(50))
    value = view.verticalScrollBar().value()
    assert view.find("no such words") == 0
    assert view.find("") == 0
    assert view.verticalScrollBar().value() == value
    assert make_view().find("x") == 0


def test_new_words_are_found(make_view: MakeView) -> None:
    view = make_view(chat(10))
    assert view.find("needle") == 0
    view.apply([Change(TextBlock("n", "needle"), True)])
    assert view.find("needle") == 1


def test_a_place_that_is_only_in_the_source(make_view: MakeView) -> None:
    view = make_view([TextBlock("t", "one **two** three")])
    assert view.find("e **two") == 1
    assert view.selected_text() == ""
