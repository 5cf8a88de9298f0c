"""Pieces of a growing message: nothing is lost, nothing finished changes, no piece is without bound."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from walnut_desktop.gui.transcript_view import segments
from walnut_desktop.gui.transcript_view.segments import FENCE_LINES, HARD_SIZE, Segmenter, split

paragraph = st.text(alphabet="abc d*`\u05d0\U0001f389", min_size=1, max_size=700)
fence = st.integers(1, 300).map(lambda lines: "```py\n" + "x = 1\n" * lines + "```")
list_item = st.just("- one\n- two\n\n  more of two")
markdown = st.lists(st.one_of(paragraph, fence, list_item, st.just("~~~\nopen")), max_size=12).map(
    "\n\n".join
)


def raw_of(segmenter: Segmenter) -> list[str]:
    """The pieces as they stand in the text, without what closes and opens fences."""
    ends = [0, *segmenter.ends, len(segmenter.text)]
    return [segmenter.text[a:b] for a, b in pairwise(ends)]


@given(markdown)
def test_the_pieces_are_the_whole_text(text: str) -> None:
    segmenter = Segmenter()
    segmenter.grow(text)
    raw = raw_of(segmenter)
    assert "".join(raw) == text
    for piece, part in zip(segmenter.all(), raw, strict=False):
        assert part.rstrip("\n") in piece


@given(markdown, st.integers(1, 97))
def test_growing_gives_the_same_pieces_and_keeps_the_finished(text: str, step: int) -> None:
    whole = Segmenter()
    whole.grow(text)
    segmenter, done = Segmenter(), list[str]()
    for end in range(step, len(text) + step, step):
        segmenter.grow(text[:end])
        assert segmenter.done[: len(done)] == done
        done = list(segmenter.done)
    assert segmenter.all() == whole.all()


@given(st.text(alphabet="ab \n`", max_size=60_000))
def test_no_piece_is_without_bound(text: str) -> None:
    segmenter = Segmenter()
    segmenter.grow(text)
    assert all(len(piece) <= 3 * HARD_SIZE for piece in segmenter.all())


def test_a_line_without_an_end_is_cut() -> None:
    pieces = split("x" * 1_000_000)
    assert "".join(pieces) == "x" * 1_000_000
    assert max(map(len, pieces)) <= 2 * HARD_SIZE


def test_a_cut_is_at_a_blank_line_before_a_new_thought() -> None:
    text = "\n\n".join("word " * 100 for _ in range(10))
    pieces = split(text)
    assert len(pieces) > 1
    assert all(piece.endswith("\n\n") for piece in pieces[:-1])


def test_a_list_is_not_torn() -> None:
    item = "- " + "word " * 60
    text = "\n\n".join([item] * 20)
    assert split(text) == [text]


def test_a_long_fence_is_closed_and_opened_again() -> None:
    text = "```python\n" + "x = 1\n" * (FENCE_LINES * 8) + "```\nafter"
    pieces = split(text)
    assert len(pieces) > 3
    assert all(piece.startswith("```python\n") for piece in pieces)
    assert all(piece.endswith("```\n") for piece in pieces[:-1])
    assert sum(piece.count("x = 1") for piece in pieces) == FENCE_LINES * 8


def test_inline_code_of_three_ticks_opens_no_fence() -> None:
    text = "```a``` is code\n\n" + "\n\n".join("word " * 100 for _ in range(10))
    assert len(split(text)) > 1


def test_another_text_begins_anew() -> None:
    segmenter = Segmenter()
    segmenter.grow("one\n\n" * 1000)
    segmenter.grow("two")
    assert segmenter.all() == ["two"]


def test_short_finished_texts_stay_whole() -> None:
    text = "a\n\n" * 500
    assert len(text) < segments.WHOLE_SIZE
    assert split(text) == [text]
