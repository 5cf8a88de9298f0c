"""What is on screen: lays out visible rows only, and stays steady while guesses become heights (D16, D21).

The place is an anchor (row, pixels into it), or “at the bottom”, which is a state of its own. Heights are
corrected around the anchor, so what is under the eye never moves.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from walnut_desktop.gui.theme import Theme
from walnut_desktop.gui.transcript_view.layout import Laid, RowLayout
from walnut_desktop.gui.transcript_view.painting import RowPainter
from walnut_desktop.gui.transcript_view.rowlist import RowList
from walnut_desktop.gui.transcript_view.rows import Row, guess_height

MAX_LAID = 200
MAX_WIDTH_LINES = 46  # the widest column, in line heights
SIDE = 24.0
TOP = 18.0
BOTTOM = 18.0


class Placed(NamedTuple):
    """A row on screen: its number, the y of its top in the viewport, and its layout."""

    number: int
    y: float
    laid: Laid


class Surface:
    """Rows, their layouts, and the place of the view in them. Knows no widget."""

    def __init__(self, theme: Theme) -> None:
        self.rows = RowList(self._guess)
        self.layout = RowLayout(theme, 600.0)
        self.painter = RowPainter(self.layout)
        self._cache: OrderedDict[int, tuple[Row, Laid]] = OrderedDict()
        self.view_width = 640.0
        self.view_height = 400.0
        self.left = SIDE
        self.sticky = True
        self.anchor = 0
        self.offset = -TOP
        self._extra = 0.0

    # -- size and theme -----------------------------------------------------------------------------

    def set_size(self, width: float, height: float, extra: float) -> None:
        """The viewport is so large; `extra` is kept free below the last row."""
        self.view_height = height
        self._extra = extra
        if width == self.view_width and self.layout.width > 0:
            return
        self.view_width = width
        self._relay(self.layout.theme)

    def set_theme(self, theme: Theme) -> None:
        """Other colours and fonts."""
        self._relay(theme)

    def set_extra(self, extra: float) -> None:
        """Keep so much free below the last row."""
        self._extra = extra

    def _relay(self, theme: Theme) -> None:
        line = RowLayout(theme, 100).line
        column = max(160.0, min(self.view_width - 2 * SIDE, line * MAX_WIDTH_LINES))
        self.left = max(SIDE, (self.view_width - column) / 2)
        self.layout = RowLayout(theme, column)
        self.painter = RowPainter(self.layout)
        self._cache.clear()
        share = self._share()
        self.rows.reguess()
        if not self.sticky and len(self.rows):
            self.offset = share * self.rows.heights[self.anchor]

    def _share(self) -> float:
        """How far into its row the anchor is, as a part of the row."""
        if self.sticky or self.anchor >= len(self.rows):
            return 0.0
        height = self.rows.heights[self.anchor]
        return self.offset / height if height else 0.0

    def _guess(self, row: Row) -> float:
        return guess_height(row, self.layout.width, self.layout.line)

    # -- layouts ------------------------------------------------------------------------------------

    def laid(self, number: int) -> Laid:
        """The layout of a row, made if need be; its height is exact from now on."""
        row = self.rows.rows[number]
        key = id(row)
        known = self._cache.get(key)
        if known is not None and known[0] is row and known[1].revision == row.revision:
            self._cache.move_to_end(key)
            laid = known[1]
        else:
            laid = self.layout.lay(row)
            self._cache[key] = (row, laid)
            while len(self._cache) > MAX_LAID:
                self._cache.popitem(last=False)
        if abs(laid.height - self.rows.heights[number]) > 0.5:
            self.rows.heights.set(number, laid.height)
        return laid

    def laid_count(self) -> int:
        """How many layouts are kept."""
        return len(self._cache)

    def drop_layouts(self) -> None:
        """All of them, for other rows altogether."""
        self._cache.clear()

    # -- place --------------------------------------------------------------------------------------

    @property
    def content_height(self) -> float:
        """Everything, with the margins."""
        return self.rows.heights.total + TOP + BOTTOM + self._extra

    @property
    def scroll_max(self) -> int:
        """The largest value of the scroll bar."""
        return max(0, round(self.content_height - self.view_height))

    @property
    def scroll_value(self) -> int:
        """The value of the scroll bar that fits the place."""
        if self.sticky:
            return self.scroll_max
        return max(
            0,
            min(self.scroll_max, round(self.rows.heights.before(self.anchor) + TOP + self.offset)),
        )

    def scroll_to(self, value: float) -> None:
        """The scroll bar was moved by the person."""
        self.sticky = value >= self.scroll_max - 4
        if not self.sticky:
            self.anchor, self.offset = self.rows.heights.find(value - TOP)
            if value < TOP:
                self.anchor, self.offset = 0, value - TOP

    def stick(self) -> None:
        """Go to the end and stay there."""
        self.sticky = True

    def visible(self) -> list[Placed]:
        """Lay out what the viewport shows, from the anchor on (or from the bottom up)."""
        if not len(self.rows):
            return []
        self.anchor = min(self.anchor, len(self.rows) - 1)
        placed = self._from_bottom() if self.sticky else self._from_anchor()
        if (
            not self.sticky
            and self.rows.heights.before(self.anchor) + self.offset > self.scroll_max - TOP
        ):
            # The rest became shorter than the view: show it whole.
            placed = self._from_bottom()
            first = placed[0]
            self.anchor, self.offset = first.number, -first.y
        return placed

    def _from_bottom(self) -> list[Placed]:
        total = 0.0
        number = len(self.rows) - 1
        first = number
        floor = self.view_height - BOTTOM - self._extra
        while number >= 0 and total < floor:
            self.laid(number)
            total += self.rows.heights[number]
            first = number
            number -= 1
        y = floor - total
        if first == 0 and y > TOP:
            y = TOP  # everything fits: begin at the top
        return self._down_from(first, y)

    def _from_anchor(self) -> list[Placed]:
        before = self.rows.heights[self.anchor]
        self.laid(self.anchor)
        after = self.rows.heights[self.anchor]
        if before and after != before and self.offset > 0:
            self.offset = min(self.offset, after)
        return self._down_from(self.anchor, -self.offset)

    def _down_from(self, first: int, y: float) -> list[Placed]:
        placed = []
        for number in range(first, len(self.rows)):
            if y >= self.view_height:
                break
            laid = self.laid(number)
            placed.append(Placed(number, y, laid))
            y += laid.height
        return placed
