"""Looks for words in the data, not in the layouts: only the hit is laid out."""

from __future__ import annotations

from walnut_desktop.gui.transcript_view.selection import Selection, Spot
from walnut_desktop.gui.transcript_view.surface import TOP, Surface


class Finder:
    """Remembers where the last search was."""

    def __init__(self, surface: Surface, selection: Selection) -> None:
        self._surface = surface
        self._selection = selection
        self._at = -1

    def find(self, text: str, *, backward: bool) -> int:
        """Choose the next hit; answers how many rows have one."""
        needle = text.casefold()
        if not needle:
            return 0
        rows = self._surface.rows.rows
        hits = [n for n, row in enumerate(rows) if needle in row.copy_text().casefold()]
        if not hits:
            return 0
        if backward:
            self._at = next((n for n in reversed(hits) if n < self._at), hits[-1])
        else:
            self._at = next((n for n in hits if n > self._at), hits[0])
        self._show(self._at, text)
        return len(hits)

    def _show(self, number: int, text: str) -> None:
        surface = self._surface
        document = surface.laid(number).document
        self._selection.clear()
        if document is not None:
            cursor = document.find(text)
            if not cursor.isNull():
                start, end = cursor.selectionStart(), cursor.selectionEnd()
                self._selection.choose(Spot(number, start), Spot(number, end))
        top = surface.rows.heights.before(number) + TOP
        surface.scroll_to(max(0.0, top - surface.view_height / 3))

    def select_all(self) -> None:
        """Choose every word."""
        rows = self._surface.rows
        if not len(rows):
            return
        last = len(rows) - 1
        document = self._surface.laid(last).document
        end = document.characterCount() - 1 if document is not None else 1
        self._selection.choose(Spot(0, 0), Spot(last, max(1, end)))
