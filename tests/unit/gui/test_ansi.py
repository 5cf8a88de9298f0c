"""Terminal output: colours kept, everything else harmless."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from walnut_desktop.gui.transcript_view.ansi import MOST_RUNS, Run, clean


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b[2J\x1b[1;1Hgone", "gone"),
        ("\x1bP1$r\x1b\\x", "x"),
        ("a\x07b\x00c\x7f", "abc"),
        ("10 %\r20 %\rdone", "done"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("\u202ecod\u202c", "cod"),
        ("torn \x1b[3", "torn "),
        ("tab\tstays", "tab\tstays"),
    ],
)
def test_what_is_left(raw: str, text: str) -> None:
    assert clean(raw)[0] == text


@pytest.mark.parametrize(
    ("raw", "runs"),
    [
        ("\x1b[31mred\x1b[0m x", [Run(0, 3, 1, False)]),
        ("a\x1b[1mb\x1b[22mc", [Run(1, 1, -1, True)]),
        ("\x1b[38;5;208mo\x1b[39m.", [Run(0, 1, 208, False)]),
        ("\x1b[38;2;1;2;3mtrue\x1b[m", []),
        ("\x1b[91;1mx", [Run(0, 1, 9, True)]),
        ("\x1b[48;5;20mground", []),
        ("plain", []),
    ],
)
def test_looks(raw: str, runs: list[Run]) -> None:
    assert clean(raw)[1] == runs


@given(st.text(alphabet=st.sampled_from("\x1b[]0123;mKab\n\r\x07\x9b\\?\u202e")))
def test_nothing_that_acts_is_left(raw: str) -> None:
    text, runs = clean(raw)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
    assert all(run.start >= 0 and run.start + run.length <= len(text) for run in runs)


def test_too_many_colours_are_none() -> None:
    text, runs = clean("\x1b[31mx\x1b[32my" * MOST_RUNS)
    assert len(text) == 2 * MOST_RUNS
    assert runs == []
