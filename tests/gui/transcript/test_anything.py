"""Whatever happens in whatever order: the screen is filled without holes, and only the person moves it."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from PySide6.QtWidgets import QApplication

from tests.gui.transcript import sample
from tests.gui.transcript.conftest import MakeView
from tests.gui.transcript.helpers import LONG, chat, draw, grow
from walnut_desktop.gui.theme import Theme
from walnut_desktop.gui.transcript_view import TailMessage, TranscriptView
from walnut_desktop.transcript.blocks import Change, UserBlock

STEPS = 150
PARTS = (
    LONG,
    "\n\n",
    "```py\nx = 1\n",
    "```\n",
    "| a | b |\n|---|---|\n| c | d |\n",
    "- item\n",
    "# Head\n",
)


class Person:
    """Does things at random, and the agent with them."""

    def __init__(self, view: TranscriptView, seed: int) -> None:
        self.view = view
        self.random = random.Random(seed)
        self.live = ""
        self.made = 0

    def key(self) -> str:
        self.made += 1
        return f"made{self.made}"

    def unmoved(self, rows: list[int]) -> list[int]:
        """Those of some rows that a growing text can't push down: down to its first piece."""
        shown = [id(row) for row in self.view.surface.rows]
        live = next(n for n, row in enumerate(self.view.surface.rows) if row.key == "live")
        return [row for row in rows if shown.index(row) <= live]

    # -- what others do: nothing on screen may move

    def stream(self) -> None:
        new = not self.live
        self.live += "".join(self.random.choices(PARTS, k=4))
        grow(self.view, "live", self.live, new=new)
        draw(self.view)

    def append(self) -> None:
        self.view.apply([Change(UserBlock(self.key(), LONG[: self.random.randrange(400)]), True)])
        draw(self.view)

    def prepend(self) -> None:
        start = 10_000 + self.made * 100
        self.made += 1
        self.view.prepend(chat(self.random.randrange(30), start=start))

    def tail(self) -> None:
        count = self.random.randrange(3)
        self.view.set_tail([TailMessage(f"m{n}", LONG, "queued") for n in range(count)])

    def busy(self) -> None:
        self.view.set_busy(self.random.choice(["", "Working…"]))

    # -- what the person does

    def scroll(self) -> None:
        self.view.scroll_by(self.random.randrange(-900, 700))

    def jump(self) -> None:
        bar = self.view.verticalScrollBar()
        bar.setValue(self.random.randrange(bar.maximum() + 1))

    def resize(self) -> None:
        self.view.resize(self.random.randrange(300, 1000), self.random.randrange(200, 900))
        QApplication.processEvents()

    def fold(self) -> None:
        spots = [p for p in self.view.placed if self.view.surface.rows[p.number].foldable]
        if spots:
            self.view.toggle(self.random.choice(spots).number)

    def theme(self) -> None:
        self.view.set_theme(Theme(self.random.choice(["light", "dark"])))

    def find(self) -> None:
        self.view.find(self.random.choice(["goes", "Part 2", "line_3"]))


def on_screen(view: TranscriptView) -> dict[int, float]:
    """The rows of the chat that are seen, by identity, and where; what is on its way moves with its end."""
    end = view.surface.rows.blocks_end
    return {id(view.surface.rows[p.number]): p.y for p in view.placed if p.number < end}


def check(view: TranscriptView) -> None:
    """The screen is filled, and the bar says where."""
    surface, placed = view.surface, view.placed
    height = view.viewport().height()
    assert placed
    assert placed[0].y <= surface.top
    for before, after in pairwise(placed):
        assert after.number == before.number + 1
        assert after.y == before.y + before.laid.height
        assert after.y == int(after.y), "blurred"
    if placed[0].number > 0:
        assert placed[0].y <= 0 or placed[-1].number == len(surface.rows) - 1
    if placed[-1].number < len(surface.rows) - 1:
        assert placed[-1].bottom >= height
    for spot in placed:
        assert surface.rows.height(spot.number) == spot.laid.height
        assert spot.laid.revision == surface.rows[spot.number].revision
    assert view.verticalScrollBar().value() == surface.scroll_value
    if view.is_at_bottom():
        assert placed[-1].number == len(surface.rows) - 1
        assert placed[-1].bottom <= height


@pytest.mark.parametrize("seed", range(8))
def test_anything_at_all(make_view: MakeView, seed: int) -> None:
    view = make_view([*chat(30), *sample.blocks()])
    person = Person(view, seed)
    others = (person.stream, person.stream, person.append, person.prepend, person.tail, person.busy)
    own = (
        person.scroll,
        person.scroll,
        person.jump,
        person.resize,
        person.fold,
        person.theme,
        person.find,
    )
    for _ in range(STEPS):
        if person.random.random() < 0.55:
            at_bottom, before = view.is_at_bottom(), on_screen(view)
            act = person.random.choice(others)
            act()
            if at_bottom:
                assert view.is_at_bottom(), act.__name__
            elif act not in (person.tail, person.busy):  # which may make the chat shorter
                now = on_screen(view)
                rows = (
                    person.unmoved(list(before)[:-1]) if act == person.stream else list(before)[:-1]
                )
                assert {row: now.get(row) for row in rows} == {row: before[row] for row in rows}
        else:
            person.random.choice(own)()
        check(view)
    view.grab()
