"""What is chosen: from one character of one row to another, over any number of rows."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtGui import QTextCursor

from walnut_desktop.gui.transcript_view.surface import Surface


class Spot(NamedTuple):
    """A character of a row's document."""

    row: int
    position: int


class Selection:
    """Two spots; the words between them are chosen."""

    def __init__(self) -> None:
        self.start: Spot | None = None
        self.end: Spot | None = None

    def clear(self) -> None:
        """Nothing is chosen."""
        self.start = self.end = None

    def begin(self, spot: Spot) -> None:
        """The mouse went down here."""
        self.start = self.end = spot

    def extend(self, spot: Spot) -> None:
        """The mouse is here now."""
        if self.start is not None:
            self.end = spot

    def choose(self, start: Spot, end: Spot) -> None:
        """From here to there."""
        self.start, self.end = start, end

    def shift(self, rows: int) -> None:
        """So many rows came before everything."""
        if self.start is not None and self.end is not None:
            self.start = self.start._replace(row=self.start.row + rows)
            self.end = self.end._replace(row=self.end.row + rows)

    @property
    def span(self) -> tuple[Spot, Spot] | None:
        """The two ends in order; None when nothing is chosen."""
        if self.start is None or self.end is None or self.start == self.end:
            return None
        return (self.start, self.end) if self.start < self.end else (self.end, self.start)

    def part_of(self, row: int, length: int) -> tuple[int, int] | None:
        """The chosen part of a row of so many characters."""
        span = self.span
        if span is None or not span[0].row <= row <= span[1].row:
            return None
        begin = span[0].position if row == span[0].row else 0
        end = span[1].position if row == span[1].row else length
        return (begin, end) if end > begin else None

    def text(self, surface: Surface) -> str:
        """The chosen words. Rows in the middle need no layout: their text is known."""
        span = self.span
        if span is None:
            return ""
        rows = surface.rows.rows
        out: list[str] = []
        for number in range(span[0].row, min(span[1].row, len(rows) - 1) + 1):
            row = rows[number]
            text = row.copy_text()
            if number in (span[0].row, span[1].row):
                document = surface.laid(number).document
                if document is not None:
                    length = document.characterCount() - 1
                    part = self.part_of(number, length)
                    if part is not None and part != (0, length):
                        cursor = QTextCursor(document)
                        cursor.setPosition(min(part[0], length))
                        cursor.setPosition(min(part[1], length), QTextCursor.MoveMode.KeepAnchor)
                        text = cursor.selection().toPlainText()
                    elif part is None:
                        continue
            if row.piece and out and number > span[0].row:
                out[-1] += text
            else:
                out.append(text)
        return "\n\n".join(piece.strip("\n") for piece in out if piece.strip())
