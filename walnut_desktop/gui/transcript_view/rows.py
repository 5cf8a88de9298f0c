"""The rows of a transcript: a block is one row, or several when its text is cut into pieces. No Qt.

Rows are what gets a height, is laid out, painted and hit. They are cheap: thousands of them are just text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from walnut_desktop.gui.transcript_view.segments import Piece, Segmenter, split
from walnut_desktop.transcript.blocks import (
    Block,
    NoticeBlock,
    TextBlock,
    ThinkingBlock,
    ToolBlock,
    ToolState,
    TurnBlock,
    UserBlock,
    plain_text,
)


class Unfolded(Enum):
    """How much of a foldable row is shown."""

    NO = 0
    YES = 1
    ALL = 2


@dataclass(frozen=True)
class TailMessage:
    """A message that is on its way to the agent: queued, sending, delivered, failed or parked."""

    id: str
    text: str
    state: str
    reason: str = ""

    @property
    def is_stuck(self) -> bool:
        """Whether it goes nowhere unless the person says so."""
        return self.state in ("failed", "parked")


@dataclass(slots=True, eq=False, weakref_slot=True)
class Row:
    """One row. `revision` grows with every change, so that a stale layout is noticed."""

    block: Block | TailMessage
    text: str
    piece: int = 0
    span: Piece | None = None  # where in a text that is cut into pieces it stands
    revision: int = 0
    unfolded: Unfolded = Unfolded.NO

    @property
    def key(self) -> str:
        """The block's key."""
        return self.block.id if isinstance(self.block, TailMessage) else self.block.key

    @property
    def foldable(self) -> bool:
        """Whether it can be unfolded."""
        return isinstance(self.block, (ThinkingBlock, ToolBlock))

    @property
    def nested(self) -> bool:
        """Whether it belongs to a sub-agent."""
        return bool(getattr(self.block, "parent", ""))

    @property
    def joins(self) -> bool:
        """Whether its first box of code goes on with the last one of the row before."""
        return self.span is not None and self.span.joins

    @property
    def joined(self) -> bool:
        """Whether the next row goes on with its last box of code."""
        return self.span is not None and self.span.joined

    def copy_text(self) -> str:
        """What copying the row gives, and where a search looks: its source."""
        text = block_text(self.block)
        return text[self.span.begin : self.span.end] if self.span is not None else text


def block_text(block: Block | TailMessage) -> str:
    """The whole block as text."""
    return block.text if isinstance(block, TailMessage) else plain_text(block)


def rows_of(block: Block, streams: dict[str, Segmenter]) -> list[Row]:
    """The rows of a block. A growing text keeps its segmenter in `streams`, so that finished pieces stay."""
    if isinstance(block, TextBlock):
        pieces = _pieces(block, streams)
        if len(pieces) == 1:
            return [Row(block, pieces[0].text)]
        return [Row(block, piece.text, number, piece) for number, piece in enumerate(pieces)]
    if isinstance(block, ToolBlock):
        return [Row(block, block.name)]
    return [Row(block, block.text)]


def _pieces(block: TextBlock, streams: dict[str, Segmenter]) -> list[Piece]:
    segmenter = streams.get(block.key)
    if segmenter is None:
        if not block.streaming:
            return split(block.text)
        segmenter = streams[block.key] = Segmenter()
    segmenter.grow(block.text)
    return segmenter.all()


def guess_height(row: Row, width: float, line: float) -> float:
    """A height for a row that nobody has seen yet: from its length, corrected when it is laid out."""
    block = row.block
    if isinstance(block, ToolBlock):
        lines = 0
        if block.state is ToolState.FAILED:
            lines = min(6, block.result.count("\n", 0, 2000) + 1)
        return line * (2.7 + lines)
    if isinstance(block, TurnBlock):
        return line * (1.8 if block.ok else 3.2)
    if isinstance(block, (ThinkingBlock, NoticeBlock)):
        return line * 2.2
    per_line = max(20.0, width / (line * 0.48))
    words = row.text.count("\n") * 0.85 + 1 + len(row.text) / per_line * 0.7
    extra = 3.2 if isinstance(block, (UserBlock, TailMessage)) else 1.0
    return line * (words * 1.25 + extra)
