"""Deltas are drawn at most once a frame, and what is finished is never laid out again."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from tests.gui.transcript.conftest import MakeView
from tests.gui.transcript.helpers import chat, draw, grow
from walnut_desktop.gui.transcript_view import TailMessage, markdown
from walnut_desktop.gui.transcript_view.view import FRAME_MS
from walnut_desktop.transcript.blocks import Change, TextBlock, ThinkingBlock, ToolBlock, ToolState

PARAGRAPH = "Some **words** of an answer that is being written. " * 12


@pytest.mark.rule("G3")
def test_many_deltas_are_one_frame(
    make_view: MakeView, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    view = make_view(chat(10))
    built: list[str] = []
    build = markdown.build

    def counted(text: str, *args: object, **kwargs: object) -> markdown.SealedDocument:
        built.append(text)
        return build(text, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(markdown, "build", counted)
    text = ""
    for number in range(200):
        text += f"w{number} "
        grow(view, "live", text, new=number == 0)
    assert built == []
    assert view._frame.interval() == FRAME_MS
    qtbot.waitUntil(lambda: bool(built))
    assert built == [text]


@pytest.mark.rule("G3")
def test_finished_pieces_are_not_built_again(
    make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = make_view()
    built: list[int] = []
    build = markdown.build

    def counted(text: str, *args: object, **kwargs: object) -> markdown.SealedDocument:
        built.append(len(text))
        return build(text, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(markdown, "build", counted)
    text = ""
    for number in range(60):
        text += PARAGRAPH + "\n\n"
        grow(view, "live", text, new=number == 0)
        draw(view)
    assert max(built) < 6 * len(PARAGRAPH)
    rows = len(view.surface.rows)
    assert rows > 10
    built.clear()
    grow(view, "live", text, streaming=False)
    draw(view)
    assert built == []
    assert len(view.surface.rows) == rows
    assert view.block_texts() == [text]
    assert view.block_count() == 1


def test_asking_sees_what_is_not_drawn_yet(make_view: MakeView) -> None:
    view = make_view()
    grow(view, "live", "Hello", new=True)
    assert view.block_texts() == ["Hello"]


def test_a_block_that_changes_is_not_shown_twice(make_view: MakeView) -> None:
    view = make_view(chat(3))
    running = ToolBlock("t", "i", "Bash", {"command": "x"}, ToolState.RUNNING)
    done = ToolBlock("t", "i", "Bash", {"command": "x"}, ToolState.DONE, "out")
    view.apply([Change(running, True)])
    draw(view)
    view.apply([Change(done, False)])
    draw(view)
    assert view.block_count() == 4
    assert view.surface.rows[3].block == done
    view.apply([Change(done, True)])
    assert view.block_count() == 4


def test_a_change_of_an_unknown_block_is_a_new_one(make_view: MakeView) -> None:
    view = make_view(chat(1))
    view.apply([Change(TextBlock("x", "late"), False)])
    assert view.block_texts()[-1] == "late"


def test_a_text_that_becomes_shorter(make_view: MakeView) -> None:
    view = make_view()
    grow(view, "live", (PARAGRAPH + "\n\n") * 20, new=True)
    view.apply([Change(TextBlock("after", "after"), True)])
    draw(view)
    grow(view, "live", "Short.", streaming=False)
    draw(view)
    assert view.block_texts() == ["Short.", "after"]
    assert len(view.surface.rows) == 2
    view.apply([Change(TextBlock("after", "after all"), False)])
    assert view.block_texts() == ["Short.", "after all"]


def test_a_text_in_the_middle_grows(make_view: MakeView) -> None:
    view = make_view()
    grow(view, "live", "a", new=True)
    view.apply([Change(ThinkingBlock("think", "b"), True)])
    view.set_tail([TailMessage("m", "c", "queued")])
    draw(view)
    text = (PARAGRAPH + "\n\n") * 20
    grow(view, "live", text)
    draw(view)
    assert view.block_texts() == [text, "b"]
    view.apply([Change(ThinkingBlock("think", "bb"), False)])
    assert view.block_texts() == [text, "bb"]


def test_what_is_prepended_twice_is_there_once(make_view: MakeView) -> None:
    view = make_view(chat(10, start=10))
    view.prepend(chat(15))
    assert view.block_count() == 20
    view.apply([Change(TextBlock("b1", "changed"), False)])
    assert view.block_texts()[1] == "changed"
