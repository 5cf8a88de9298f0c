"""The words of the transcript itself."""

from __future__ import annotations

import pytest

from walnut_desktop.gui.transcript_view import words
from walnut_desktop.transcript.blocks import TurnBlock


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, ""),
        (400, ""),
        (12_400, "12 s"),
        (60_000, "1 min"),
        (185_000, "3 min 5 s"),
        (7_800_000, "2 h 10 min"),
    ],
)
def test_durations(milliseconds: int, text: str) -> None:
    assert words.duration(milliseconds) == text


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (TurnBlock("k", True, 12_000, 0.02), "Finished  ·  12 s  ·  $0.02"),
        (TurnBlock("k", True), "Finished"),
        (TurnBlock("k", True, 0, 0.001), "Finished  ·  under $0.01"),
        (TurnBlock("k", False, 3_000, 0, "why"), "The turn failed  ·  3 s"),
        (TurnBlock("k", True, 0, 1234.5), "Finished  ·  $1,234.50"),
    ],
)
def test_ends_of_turns(block: TurnBlock, text: str) -> None:
    assert words.turn(block) == text


def test_every_state_of_a_message_has_words() -> None:
    for state in ("queued", "sending", "delivered", "failed", "parked"):
        assert words.message_state(state) != state
    assert words.message_state("strange") == "strange"
