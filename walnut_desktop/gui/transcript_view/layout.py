"""One row laid out: its height, its document, and where on it something can be clicked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextOption,
)

from walnut_desktop.gui.theme import Theme
from walnut_desktop.gui.transcript_view import ansi, markdown
from walnut_desktop.gui.transcript_view.markdown import SealedDocument
from walnut_desktop.gui.transcript_view.rows import Row, TailMessage, Unfolded
from walnut_desktop.gui.transcript_view.tool_text import Body, Part, body
from walnut_desktop.transcript.blocks import (
    NoticeBlock,
    TextBlock,
    ThinkingBlock,
    ToolBlock,
    TurnBlock,
    UserBlock,
)

PAD = 12.0
GAP = 10.0
MAX_USER_TEXT = 200_000


@dataclass
class Hit:
    """A place that does something when it is clicked."""

    rect: QRectF
    action: str  # fold, more, retry, discard


@dataclass
class Laid:
    """A row for one width and theme."""

    revision: int
    width: float
    height: float
    document: SealedDocument | None = None
    at: QPointF = field(default_factory=QPointF)
    hits: list[Hit] = field(default_factory=list)
    more: str = ""
    head: float = 0.0


class RowLayout:
    """Lays rows out for a width and a theme."""

    def __init__(self, theme: Theme, width: float) -> None:
        self.theme = theme
        self.width = width
        self.line = QFontMetricsF(theme.font).lineSpacing()
        self.small_line = QFontMetricsF(theme.small_font).lineSpacing()

    def lay(self, row: Row) -> Laid:
        """The row laid out."""
        block = row.block
        if isinstance(block, TextBlock):
            return self._prose(row)
        if isinstance(block, ToolBlock):
            return self._tool(row, block)
        if isinstance(block, ThinkingBlock):
            return self._thinking(row, block)
        if isinstance(block, UserBlock):
            return self._user(row, block.text, note="")
        if isinstance(block, TailMessage):
            return self._tail(row, block)
        if isinstance(block, NoticeBlock):
            return self._centred(row, block.text)
        return self._turn(row, block)

    # -- kinds ------------------------------------------------------------------------------------

    def _prose(self, row: Row) -> Laid:
        document = markdown.build(row.text, self.theme)
        document.setTextWidth(self.width)
        height = document.size().height() + GAP
        return Laid(row.revision, self.width, height, document)

    def _user(self, row: Row, text: str, note: str) -> Laid:
        document = self.plain(text[:MAX_USER_TEXT])
        document.setTextWidth(self.width - 2 * PAD)
        head = self.small_line + 4
        height = head + document.size().height() + 2 * PAD + GAP
        if note:
            height += self.small_line + 4
        return Laid(row.revision, self.width, height, document, QPointF(PAD, PAD + head), head=head)

    def _tail(self, row: Row, message: TailMessage) -> Laid:
        laid = self._user(row, message.text, note=message.reason)
        if message.state in ("failed", "parked"):
            metrics = QFontMetricsF(self.theme.small_font)
            right = self.width - PAD
            for action, word in (("discard", "Discard"), ("retry", "Send again")):
                wide = metrics.horizontalAdvance(word)
                laid.hits.append(Hit(QRectF(right - wide, PAD, wide, self.small_line), action))
                right -= wide + 16
        return laid

    def _thinking(self, row: Row, block: ThinkingBlock) -> Laid:
        head = self.line + 8
        laid = Laid(row.revision, self.width, head + 6, head=head)
        laid.hits.append(Hit(QRectF(0, 0, self.width, head), "fold"))
        if row.unfolded is not Unfolded.NO:
            laid.document = markdown.build(block.text, self.theme, muted=True)
            laid.document.setTextWidth(self.width - 28)
            laid.at = QPointF(26, head)
            laid.height = head + laid.document.size().height() + GAP
        return laid

    def _tool(self, row: Row, block: ToolBlock) -> Laid:
        head = self.line + 16
        laid = Laid(row.revision, self.width, head + 8, head=head)
        laid.hits.append(Hit(QRectF(0, 0, self.width, head), "fold"))
        content = body(block, row.unfolded)
        if not content.parts:
            return laid
        document = self._output(content)
        document.setTextWidth(self.width - 2 * PAD)
        laid.document, laid.at = document, QPointF(PAD, head + 6)
        bottom = head + 6 + document.size().height() + 8
        if content.more:
            laid.more = content.more
            laid.hits.append(Hit(QRectF(PAD, bottom, self.width - 2 * PAD, self.line), "more"))
            bottom += self.line + 8
        laid.height = bottom + 8
        return laid

    def _centred(self, row: Row, text: str) -> Laid:
        document = self.plain(text, role="muted", small=True, centred=True)
        document.setTextWidth(self.width - 80)
        return Laid(
            row.revision, self.width, document.size().height() + 14, document, QPointF(40, 4)
        )

    def _turn(self, row: Row, block: TurnBlock) -> Laid:
        if block.ok or not block.text:
            return Laid(row.revision, self.width, self.small_line + 22)
        document = self.plain(block.text, role="danger")
        document.setTextWidth(self.width - 2 * PAD - 28)
        height = max(document.size().height(), self.line) + 2 * PAD + GAP
        return Laid(row.revision, self.width, height, document, QPointF(PAD + 28, PAD))

    # -- documents --------------------------------------------------------------------------------

    def plain(
        self, text: str, *, role: str = "text", small: bool = False, centred: bool = False
    ) -> SealedDocument:
        """Words as they are, nothing of them read as markup."""
        document = SealedDocument(self.theme.small_font if small else self.theme.font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        document.setDefaultTextOption(option)
        document.setPlainText(ansi.clean(text)[0])
        cursor = QTextCursor(document)
        cursor.select(QTextCursor.SelectionType.Document)
        look = QTextCharFormat()
        look.setForeground(self.theme.color(role))
        cursor.mergeCharFormat(look)
        form = QTextBlockFormat()
        form.setLineHeight(
            markdown.LINE_HEIGHT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value
        )
        if centred:
            form.setAlignment(option.alignment().AlignHCenter)
        cursor.mergeBlockFormat(form)
        return document

    def _output(self, content: Body) -> SealedDocument:
        document = SealedDocument(self.theme.mono_font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        document.setDefaultTextOption(option)
        cursor = QTextCursor(document)
        cursor.beginEditBlock()
        for number, part in enumerate(content.parts):
            if number:
                cursor.insertBlock()
                space = QTextBlockFormat()
                space.setTopMargin(8 if _new_section(content.parts, number) else 0)
                cursor.setBlockFormat(space)
            self._insert(cursor, part)
        cursor.endEditBlock()
        return document

    def _insert(self, cursor: QTextCursor, part: Part) -> None:
        roles = {
            "input": "text",
            "added": "success",
            "removed": "danger",
            "result": "code_text",
            "note": "muted",
        }
        look = QTextCharFormat()
        look.setForeground(self.theme.color(roles[part.kind]))
        look.setFont(self.theme.small_font if part.kind == "note" else self.theme.mono_font)
        start = cursor.position()
        cursor.insertText(part.text, look)
        end = cursor.position()
        for run in part.runs:
            colour = QTextCharFormat()
            if run.color >= 0:
                colour.setForeground(QColor(ansi.rgb(run.color, dark=self.theme.is_dark)))
            if run.bold:
                colour.setFontWeight(700)
            cursor.setPosition(start + run.start)
            cursor.setPosition(start + run.start + run.length, QTextCursor.MoveMode.KeepAnchor)
            cursor.mergeCharFormat(colour)
        cursor.setPosition(end)


def _new_section(parts: Sequence[Part], number: int) -> bool:
    return not (
        parts[number - 1].kind in ("note", "removed") and parts[number].kind in ("added", "removed")
    )
