"""The rows of a transcript in order, with their heights: what changes when blocks come and change. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from walnut_desktop.gui.transcript_view.heights import Heights
from walnut_desktop.gui.transcript_view.rows import Row, TailMessage, rows_of
from walnut_desktop.gui.transcript_view.segments import Segmenter
from walnut_desktop.transcript.blocks import Block, Change, TextBlock

Guess = Callable[[Row], float]


class RowList:
    """Rows of blocks, then rows of messages that are on their way."""

    def __init__(self, guess: Guess) -> None:
        self._guess = guess
        self.rows: list[Row] = []
        self.heights = Heights()
        self._first: dict[str, int] = {}  # block key -> its first row
        self._streams: dict[str, Segmenter] = {}
        self._tail = 0  # how many rows at the end are messages on their way

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def blocks_end(self) -> int:
        """Where the rows of blocks end."""
        return len(self.rows) - self._tail

    def reset(self, blocks: Iterable[Block]) -> None:
        """Other blocks altogether; the tail stays."""
        tail = self.rows[self.blocks_end :]
        self._streams = {}
        rows = [row for block in blocks for row in rows_of(block, self._streams)]
        self.rows = [*rows, *tail]
        self.reguess()
        self._index()

    def reguess(self) -> None:
        """Every height is a guess again (another width or theme)."""
        self.heights = Heights(self._guess(row) for row in self.rows)

    def prepend(self, blocks: Iterable[Block]) -> int:
        """Older blocks before all others; answers how many rows that made."""
        rows = [row for block in blocks for row in rows_of(block, self._streams)]
        self.rows[0:0] = rows
        self.heights.splice(0, 0, [self._guess(row) for row in rows])
        self._index()
        return len(rows)

    def apply(self, change: Change) -> None:
        """A block is new at the end, or has changed."""
        rows = rows_of(change.block, self._streams)
        first = self._first.get(change.block.key)
        if first is None:
            self._insert(self.blocks_end, rows)
            return
        count = self._count(first)
        for number, row in enumerate(rows[:count]):
            self._replace(first + number, row)
        if len(rows) > count:
            self._insert(first + count, rows[count:])
        elif len(rows) < count:
            del self.rows[first + len(rows) : first + count]
            self.heights.splice(first + len(rows), first + count, [])
            self._index()

    def _replace(self, at: int, row: Row) -> None:
        """The row has new content; one that shows the same words keeps its layout."""
        old = self.rows[at]
        same = old.text == row.text and (isinstance(old.block, TextBlock) or old.block == row.block)
        old.block, old.text = row.block, row.text
        if not same:
            old.revision += 1

    def _insert(self, at: int, rows: Sequence[Row]) -> None:
        if at == len(self.rows):
            for row in rows:
                self._first.setdefault(row.key, len(self.rows))
                self.rows.append(row)
                self.heights.append(self._guess(row))
            return
        self.rows[at:at] = rows
        self.heights.splice(at, at, [self._guess(row) for row in rows])
        self._index()

    def set_tail(self, messages: Sequence[TailMessage]) -> None:
        """The messages on their way: all of them, in order."""
        end = self.blocks_end
        old = {row.key: row for row in self.rows[end:]}
        rows = []
        for message in messages:
            row = old.get(message.id)
            if row is None or row.block != message:
                revision = row.revision + 1 if row else 0
                row = Row(message, message.text, revision=revision)
            rows.append(row)
        self.rows[end:] = rows
        self.heights.splice(end, len(self.heights), [self._guess(row) for row in rows])
        self._tail = len(rows)
        for key, first in list(self._first.items()):
            if first >= end:
                del self._first[key]

    def _count(self, first: int) -> int:
        """How many rows the block that begins at `first` has."""
        key, end = self.rows[first].key, first + 1
        while end < self.blocks_end and self.rows[end].key == key:
            end += 1
        return end - first

    def _index(self) -> None:
        self._first = {}
        for number in range(self.blocks_end):
            self._first.setdefault(self.rows[number].key, number)

    def block_count(self) -> int:
        """How many blocks there are."""
        return len(self._first)

    def texts(self) -> list[str]:
        """Every block's text, in order."""
        out: list[str] = []
        last = ""
        for row in self.rows[: self.blocks_end]:
            if row.key == last and row.piece:
                out[-1] += row.text
            else:
                out.append(row.copy_text())
            last = row.key
        return out
