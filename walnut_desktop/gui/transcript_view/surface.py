"""What is on screen: lays out visible rows only, and stays steady while guesses become heights (D16, D21).

The place is an anchor (row, pixels into it), or “at the bottom”, which is a state of its own. A step of
scrolling walks from the anchor over laid out rows, so it moves by exactly its pixels, whatever was guessed.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from walnut_desktop.gui.theme import Theme
from walnut_desktop.gui.transcript_view.layout import Laid, RowLayout
from walnut_desktop.gui.transcript_view.painting import RowPainter
from walnut_desktop.gui.transcript_view.rowlist import RowList
from walnut_desktop.gui.transcript_view.rows import Row, guess_height

MAX_LAID = 100  # layouts that are kept (some 65 KB each), or twice what a tall screen shows
MAX_WIDTH_LINES = 52  # the widest column, in line heights: some 95 letters
SIDE = 24.0
TOP = 20.0
BOTTOM = 20.0
GRACE = 4.0  # so near to the end is at the end


class Placed(NamedTuple):
    """A row on screen: its number, the y of its top in the viewport, and its layout."""

    number: int
    y: float
    laid: Laid

    @property
    def bottom(self) -> float:
        """The y of its end."""
        return self.y + self.laid.height


class Surface:
    """Rows, their layouts, and the place of the view in them. Knows no widget."""

    def __init__(self, theme: Theme) -> None:
        self.rows = RowList(self._guess)
        self.layout = RowLayout(theme, 600.0)
        self.painter = RowPainter(self.layout)
        self._cache: OrderedDict[int, tuple[Row, Laid]] = OrderedDict()
        self._most_laid = MAX_LAID
        self.view_width = 640.0
        self.view_height = 400.0
        self.left = SIDE
        self.sticky = True
        self.anchor = 0
        self.offset = -TOP
        self.top = TOP  # free above the first row
        self.extra = 0.0  # free below the last row

    # -- size and theme -----------------------------------------------------------------------------

    def set_size(self, width: float, height: float) -> None:
        """The viewport is so large. Rows are laid out anew only if their column is another."""
        self.view_height = height
        if width != self.view_width:
            self.view_width = width
            self._relay(self.layout.theme, keep=True)

    def set_theme(self, theme: Theme) -> None:
        """Other colours and fonts."""
        self._relay(theme, keep=False)

    def _relay(self, theme: Theme, *, keep: bool) -> None:
        line = self.layout.line if keep else RowLayout(theme, 100).line
        column = float(max(160, round(min(self.view_width - 2 * SIDE, line * MAX_WIDTH_LINES))))
        self.left = float(max(SIDE, round((self.view_width - column) / 2)))
        if keep and column == self.layout.width:
            return
        share = self._share()
        self.layout = RowLayout(theme, column)
        self.painter = RowPainter(self.layout)
        self._cache.clear()
        # Heights stay as guesses: rows on screen get theirs at once, the others when somebody looks.
        if not self.sticky and len(self.rows):
            self.laid(self.anchor)
            self.offset = round(share * self.rows.height(self.anchor))

    def _share(self) -> float:
        """How far into its row the anchor is, as a part of the row."""
        if self.sticky or self.anchor >= len(self.rows):
            return 0.0
        height = self.rows.height(self.anchor)
        return self.offset / height if height else 0.0

    def _guess(self, row: Row) -> float:
        return guess_height(row, self.layout.width, self.layout.line)

    # -- layouts ------------------------------------------------------------------------------------

    def laid(self, number: int) -> Laid:
        """The layout of a row, made if need be; its height is exact from now on."""
        row = self.rows[number]
        known = self._cache.get(id(row))
        if known is not None and known[0] is row and known[1].revision == row.revision:
            self._cache.move_to_end(id(row))
            laid = known[1]
        else:
            laid = self.layout.lay(row)
            self._cache[id(row)] = (row, laid)
            self._cache.move_to_end(id(row))
            while len(self._cache) > self._most_laid:
                self._cache.popitem(last=False)
        if laid.height != self.rows.height(number):
            self.rows.set_height(number, laid.height)
        return laid

    def laid_count(self) -> int:
        """How many layouts are kept."""
        return len(self._cache)

    def drop_layouts(self) -> None:
        """All of them, for other rows altogether."""
        self._cache.clear()

    # -- place --------------------------------------------------------------------------------------

    @property
    def scroll_max(self) -> int:
        """The largest value of the scroll bar."""
        content = self.rows.total + self.top + BOTTOM + self.extra
        return max(0, round(content - self.view_height))

    @property
    def scroll_value(self) -> int:
        """The value of the scroll bar that fits the place."""
        if self.sticky:
            return self.scroll_max
        value = round(self.rows.before(self.anchor) + self.top + self.offset)
        return max(0, min(self.scroll_max, value))

    def scroll_to(self, value: float) -> None:
        """Go to a place far away: what lies between is not looked at."""
        if not len(self.rows):
            return
        self.sticky = value >= self.scroll_max
        if value < self.top:
            self.anchor, self.offset = 0, value - self.top
            return
        number, into = self.rows.find(value - self.top)
        guessed = self.rows.height(number)
        self.laid(number)
        share = into / guessed if guessed else 0.0
        self.anchor, self.offset = number, round(share * self.rows.height(number))

    def scroll_by(self, pixels: float) -> None:
        """Move by exactly so many pixels, as far as there is something."""
        if not len(self.rows) or not pixels:
            return
        if abs(pixels) > 3 * self.view_height:
            self.scroll_to(self.scroll_value + pixels)
            return
        if self.sticky and pixels > 0:
            return
        self.hold()
        self.offset += pixels
        self._normalise()
        if pixels > 0 and self._gap() <= GRACE:
            self.sticky = True

    def hold(self) -> None:
        """What is on screen stays where it is from now on, also at the end."""
        placed = self.visible()
        if placed and self.sticky:
            self.sticky = False
            self.anchor, self.offset = placed[0].number, -placed[0].y

    def hold_row(self, number: int, y: float) -> None:
        """This row stays at this place of the screen."""
        self.sticky = False
        self.anchor, self.offset = number, -round(y)

    def stick(self) -> None:
        """Go to the end and stay there."""
        self.sticky = True

    def follow_again(self) -> None:
        """Follow the end if it is on screen."""
        if len(self.rows):
            self.visible()
            self.sticky = self.sticky or self._gap() <= GRACE

    def _normalise(self) -> None:
        """The anchor is the row at the top edge again; rows on the way are laid out."""
        self.laid(self.anchor)
        while self.offset < 0 and self.anchor > 0:
            self.anchor -= 1
            self.laid(self.anchor)
            self.offset += self.rows.height(self.anchor)
        while self.anchor < len(self.rows) - 1 and self.offset >= self.rows.height(self.anchor):
            self.offset -= self.rows.height(self.anchor)
            self.anchor += 1
            self.laid(self.anchor)
        if self.anchor == 0:
            self.offset = max(self.offset, -self.top)

    def _gap(self) -> float:
        """How many pixels the end lies below the screen; more than enough when it is far away."""
        placed = self._down_from(self.anchor, -self.offset)
        if placed[-1].number < len(self.rows) - 1:
            return self.view_height
        return placed[-1].bottom + BOTTOM + self.extra - self.view_height

    def visible(self) -> list[Placed]:
        """Lay out what the viewport shows, from the anchor on (or from the bottom up)."""
        if not len(self.rows):
            return []
        if self.sticky:
            return self._from_bottom()
        self.anchor = min(self.anchor, len(self.rows) - 1)
        self._normalise()
        placed = self._down_from(self.anchor, -self.offset)
        last = placed[-1]
        if last.number == len(self.rows) - 1:
            free = self.view_height - BOTTOM - self.extra - last.bottom
            if free > 0:
                # The rest became shorter than the screen: show it whole.
                placed = self._from_bottom()
                self.anchor, self.offset = placed[0].number, -placed[0].y
        return placed

    def _from_bottom(self) -> list[Placed]:
        total = 0.0
        number = first = len(self.rows) - 1
        floor = self.view_height - BOTTOM - self.extra
        while number >= 0 and total < floor:
            total += self.laid(number).height
            first = number
            number -= 1
        y = floor - total
        if first == 0 and y > self.top:
            y = self.top  # everything fits: begin at the top
        return self._down_from(first, y)

    def _down_from(self, first: int, y: float) -> list[Placed]:
        placed: list[Placed] = []
        for number in range(first, len(self.rows)):
            if y >= self.view_height and placed:
                break
            laid = self.laid(number)
            placed.append(Placed(number, y, laid))
            y += laid.height
        self._most_laid = max(MAX_LAID, 2 * len(placed))
        return placed
