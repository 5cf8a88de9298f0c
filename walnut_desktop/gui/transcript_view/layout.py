"""One row laid out: its height, its document, and where on it something is drawn or can be clicked."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFontMetricsF

from walnut_desktop.gui.theme import Theme
from walnut_desktop.gui.transcript_view import markdown, plain
from walnut_desktop.gui.transcript_view.markdown import CODE_PAD, SealedDocument
from walnut_desktop.gui.transcript_view.rows import Row, TailMessage, Unfolded
from walnut_desktop.gui.transcript_view.tool_text import body
from walnut_desktop.transcript.blocks import (
    NoticeBlock,
    TextBlock,
    ThinkingBlock,
    ToolBlock,
    TurnBlock,
    UserBlock,
)

PAD = 14.0  # inside cards
GAP = 14.0  # below cards of the person, notices, ends of turns
PROSE_GAP = 11.0
PROSE_TOP = 4.0  # above an answer, which may follow a card closely
TOOL_GAP = 8.0  # below a tool card
NEST = 22.0  # how far what a sub-agent does is moved to the right
CODE_EDGE = 12.0  # so far a box reaches over the edge of a row that is not its end
MAX_WORDS = 60_000
MAX_LINES = 2000


class Action(Enum):
    """What a click on a place does."""

    FOLD = "Fold or unfold"
    MORE = "Show more"
    RETRY = "Send again"
    DISCARD = "Discard"
    COPY = "Copy code"


@dataclass
class Hit:
    """A place that does something when it is clicked."""

    rect: QRectF
    action: Action
    text: str = ""  # what is copied


@dataclass
class Laid:
    """A row for one width and theme. Everything is in the row's own coordinates."""

    revision: int
    height: float
    gap: float = GAP  # the free part at the end of `height`
    left: float = 0.0  # where the row begins, for what is moved to the right
    document: SealedDocument | None = None
    at: QPointF = field(default_factory=QPointF)
    hits: list[Hit] = field(default_factory=list)
    more: str = ""
    head: float = 0.0
    codes: list[QRectF] = field(default_factory=list)
    quotes: list[QRectF] = field(default_factory=list)
    checks: list[tuple[QRectF, bool]] = field(default_factory=list)
    bullets: list[QPointF] = field(default_factory=list)


class RowLayout:
    """Lays rows out for a width and a theme."""

    def __init__(self, theme: Theme, width: float) -> None:
        self.theme = theme
        self.width = width
        self.line = QFontMetricsF(theme.font).lineSpacing()
        self.small_line = QFontMetricsF(theme.small_font).lineSpacing()

    def lay(self, row: Row) -> Laid:
        """The row laid out; whole pixels, so that letters stay sharp."""
        laid = self._lay(row)
        laid.height = float(math.ceil(laid.height))
        return laid

    def _lay(self, row: Row) -> Laid:
        block = row.block
        if isinstance(block, TextBlock):
            return self._prose(row, block)
        if isinstance(block, ToolBlock):
            return self._tool(row, block)
        if isinstance(block, ThinkingBlock):
            return self._thinking(row, block)
        if isinstance(block, UserBlock):
            return self._user(row, block)
        if isinstance(block, TailMessage):
            return self._tail(row, block)
        if isinstance(block, NoticeBlock):
            return self._notice(row, block)
        return self._turn(row, block)

    # -- kinds ------------------------------------------------------------------------------------

    def _prose(self, row: Row, block: TextBlock) -> Laid:
        left = NEST if row.nested else 0.0
        document = markdown.build(row.text, self.theme, live=block.streaming)
        top = 0.0 if row.piece else PROSE_TOP
        height = top + self._set(document, self.width - left) + PROSE_GAP
        laid = Laid(row.revision, height, gap=PROSE_GAP, left=left, document=document)
        laid.at = QPointF(left, top)
        self._decorate(laid, document)
        self._make_room(laid, joins=row.joins)
        if row.joins and laid.codes:
            # One box over several rows: no room and no edge where they meet.
            laid.codes[0].setTop(-CODE_EDGE)
        if row.joined and laid.codes:
            laid.height = math.ceil(laid.codes[-1].bottom() - CODE_PAD + markdown.leading(document))
            laid.gap = 0
            laid.codes[-1].setBottom(laid.height + CODE_EDGE)
        return laid

    def _make_room(self, laid: Laid, *, joins: bool = False) -> None:
        """Qt knows no margin at the ends of a document: a box of code there needs its own room."""
        if not laid.codes:
            return
        over = laid.at.y() - laid.codes[0].top()
        if over > 0 and not joins:
            laid.at += QPointF(0, over)
            laid.height += over
            self._shift(laid, over)
        laid.height = max(laid.height, laid.codes[-1].bottom() + laid.gap)

    def _shift(self, laid: Laid, by: float) -> None:
        for box in (*laid.codes, *laid.quotes, *(hit.rect for hit in laid.hits)):
            box.translate(0, by)
        for box, _ticked in laid.checks:
            box.translate(0, by)
        laid.bullets = [middle + QPointF(0, by) for middle in laid.bullets]

    def _user(self, row: Row, block: UserBlock) -> Laid:
        text = block.text
        if block.images:
            text += f"\n[{block.images} image{'s' if block.images > 1 else ''}]"
        return self._message(row, text, "")

    def _message(self, row: Row, text: str, note: str) -> Laid:
        document = plain.words(_shortened(text), self.theme)
        head = self.small_line + 3
        height = PAD + head + self._set(document, self.width - 2 * PAD) + PAD
        if note:
            height += self.small_line + 6
        laid = Laid(row.revision, height + GAP, document=document, at=QPointF(PAD, PAD + head))
        laid.head = head
        return laid

    def _tail(self, row: Row, message: TailMessage) -> Laid:
        laid = self._message(row, message.text, message.reason)
        if message.is_stuck:
            metrics = QFontMetricsF(self.theme.small_font)
            right = self.width - PAD
            for action in (Action.DISCARD, Action.RETRY):
                wide = metrics.horizontalAdvance(action.value)
                box = QRectF(right - wide - 6, PAD - 5, wide + 12, self.small_line + 8)
                laid.hits.append(Hit(box, action))
                right -= wide + 22
        return laid

    def _thinking(self, row: Row, block: ThinkingBlock) -> Laid:
        left = NEST if row.nested else 0.0
        head = self.line + 10
        laid = Laid(row.revision, head + 6, gap=6, left=left, head=head)
        laid.hits.append(Hit(QRectF(left, 0, self.width - left, head), Action.FOLD))
        if row.unfolded is not Unfolded.NO:
            document = markdown.build(
                _shortened(block.text), self.theme, muted=True, live=block.streaming
            )
            indent = self.theme.px(25)
            laid.document, laid.at = document, QPointF(left + indent, head + 2)
            laid.height = head + 2 + self._set(document, self.width - left - indent) + GAP
            laid.gap = GAP
            self._decorate(laid, document)
            self._make_room(laid)
        return laid

    def _tool(self, row: Row, block: ToolBlock) -> Laid:
        left = NEST if row.nested else 0.0
        head = float(round(self.line + 17))
        laid = Laid(row.revision, head + TOOL_GAP, gap=TOOL_GAP, left=left, head=head)
        laid.hits.append(Hit(QRectF(left, 0, self.width - left, head), Action.FOLD))
        content = body(block, row.unfolded)
        if not content.parts:
            return laid
        document = plain.output(content.parts, self.theme)
        laid.document, laid.at = document, QPointF(left + PAD, head + 10)
        bottom = head + 10 + self._set(document, self.width - left - 2 * PAD) + 10
        if content.more:
            laid.more = content.more
            wide = QFontMetricsF(self.theme.small_font).horizontalAdvance(
                content.more
            ) + self.theme.px(30)
            box = QRectF(left + PAD - 6, bottom - 4, wide, self.small_line + 8)
            laid.hits.append(Hit(box, Action.MORE))
            bottom += self.small_line + 12
        laid.height = bottom + TOOL_GAP
        return laid

    def _notice(self, row: Row, block: NoticeBlock) -> Laid:
        document = plain.words(
            _shortened(block.text), self.theme, role="muted", small=True, centred=True
        )
        height = self._set(document, self.width - 80)
        return Laid(row.revision, height + 4 + GAP, document=document, at=QPointF(40, 4))

    def _turn(self, row: Row, block: TurnBlock) -> Laid:
        if block.ok or not block.text:
            return Laid(row.revision, self.small_line + 12 + GAP)
        document = plain.words(_shortened(block.text), self.theme)
        head = self.line + 4
        left = PAD + self.theme.px(28)
        height = self._set(document, self.width - PAD - left) + head + 2 * PAD
        laid = Laid(row.revision, height + GAP, document=document, at=QPointF(left, PAD + head))
        laid.head = head
        return laid

    # -- documents --------------------------------------------------------------------------------

    def _set(self, document: SealedDocument, width: float) -> float:
        """Break the lines; answers the height, without the free space below the last line."""
        document.setTextWidth(max(40.0, width))
        return document.size().height() - markdown.leading(document)

    def _decorate(self, laid: Laid, document: SealedDocument) -> None:
        """Find the places of boxes, bars and ticks."""
        sizes = document.documentLayout()

        def stretch(first: int, last: int) -> tuple[float, float, float]:
            begin = sizes.blockBoundingRect(document.findBlockByNumber(first))
            end = sizes.blockBoundingRect(document.findBlockByNumber(last))
            return (
                begin.top(),
                end.bottom(),
                document.findBlockByNumber(first).layout().lineAt(0).x(),
            )

        right = document.textWidth()
        for first, last in document.code_runs:
            top, bottom, x = stretch(first, last)
            x = max(0.0, x - CODE_PAD)
            box = QRectF(x, top - CODE_PAD, right - x, bottom - top + 2 * CODE_PAD)
            box.translate(laid.at)
            laid.codes.append(box)
            size = self.theme.px(27)
            button = QRectF(box.right() - size - 5, box.top() + 5, size, size)
            laid.hits.append(Hit(button, Action.COPY, plain.lines(document, first, last)))
        for first, last in document.quote_runs:
            top, bottom, _ = stretch(first, last)
            laid.quotes.append(QRectF(2, top, 3, bottom - top).translated(laid.at))
        side = float(round(self.line * 0.86))
        for number, ticked in document.checks:
            x, middle = self._first_words(document, number)
            box = QRectF(x - side - 7, round(middle - side / 2), side, side)
            laid.checks.append((box.translated(laid.at), ticked))
        for number in document.bullets:
            x, middle = self._first_words(document, number)
            laid.bullets.append(QPointF(x - self.theme.px(12), round(middle) + 0.5) + laid.at)

    def _first_words(self, document: SealedDocument, number: int) -> tuple[float, float]:
        """Where the first line of a block begins, and the middle of its small letters."""
        block = document.findBlockByNumber(number)
        line = block.layout().lineAt(0)
        top = document.documentLayout().blockBoundingRect(block).top() + line.y()
        return line.x(), top + line.ascent() * 0.64


def _shortened(text: str) -> str:
    """As much of a text as can be laid out at once."""
    cut = text[:MAX_WORDS]
    lines = cut.split("\n", MAX_LINES)
    if len(lines) > MAX_LINES:
        cut = "\n".join(lines[:MAX_LINES])
    if len(cut) == len(text):
        return text
    return f"{cut}\n… {len(text) - len(cut):,} more characters"
