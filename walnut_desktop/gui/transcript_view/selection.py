"""What is chosen: from one character of one row to another, over any number of rows."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtGui import QTextCursor

from walnut_desktop.gui.transcript_view.rows import Row
from walnut_desktop.gui.transcript_view.surface import Surface


class Spot(NamedTuple):
    """A character of a row's document. Rows keep their identity while numbers shift."""

    row: Row
    position: int


class Chosen(NamedTuple):
    """A selection in numbers of this moment: the two rows, and where in them."""

    first: int
    begin: int
    last: int
    end: int


class Selection:
    """Two spots; the words between them are chosen."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        self._start: Spot | None = None
        self._end: Spot | None = None

    def clear(self) -> None:
        """Nothing is chosen."""
        self._start = self._end = None

    def begin(self, spot: Spot) -> None:
        """The mouse went down here."""
        self._start = self._end = spot

    def extend(self, spot: Spot) -> None:
        """The mouse is here now."""
        if self._start is not None:
            self._end = spot

    def choose(self, start: Spot, end: Spot) -> None:
        """From here to there."""
        self._start, self._end = start, end

    def choose_all(self) -> None:
        """Everything."""
        rows = self._surface.rows
        if len(rows):
            last = rows[len(rows) - 1]
            self.choose(Spot(rows[0], 0), Spot(last, self._length(len(rows) - 1)))

    def chosen(self) -> Chosen | None:
        """The two ends in order; None when nothing is chosen (or the rows are gone)."""
        if self._start is None or self._end is None or self._start == self._end:
            return None
        rows = self._surface.rows
        first, last = rows.number_of(self._start.row), rows.number_of(self._end.row)
        if first is None or last is None:
            return None
        ends = sorted([(first, self._start.position), (last, self._end.position)])
        return Chosen(*ends[0], *ends[1])

    def _length(self, number: int) -> int:
        document = self._surface.laid(number).document
        # A row without a document is chosen as a whole.
        return document.characterCount() - 1 if document is not None else 1

    def text(self, *, markdown: bool = False) -> str:
        """The chosen words. Rows in the middle need no layout: their text is known."""
        chosen = self.chosen()
        if chosen is None:
            return ""
        out: list[str] = []
        rows = self._surface.rows
        for number in range(chosen.first, chosen.last + 1):
            row = rows[number]
            text = self._part(number, row, chosen, markdown=markdown)
            if row.piece and out and number > chosen.first:
                between = "" if out[-1].endswith("\n") else "\n" if row.joins else "\n\n"
                out[-1] = f"{out[-1]}{between}{text}"
            else:
                out.append(text)
        return "\n\n".join(piece.strip("\n") for piece in out if piece.strip())

    def _part(self, number: int, row: Row, chosen: Chosen, *, markdown: bool) -> str:
        """The chosen part of one row: whole rows give their source, parts what is shown."""
        if chosen.first < number < chosen.last:
            return row.copy_text()
        part = self.part_of(chosen, number)
        if part is None:
            return ""
        document = self._surface.laid(number).document
        length = self._length(number)
        if document is None or (part == (0, length) and (chosen.first != chosen.last or markdown)):
            return row.copy_text()
        cursor = QTextCursor(document)
        cursor.setPosition(min(part[0], length))
        cursor.setPosition(min(part[1], length), QTextCursor.MoveMode.KeepAnchor)
        selected = cursor.selection()
        return selected.toMarkdown().strip() if markdown else selected.toPlainText()

    def part_of(self, chosen: Chosen | None, number: int) -> tuple[int, int] | None:
        """The chosen part of a row; None for nothing."""
        if chosen is None or not chosen.first <= number <= chosen.last:
            return None
        begin = chosen.begin if number == chosen.first else 0
        end = chosen.end if number == chosen.last else self._length(number)
        return (begin, end) if end > begin else None
