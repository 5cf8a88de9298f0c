"""Which block the keyboard is on, and what it can do there: come into view, fold, show more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walnut_desktop.gui.transcript_view.accessible import tell_focus
from walnut_desktop.gui.transcript_view.rows import Row, Unfolded
from walnut_desktop.gui.transcript_view.tool_text import opens_window
from walnut_desktop.gui.transcript_view.whole_text import WholeText
from walnut_desktop.transcript.blocks import ToolBlock

if TYPE_CHECKING:
    from walnut_desktop.gui.transcript_view.view import TranscriptView

MARGIN = 12.0


class BlockFocus:
    """The focused row of a view. The ring is for people who use keys: a click shows none."""

    def __init__(self, view: TranscriptView) -> None:
        self._view = view
        self.row: Row | None = None
        self.ring = False

    def clear(self) -> None:
        """On no block."""
        self.row = None
        self._view.viewport().update()

    def number(self) -> int | None:
        """The number of the row; None for none."""
        return self._view.surface.rows.number_of(self.row) if self.row is not None else None

    def move(self, number: int) -> None:
        """Go to a row by key, and bring it into view."""
        self.row, self.ring = self._view.surface.rows[number], True
        self._bring(number)
        tell_focus(self._view, number)
        self._view.viewport().update()

    def point(self, number: int) -> None:
        """A row was clicked: it is on screen already."""
        self.row, self.ring = self._view.surface.rows[number], False
        tell_focus(self._view, number)
        self._view.viewport().update()

    def _bring(self, number: int) -> None:
        """Scroll as little as needed to show a row; its beginning if it is too tall."""
        surface, placed = self._view.surface, self._view.placed
        laid, height = surface.laid(number), surface.view_height
        spot = next((p for p in placed if p.number == number), None)
        if spot is not None and spot.y >= 0 and spot.bottom <= height:
            return
        below = spot.y > 0 if spot is not None else bool(placed) and number > placed[-1].number
        fits = laid.height < height - 2 * MARGIN
        if number == len(surface.rows) - 1 and fits:
            surface.stick()
        else:
            surface.hold_row(number, height - laid.height if below and fits else MARGIN)
        self._view.moved()

    # -- folding --------------------------------------------------------------------------------------

    def toggle(self, number: int) -> None:
        """Fold or unfold a row; it stays where it is on the screen."""
        row = self._view.surface.rows[number]
        if row.foldable:
            folded = row.unfolded is Unfolded.NO
            self._set(number, row, Unfolded.YES if folded else Unfolded.NO)

    def show_more(self, number: int) -> None:
        """Show more of a row, or what is too much for it in a window of its own."""
        row = self._view.surface.rows[number]
        if row.unfolded is Unfolded.NO:
            self._set(number, row, Unfolded.YES)
        elif isinstance(row.block, ToolBlock) and opens_window(row.block, row.unfolded):
            WholeText(row.block.name, row.block.result, self._view).show()
        else:
            self._set(number, row, Unfolded.ALL)

    def _set(self, number: int, row: Row, unfolded: Unfolded) -> None:
        spot = next((p for p in self._view.placed if p.number == number), None)
        if spot is not None:
            self._view.surface.hold_row(number, spot.y)
        row.unfolded = unfolded
        row.revision += 1
        self._view.surface.follow_again()
        self._view.moved()
