"""The rows of a transcript in order, with their heights: what changes when blocks come and change. No Qt.

Rows of blocks come first; messages that are on their way follow them and are kept apart, so that a chat
that grows above them moves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from walnut_desktop.gui.transcript_view.heights import Heights
from walnut_desktop.gui.transcript_view.rows import Row, TailMessage, block_text, rows_of
from walnut_desktop.gui.transcript_view.segments import Segmenter
from walnut_desktop.transcript.blocks import Block, Change, TextBlock

Guess = Callable[[Row], float]


class RowList:
    """Numbered rows with heights. `version` grows whenever words change."""

    def __init__(self, guess: Guess) -> None:
        self._guess = guess
        self._rows: list[Row] = []
        self._heights = Heights()
        self._tail: list[Row] = []
        self._tail_heights: list[float] = []
        self._first: dict[str, int] = {}  # block key -> number of its first row, less `_shift`
        self._shift = 0
        self._streams: dict[str, Segmenter] = {}
        self.version = 0

    def __len__(self) -> int:
        return len(self._rows) + len(self._tail)

    def __getitem__(self, number: int) -> Row:
        count = len(self._rows)
        return self._rows[number] if number < count else self._tail[number - count]

    def __iter__(self) -> Iterator[Row]:
        yield from self._rows
        yield from self._tail

    @property
    def rows(self) -> list[Row]:
        """All of them, in a list of their own."""
        return [*self._rows, *self._tail]

    @property
    def blocks_end(self) -> int:
        """Where the rows of blocks end."""
        return len(self._rows)

    def number_of(self, row: Row) -> int | None:
        """Where a row is now; None when it is gone."""
        first = self._first.get(row.key)
        if first is not None:
            number = first + self._shift + row.piece
            return number if number < len(self._rows) and self._rows[number] is row else None
        for number, other in enumerate(self._tail, len(self._rows)):
            if other is row:
                return number
        return None

    # -- heights ------------------------------------------------------------------------------------

    def height(self, number: int) -> float:
        """How tall a row is, or is thought to be."""
        count = len(self._rows)
        return self._heights[number] if number < count else self._tail_heights[number - count]

    def set_height(self, number: int, height: float) -> None:
        """How tall a row really is."""
        count = len(self._rows)
        if number < count:
            self._heights.set(number, height)
        else:
            self._tail_heights[number - count] = height

    def before(self, number: int) -> float:
        """How tall all rows before this one are."""
        count = len(self._rows)
        if number <= count:
            return self._heights.before(number)
        return self._heights.total + sum(self._tail_heights[: number - count])

    @property
    def total(self) -> float:
        """How tall all rows are."""
        return self._heights.total + sum(self._tail_heights)

    def find(self, y: float) -> tuple[int, float]:
        """The row at a height and how far into it."""
        blocks = self._heights.total
        if y < blocks or not self._tail:
            return self._heights.find(y)
        y -= blocks
        for number, height in enumerate(self._tail_heights):
            if y < height:
                return len(self._rows) + number, y
            y -= height
        return len(self) - 1, self._tail_heights[-1]

    # -- changes ------------------------------------------------------------------------------------

    def reset(self, blocks: Iterable[Block]) -> None:
        """Other blocks altogether; the tail stays."""
        self._streams = {}
        self._shift = 0
        self._first = {}
        self._rows = []
        for block in blocks:
            self._first[block.key] = len(self._rows)
            self._rows += rows_of(block, self._streams)
        self._heights = Heights(map(self._guess, self._rows))
        self.version += 1

    def prepend(self, blocks: Sequence[Block]) -> int:
        """Older blocks before all others; answers how many rows that made."""
        new: list[Row] = []
        first: dict[str, int] = {}
        for block in blocks:
            if block.key not in self._first:
                first[block.key] = len(new)
                new += rows_of(block, self._streams)
        self._shift += len(new)
        for key, number in first.items():
            self._first[key] = number - self._shift
        self._rows[0:0] = new
        self._heights.splice(0, 0, map(self._guess, new))
        self.version += 1
        return len(new)

    def apply(self, change: Change) -> None:
        """A block is new at the end, or has changed."""
        self.version += 1
        block = change.block
        known = self._first.get(block.key)
        if known is None:
            rows = rows_of(block, self._streams)
            self._first[block.key] = len(self._rows) - self._shift
            for row in rows:
                self._rows.append(row)
                self._heights.append(self._guess(row))
            return
        first = known + self._shift
        old = self._rows[first].block
        if isinstance(block, TextBlock) and isinstance(old, TextBlock) and old.text == block.text:
            self._settle(first, block)
            return
        rows = rows_of(block, self._streams)
        count = self._count(first)
        for number, row in enumerate(rows[:count]):
            self._replace(first + number, row)
        if len(rows) != count:
            kept = min(count, len(rows))
            self._splice(first + kept, first + count, rows[kept:])

    def _settle(self, first: int, block: TextBlock) -> None:
        """The same words again, maybe finished now: pieces and layouts stay as they are."""
        for number in range(first, first + self._count(first)):
            self._rows[number].block = block

    def _replace(self, at: int, row: Row) -> None:
        """The row has new content; one that shows the same words keeps its layout."""
        old = self._rows[at]
        same = old.text == row.text and (isinstance(old.block, TextBlock) or old.block == row.block)
        same = same and (old.joins, old.joined) == (row.joins, row.joined)
        old.block, old.text, old.span = row.block, row.text, row.span
        if not same:
            old.revision += 1

    def _splice(self, start: int, stop: int, rows: Sequence[Row]) -> None:
        self._rows[start:stop] = rows
        self._heights.splice(start, stop, map(self._guess, rows))
        for number in range(start + len(rows), len(self._rows)):
            row = self._rows[number]
            if not row.piece:
                self._first[row.key] = number - self._shift

    def set_tail(self, messages: Sequence[TailMessage]) -> None:
        """The messages on their way: all of them, in order."""
        old = {
            row.key: (row, height)
            for row, height in zip(self._tail, self._tail_heights, strict=True)
        }
        self._tail, self._tail_heights = [], []
        for message in messages:
            row, height = old.get(message.id) or (Row(message, message.text), 0.0)
            if row.block != message:
                row.block, row.text = message, message.text
                row.revision += 1
            self._tail.append(row)
            self._tail_heights.append(height or self._guess(row))
        self.version += 1

    def _count(self, first: int) -> int:
        """How many rows the block that begins at `first` has."""
        end = first + 1
        while end < len(self._rows) and self._rows[end].piece:
            end += 1
        return end - first

    # -- what it holds ------------------------------------------------------------------------------

    def block_count(self) -> int:
        """How many blocks there are."""
        return len(self._first)

    def texts(self) -> list[str]:
        """Every block's text, in order."""
        return [block_text(row.block) for row in self._rows if not row.piece]
