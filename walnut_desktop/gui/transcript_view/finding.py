"""Looks for words in the data, not in the layouts: only the hit is laid out."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtGui import QTextCursor, QTextDocument

from walnut_desktop.gui.transcript_view.rows import Row, Unfolded
from walnut_desktop.gui.transcript_view.selection import Selection, Spot
from walnut_desktop.gui.transcript_view.surface import Surface


class Hit(NamedTuple):
    """The `occurrence`-th place in a row that has the words."""

    row: Row
    occurrence: int


class Finder:
    """Remembers what was looked for and where it was; looks through everything only when words changed."""

    def __init__(self, surface: Surface, selection: Selection) -> None:
        self._surface = surface
        self._selection = selection
        self._needle = ""
        self._version = -1
        self._hits: list[Hit] = []
        self._at: Hit | None = None

    def find(self, text: str, *, backward: bool) -> int:
        """Choose the next place and go there; answers how many places there are."""
        needle = text.lower()
        if not needle:
            self._needle, self._hits, self._at = "", [], None
            return 0
        rows = self._surface.rows
        if needle != self._needle or rows.version != self._version:
            self._needle, self._version = needle, rows.version
            self._hits = [
                Hit(row, occurrence)
                for row in rows
                for occurrence in range(row.copy_text().lower().count(needle))
            ]
        if self._hits:
            self._at = self._hits[self._next(backward=backward)]
            self._show(self._at, text)
        return len(self._hits)

    def _next(self, *, backward: bool) -> int:
        """The hit after the last one; at first the one nearest to what is on screen."""
        if self._at is not None and self._at in self._hits:
            return (self._hits.index(self._at) + (-1 if backward else 1)) % len(self._hits)
        placed = self._surface.visible()
        top = placed[0].number if placed else 0
        for index, hit in enumerate(self._hits):
            number = self._surface.rows.number_of(hit.row)
            if number is not None and number >= top:
                return (index - 1) % len(self._hits) if backward and index else index
        return len(self._hits) - 1 if backward else 0

    def _show(self, hit: Hit, text: str) -> None:
        surface, row = self._surface, hit.row
        number = surface.rows.number_of(row)
        if number is None:
            return
        found = self._seek(surface.laid(number).document, text, hit.occurrence)
        if found is None and row.foldable and row.unfolded is not Unfolded.ALL:
            row.unfolded = Unfolded.ALL
            row.revision += 1
            found = self._seek(surface.laid(number).document, text, hit.occurrence)
        laid = surface.laid(number)
        y = 0.0
        self._selection.clear()
        if found is not None and laid.document is not None:
            # What is shown may have fewer places than the data: marks are gone, ends are cut.
            start, end = found.selectionStart(), found.selectionEnd()
            self._selection.choose(Spot(row, start), Spot(row, end))
            block = found.block()
            y = laid.at.y() + laid.document.documentLayout().blockBoundingRect(block).top()
        surface.hold_row(number, surface.view_height / 3 - y)

    def _seek(
        self, document: QTextDocument | None, text: str, occurrence: int
    ) -> QTextCursor | None:
        """The place in a document, or the last one before it; None for none at all."""
        if document is None:
            return None
        found = None
        cursor = document.find(text)
        while not cursor.isNull():
            found = cursor
            if not occurrence:
                break
            occurrence -= 1
            cursor = document.find(text, cursor)
        return found
