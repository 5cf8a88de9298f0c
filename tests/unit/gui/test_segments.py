"""Pieces of a growing message: nothing is lost, nothing finished changes, no piece is without bound."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from walnut_desktop.gui.transcript_view.segments import (
    FENCE_LINES,
    HARD_SIZE,
    OTHER_LINES,
    WHOLE_SIZE,
    Piece,
    Segmenter,
    fence_around,
    split,
)

paragraph = st.text(alphabet="abc d*`\u05d0\U0001f389", min_size=1, max_size=700)
fence = st.integers(1, 300).map(lambda lines: "```py\n" + "x = 1\n" * lines + "```")
items = st.integers(1, 150).map(lambda count: "- one\n\n  more\n" * count)
table = st.integers(1, 150).map(lambda count: "| a | b |\n|---|---|\n" + "| c | d |\n" * count)
part = st.one_of(paragraph, fence, items, table, st.just("~~~\nopen"))
markdown = st.lists(part, max_size=10).map("\n\n".join)


def pieces_of(text: str) -> list[Piece]:
    """The pieces of a text of any size."""
    segmenter = Segmenter()
    segmenter.grow(text)
    return segmenter.all()


def check(text: str, pieces: list[Piece]) -> None:
    """The pieces are the text: all of it, in order, each with its own words."""
    assert "".join(text[piece.begin : piece.end] for piece in pieces) == text
    for piece in pieces:
        assert text[piece.begin : piece.end].rstrip("\n") in piece.text
    assert [piece.joined for piece in pieces[:-1]] == [piece.joins for piece in pieces[1:]]
    assert not pieces[0].joins
    assert not pieces[-1].joined


@given(markdown)
def test_the_pieces_are_the_whole_text(text: str) -> None:
    check(text, pieces_of(text))
    check(text, split(text))


@given(markdown, st.integers(1, 97))
def test_growing_gives_the_same_pieces_and_keeps_the_finished(text: str, step: int) -> None:
    segmenter, done = Segmenter(), list[Piece]()
    for end in range(step, len(text) + step, step):
        segmenter.grow(text[:end])
        assert segmenter.done[: len(done)] == done
        done = list(segmenter.done)
    assert segmenter.all() == pieces_of(text)


@given(st.text(alphabet="ab \n`|-", max_size=40_000))
def test_no_piece_is_without_bound(text: str) -> None:
    pieces = pieces_of(text)
    check(text, pieces)
    for piece in pieces:
        assert len(piece.text) <= 4 * HARD_SIZE
        assert piece.text.count("\n") <= 5 * OTHER_LINES


def test_a_line_without_an_end_is_cut() -> None:
    pieces = split("x" * 1_000_000)
    assert "".join(piece.text for piece in pieces) == "x" * 1_000_000
    assert max(len(piece.text) for piece in pieces) <= 2 * HARD_SIZE


def test_a_cut_is_at_a_blank_line_before_a_new_thought() -> None:
    pieces = split("\n\n".join("word " * 100 for _ in range(10)))
    assert len(pieces) > 1
    assert all(piece.text.endswith("\n\n") for piece in pieces[:-1])


def test_a_list_is_not_torn() -> None:
    text = "\n\n".join(["- " + "word " * 60] * 20)
    assert [piece.text for piece in split(text)] == [text]


def test_a_very_long_list_goes_on_in_the_next_piece() -> None:
    pieces = split("- item\n  with more\n" * 300)
    assert len(pieces) > 3
    assert all(piece.text.startswith("- item") for piece in pieces)


def test_a_long_fence_is_closed_and_opened_again() -> None:
    text = "```python\n" + "x = 1\n" * (FENCE_LINES * 8) + "```\nafter"
    pieces = split(text)
    assert len(pieces) > 3
    assert all(piece.text.startswith("```python\n") for piece in pieces)
    assert all(piece.text.endswith("```\n") for piece in pieces[:-1])
    assert sum(piece.text.count("x = 1") for piece in pieces) == FENCE_LINES * 8


def test_a_long_table_gets_its_head_again() -> None:
    head = "| name | value |\n|:--|--:|\n"
    pieces = split("Words.\n\n" + head + "| one | 2 |\n" * 500 + "\nAfter the table.")
    assert len(pieces) > 3
    assert all(piece.text.startswith(head) for piece in pieces[1:-1])
    assert sum(piece.text.count("| one | 2 |") for piece in pieces) == 500


def test_inline_code_of_three_ticks_opens_no_fence() -> None:
    text = "```a``` is code\n\n" + "\n\n".join("word " * 100 for _ in range(10))
    assert len(split(text)) > 1


def test_another_text_begins_anew() -> None:
    segmenter = Segmenter()
    segmenter.grow("one\n\n" * 1000)
    segmenter.grow("two")
    assert [piece.text for piece in segmenter.all()] == ["two"]


def test_short_finished_texts_stay_whole() -> None:
    text = "some words in a line\n\n" * 25
    assert len(text) < WHOLE_SIZE
    assert split(text) == [Piece(text, 0, len(text))]


@pytest.mark.parametrize(
    ("text", "at", "code"),
    [
        ("a\n```py\nx\ny\n```\nb", "y", "x\ny"),
        ("```\nx\n```\n~~~\n```\n~~~\n", "```\n~~~", "```"),
        ("```\nopen\nend\n", "end", "open\nend"),
        ("no code", "code", ""),
        ("```a``` b", "b", ""),
    ],
)
def test_the_code_around_a_place(text: str, at: str, code: str) -> None:
    assert fence_around(text, text.rindex(at)) == code
