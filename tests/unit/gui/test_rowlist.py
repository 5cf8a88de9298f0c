"""The list of rows against a plain list of blocks, whatever comes in whatever order."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from walnut_desktop.gui.transcript_view.rowlist import RowList
from walnut_desktop.gui.transcript_view.rows import Row, TailMessage
from walnut_desktop.transcript.blocks import (
    Block,
    Change,
    TextBlock,
    ToolBlock,
    ToolState,
    UserBlock,
    plain_text,
)

PARAGRAPH = "Words of an answer. " * 40 + "\n\n"
texts = st.integers(0, 12).map(lambda count: PARAGRAPH * count + "end")


def guess(row: Row) -> float:
    """Any height will do."""
    return 10.0 + len(row.text) % 7


class Rows(RuleBasedStateMachine):
    """Does the same to a `RowList` and to a list."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = RowList(guess)
        self.blocks: list[Block] = []
        self.tail: list[TailMessage] = []
        self.made = 0
        self.known: dict[str, Row] = {}

    def _key(self) -> str:
        self.made += 1
        return f"k{self.made}"

    def _block(self, kind: int, text: str) -> Block:
        if kind == 0:
            return UserBlock(self._key(), text[:50])
        if kind == 1:
            return ToolBlock(self._key(), "i", "Bash", {"command": "x"}, ToolState.DONE, text[:50])
        return TextBlock(self._key(), text, streaming=kind == 2)

    @rule(kinds=st.lists(st.integers(0, 3), max_size=6), text=texts)
    def reset(self, kinds: list[int], text: str) -> None:
        self.blocks = [self._block(kind, text) for kind in kinds]
        self.rows.reset(self.blocks)

    @rule(kinds=st.lists(st.integers(0, 3), max_size=4), text=texts)
    def prepend(self, kinds: list[int], text: str) -> None:
        older = [self._block(kind, text) for kind in kinds]
        self.blocks[:0] = older
        self.rows.prepend(older)

    @rule(kind=st.integers(0, 3), text=texts)
    def append(self, kind: int, text: str) -> None:
        block = self._block(kind, text)
        self.blocks.append(block)
        self.rows.apply(Change(block, True))

    @precondition(lambda self: self.blocks)
    @rule(at=st.integers(0, 50), text=texts, streaming=st.booleans(), grow=st.booleans())
    def change(self, at: int, text: str, streaming: bool, grow: bool) -> None:
        at %= len(self.blocks)
        old = self.blocks[at]
        if grow and isinstance(old, TextBlock):
            text = old.text + text
        block = TextBlock(old.key, text, streaming)
        self.blocks[at] = block
        self.rows.apply(Change(block, False))

    @rule(count=st.integers(0, 4), state=st.sampled_from(["queued", "failed"]))
    def set_tail(self, count: int, state: str) -> None:
        self.tail = [TailMessage(f"m{number}", "text", state) for number in range(count)]
        self.rows.set_tail(self.tail)

    @rule(at=st.integers(0, 200), height=st.integers(1, 99))
    def measure(self, at: int, height: int) -> None:
        if len(self.rows):
            self.rows.set_height(at % len(self.rows), float(height))

    @invariant()
    def same(self) -> None:
        rows = self.rows
        assert rows.texts() == [plain_text(block) for block in self.blocks]
        assert rows.block_count() == len(self.blocks)
        assert [row.block for row in rows if not row.piece] == [*self.blocks, *self.tail]
        assert rows.blocks_end == len(rows) - len(self.tail)
        total = 0.0
        for number in range(len(rows)):
            assert rows.number_of(rows[number]) == number
            assert rows.before(number) == total
            height = rows.height(number)
            assert rows.find(total + height / 2) == (number, height / 2)
            total += height
        assert rows.total == total


TestRows = Rows.TestCase
TestRows.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def test_a_row_that_is_gone_has_no_number() -> None:
    rows = RowList(guess)
    rows.reset([UserBlock("a", "x")])
    row = rows[0]
    rows.reset([UserBlock("a", "x")])
    assert rows.number_of(row) is None
    assert rows.number_of(rows[0]) == 0


def test_a_message_that_only_changes_keeps_its_row() -> None:
    rows = RowList(guess)
    rows.set_tail([TailMessage("m", "x", "queued")])
    row = rows[0]
    rows.set_tail([TailMessage("m", "x", "failed", "no")])
    assert rows[0] is row
    assert row.revision == 1
    rows.set_tail([TailMessage("m", "x", "failed", "no")])
    assert row.revision == 1
