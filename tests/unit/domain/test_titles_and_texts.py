"""What a person may type as a title and as a message."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from walnut_desktop.domain.errors import InvalidInput
from walnut_desktop.domain.message import MAX_MESSAGE_BYTES, clean_text
from walnut_desktop.domain.task import MAX_TITLE, clean_title

ANY_TEXT = st.text(st.characters(), max_size=60)  # lone halves of surrogate pairs, too


@given(ANY_TEXT)
def test_a_title_is_one_line_that_can_be_stored(text: str) -> None:
    try:
        title = clean_title(text)
    except InvalidInput:
        return  # blank, or the hidden name
    assert title == title.strip() != ""
    assert len(title.splitlines()) == 1
    assert not any(is_control(char) for char in title)
    assert title.encode()
    assert clean_title(title) == title


def is_control(char: str) -> bool:
    """Whether it moves the cursor instead of being shown."""
    return ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or char in "\u2028\u2029"


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\x00\x01", "\u2028"])
def test_a_blank_title_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="needs a title"):
        clean_title(text)


def test_a_long_title_is_refused_with_its_length() -> None:
    assert clean_title("x" * MAX_TITLE) == "x" * MAX_TITLE
    with pytest.raises(InvalidInput, match="10000 characters") as caught:
        clean_title("x" * 10_000)
    assert "description" in caught.value.hint


@pytest.mark.rule("T11")
@pytest.mark.parametrize("text", [".metadata", "  .metadata ", ".metadata for me", "\n.metadata"])
def test_the_name_of_the_hidden_task_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="project settings"):
        clean_title(text)


@pytest.mark.parametrize("text", ["", " ", "\n\n\t"])
def test_a_blank_message_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="nothing to send"):
        clean_text(text)


@given(ANY_TEXT)
def test_a_message_is_kept_as_it_is_typed(text: str) -> None:
    if not text.strip():
        return
    cleaned = clean_text(text)
    assert cleaned.encode()
    assert len(cleaned) == len(text)
    assert all(
        new == old or "\ud800" <= old <= "\udfff" for new, old in zip(cleaned, text, strict=True)
    )


def test_the_longest_message() -> None:
    assert clean_text("x" * MAX_MESSAGE_BYTES)
    assert clean_text("é" * (MAX_MESSAGE_BYTES // 2))
    for too_long in ("x" * (MAX_MESSAGE_BYTES + 1), "é" * (MAX_MESSAGE_BYTES // 2 + 1)):
        with pytest.raises(InvalidInput, match="900,00"):
            clean_text(too_long)
