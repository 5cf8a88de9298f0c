"""The colour table: complete in both schemes, and readable."""

from __future__ import annotations

import re

import pytest

from walnut_desktop.gui.theme.sheet import style_sheet
from walnut_desktop.gui.theme.tokens import DARK, LIGHT, SCHEMES, TEXT_PAIRS, contrast
from walnut_desktop.gui.transcript_view.ansi import rgb

TEXT, MARK = 4.5, 3.0


def test_both_schemes_have_the_same_colours() -> None:
    assert LIGHT.keys() == DARK.keys()
    for table in SCHEMES.values():
        assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in table.values())


@pytest.mark.rule("G13")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("pair", TEXT_PAIRS, ids="-on-".join)
def test_text_is_readable(scheme: str, pair: tuple[str, str]) -> None:
    table = SCHEMES[scheme]
    assert contrast(table[pair[0]], table[pair[1]]) >= TEXT


@pytest.mark.rule("G13")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("ground", ["surface", "window", "raised"])
def test_the_focus_ring_is_seen(scheme: str, ground: str) -> None:
    table = SCHEMES[scheme]
    assert contrast(table["focus"], table[ground]) >= MARK


@pytest.mark.rule("G13")
@pytest.mark.parametrize("dark", [False, True])
def test_every_colour_of_a_terminal_is_readable(dark: bool) -> None:
    ground = (DARK if dark else LIGHT)["raised"]
    assert [n for n in range(256) if contrast(rgb(n, dark=dark), ground) < TEXT] == []


def test_contrast_of_the_ends() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#777777") == 1


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_sheet_has_no_open_places(scheme: str) -> None:
    sheet = style_sheet(SCHEMES[scheme], 10.0, "Mono", "tick.svg", "arrow.svg")
    assert "$" not in sheet
    assert sheet.count("{") == sheet.count("}")


@pytest.mark.rule("G13")
def test_text_sizes_follow_the_font() -> None:
    small, large = (
        style_sheet(LIGHT, size, "Mono", "tick.svg", "arrow.svg") for size in (10.0, 15.0)
    )
    assert "font-size: 10.0pt" in small
    assert "font-size: 15.0pt" in large
    assert not re.search(r"font-size:\s*\d+px", small)
