"""Markdown as a document: Qt's own reader without HTML, then one walk for safety and looks (D28).

Nothing is ever loaded: every wish of the document for a resource is refused, and images become words before
the first layout. Only http, https and mailto addresses are links.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QUrl
from PySide6.QtGui import (
    QFont,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrame,
    QTextFrameFormat,
    QTextLength,
    QTextList,
    QTextListFormat,
    QTextTable,
)

from walnut_desktop.gui.guard import never_raises
from walnut_desktop.gui.theme import Theme
from walnut_desktop.gui.transcript_view.highlighting import MAX_CODE, MAX_LIVE_CODE, highlight

SAFE_SCHEMES = ("http://", "https://", "mailto:")
LINE_HEIGHT = 122.0
CODE_HEIGHT = 112.0
TABLE_HEIGHT = 106.0
CODE_PAD = 12.0  # between a code box and its words
CODE_SPACE = 8.0  # between a code box and the words around it
INDENT = 24.0
QUOTE_INDENT = 18.0

_PROPORTIONAL = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value
_FIXED = QTextBlockFormat.LineHeightTypes.FixedHeight.value
_Property = QTextFormat.Property
_BULLETS = (
    QTextListFormat.Style.ListDisc,
    QTextListFormat.Style.ListCircle,
    QTextListFormat.Style.ListSquare,
)


class SealedDocument(QTextDocument):
    """A document that loads nothing, and knows what is to be drawn around its words (by block numbers)."""

    def __init__(self, font: QFont) -> None:
        super().__init__()
        self.refused: list[str] = []
        self.code_runs: list[tuple[int, int]] = []
        self.quote_runs: list[tuple[int, int]] = []
        self.checks: list[tuple[int, bool]] = []
        self.bullets: list[int] = []
        self.setUndoRedoEnabled(False)
        self.setDocumentMargin(0)
        self.setDefaultFont(font)

    @never_raises(None)
    def loadResource(self, kind: int, url: QUrl | str) -> Any:
        """No."""
        self.refused.append(url.toString() if isinstance(url, QUrl) else str(url))


def is_safe_link(href: str) -> bool:
    """Whether an address may be a link at all."""
    return href.lower().startswith(SAFE_SCHEMES)


def build(text: str, theme: Theme, *, muted: bool = False, live: bool = False) -> SealedDocument:
    """The document of a piece of markdown; `live` for one that will be built again at once."""
    document = SealedDocument(theme.font)
    document.setIndentWidth(theme.px(INDENT))
    features = QTextDocument.MarkdownFeature
    document.setMarkdown(_harmless(text), features.MarkdownDialectGitHub | features.MarkdownNoHTML)
    _Walk(document, theme, muted, MAX_LIVE_CODE if live else MAX_CODE).run()
    return document


_CONTROL = {
    **{code: None for code in range(32) if chr(code) not in "\t\n"},
    **dict.fromkeys(range(0x7F, 0xA0)),
    0x202D: None,  # direction overrides: words must read as they are written
    0x202E: None,
    0xFFFC: 0xFFFD,  # would be taken for a picture
}


def _harmless(text: str) -> str:
    return text if text.isascii() and text.isprintable() else text.translate(_CONTROL)


class _Walk:
    """Once over all blocks of a fresh document."""

    def __init__(self, document: SealedDocument, theme: Theme, muted: bool, most: int) -> None:
        self._document = document
        self._most = most
        self._theme = theme
        self._ink = theme.color("muted" if muted else "text")
        self._cursor = QTextCursor(document)
        self._run: list[QTextBlock] = []
        self._language = ""
        self._bad: list[tuple[int, int, QTextCharFormat]] = []
        self._items: list[tuple[QTextBlock, QTextBlock]] = []

    def run(self) -> None:
        """Do it."""
        self._cursor.beginEditBlock()
        self._common()
        self._tables(self._document.rootFrame())
        block = self._document.begin()
        while block.isValid():
            self._block(block)
            block = block.next()
        self._close_code()
        self._space_items()
        self._replace_bad()
        for first, last in self._items:
            self._unmark_bullets(first, last)
        self._cursor.endEditBlock()

    def _common(self) -> None:
        self._cursor.select(QTextCursor.SelectionType.Document)
        lines = QTextBlockFormat()
        lines.setLineHeight(LINE_HEIGHT, _PROPORTIONAL)
        self._cursor.mergeBlockFormat(lines)
        ink = QTextCharFormat()
        ink.setForeground(self._ink)
        self._cursor.mergeCharFormat(ink)

    def _block(self, block: QTextBlock) -> None:
        form = block.blockFormat()
        if _is_code(form):
            self._code_line(block, form)
            return
        self._close_code()
        if form.headingLevel():
            self._heading(block, form.headingLevel())
        level = form.intProperty(_Property.BlockQuoteLevel)
        if level:
            self._quote(block, level)
        elif block.textList() is not None:
            self._list_item(block, form)
        fragments = block.begin()
        while not fragments.atEnd():
            fragment = fragments.fragment()
            look = fragment.charFormat()
            if look.isImageFormat() or (look.isAnchor() and not is_safe_link(look.anchorHref())):
                self._bad.append((fragment.position(), fragment.length(), look))
            elif look.isAnchor():
                self._merge(fragment.position(), fragment.length(), self._link_look())
            elif look.fontFixedPitch():
                self._merge(fragment.position(), fragment.length(), self._code_look())
            fragments += 1

    def _heading(self, block: QTextBlock, level: int) -> None:
        look = QTextCharFormat()
        # Qt's relative sizes: 1.5, 1.2 and 1 times the usual one.
        look.setProperty(_Property.FontSizeAdjustment, {1: 2, 2: 1}.get(level, 0))
        look.setFontWeight(QFont.Weight.DemiBold)
        self._merge(block.position(), block.length() - 1, look)
        space = QTextBlockFormat()
        space.setTopMargin(18 if block.blockNumber() else 0)
        space.setBottomMargin(6)
        self._shape(block, space)

    def _quote(self, block: QTextBlock, level: int) -> None:
        shape = QTextBlockFormat()
        shape.setLeftMargin(self._theme.px(QUOTE_INDENT) * level)
        shape.setRightMargin(0)
        self._shape(block, shape)
        look = QTextCharFormat()
        look.setForeground(self._theme.color("muted"))
        self._merge(block.position(), block.length() - 1, look)
        runs, number = self._document.quote_runs, block.blockNumber()
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))

    def _list_item(self, block: QTextBlock, form: QTextBlockFormat) -> None:
        marker = form.marker()
        if marker != QTextBlockFormat.MarkerType.NoMarker:
            # We draw the box ourselves: Qt's own looks the same, ticked or not.
            self._document.checks.append(
                (block.blockNumber(), marker == QTextBlockFormat.MarkerType.Checked)
            )
            shape = QTextBlockFormat()
            shape.setMarker(QTextBlockFormat.MarkerType.NoMarker)
            self._shape(block, shape)
            self._unmark(block.textList())
        elif block.textList().format().style() in _BULLETS:
            self._document.bullets.append(block.blockNumber())
        items, number = self._items, block.blockNumber()
        if items and items[-1][1].blockNumber() == number - 1:
            items[-1] = (items[-1][0], block)
        else:
            items.append((block, block))

    def _space_items(self) -> None:
        """Items lie closer than paragraphs: one step for each run of them, not for each item."""
        shape = QTextBlockFormat()
        shape.setTopMargin(3)
        shape.setBottomMargin(3)
        for first, last in self._items:
            self._cursor.setPosition(first.position())
            self._cursor.setPosition(last.position(), QTextCursor.MoveMode.KeepAnchor)
            self._cursor.mergeBlockFormat(shape)

    def _unmark_bullets(self, block: QTextBlock, last: QTextBlock) -> None:
        """Bullets are ours, too: Qt's touch the words."""
        while True:
            items = block.textList()
            if items.format().style() in _BULLETS:
                self._unmark(items)
            if block == last:
                return
            block = block.next()

    def _unmark(self, items: QTextList) -> None:
        style = items.format()
        style.setStyle(QTextListFormat.Style.ListStyleUndefined)
        items.setFormat(style)

    def _shape(self, block: QTextBlock, form: QTextBlockFormat) -> None:
        self._cursor.setPosition(block.position())
        self._cursor.mergeBlockFormat(form)

    def _merge(self, position: int, length: int, look: QTextCharFormat) -> None:
        self._cursor.setPosition(position)
        self._cursor.setPosition(position + length, QTextCursor.MoveMode.KeepAnchor)
        self._cursor.mergeCharFormat(look)

    def _link_look(self) -> QTextCharFormat:
        look = QTextCharFormat()
        look.setForeground(self._theme.color("link"))
        look.setFontUnderline(True)
        return look

    def _code_look(self) -> QTextCharFormat:
        look = QTextCharFormat()
        look.setFont(self._theme.mono_font)
        look.setForeground(self._theme.color("code_text"))
        look.setBackground(self._theme.color("code_ground"))
        return look

    # -- code -------------------------------------------------------------------------------------

    def _code_line(self, block: QTextBlock, form: QTextBlockFormat) -> None:
        language = form.stringProperty(_Property.BlockCodeLanguage)
        adjoining = self._run and self._run[-1].blockNumber() == block.blockNumber() - 1
        if self._run and (language != self._language or not adjoining):
            self._close_code()
        self._language = language
        self._run.append(block)

    def _close_code(self) -> None:
        run, self._run = self._run, []
        if not run:
            return
        first, last = run[0], run[-1]
        look = QTextCharFormat()
        look.setFont(self._theme.mono_font)
        look.setForeground(self._theme.color("code_text"))
        self._merge(first.position(), last.position() + last.length() - 1 - first.position(), look)
        self._cursor.setPosition(first.position())
        self._cursor.setPosition(last.position(), QTextCursor.MoveMode.KeepAnchor)
        shape = QTextBlockFormat()
        shape.setLeftMargin(CODE_PAD)
        shape.setRightMargin(CODE_PAD)
        shape.setTopMargin(0)
        shape.setBottomMargin(0)
        shape.setNonBreakableLines(False)
        shape.setLineHeight(CODE_HEIGHT, _PROPORTIONAL)
        self._cursor.mergeBlockFormat(shape)
        ends = QTextBlockFormat()
        ends.setTopMargin(CODE_PAD + (CODE_SPACE if first.blockNumber() else 0))
        self._shape(first, ends)
        ends = QTextBlockFormat()
        ends.setBottomMargin(CODE_PAD + CODE_SPACE)
        self._shape(last, ends)
        self._document.code_runs.append((first.blockNumber(), last.blockNumber()))
        highlight(run, self._language, self._theme, self._most)
        self._language = ""

    # -- what may not stay, and tables --------------------------------------------------------------

    def _replace_bad(self) -> None:
        """Images become words, and what is no link looks like none."""
        plain = QTextCharFormat()
        plain.setForeground(self._ink)
        for position, length, look in reversed(self._bad):
            self._cursor.setPosition(position)
            self._cursor.setPosition(position + length, QTextCursor.MoveMode.KeepAnchor)
            if look.isImageFormat():
                words = look.property(_Property.ImageAltText) or "no description"
                self._cursor.insertText(f"[image: {words}]", plain)
            else:
                self._cursor.setCharFormat(plain)

    def _tables(self, frame: QTextFrame) -> None:
        for child in frame.childFrames():
            if isinstance(child, QTextTable):
                self._table(child)
            self._tables(child)

    def _table(self, table: QTextTable) -> None:
        form = table.format()
        form.setBorder(1)
        form.setBorderBrush(self._theme.color("border"))
        form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        form.setBorderCollapse(True)
        form.setCellPadding(7)
        form.setCellSpacing(0)
        before = self._document.findBlock(table.firstPosition() - 2)
        # The space below a code box does not count before a table.
        form.setTopMargin(CODE_PAD + CODE_SPACE if _is_code(before.blockFormat()) else CODE_SPACE)
        form.setBottomMargin(CODE_SPACE)
        form.setWidth(QTextLength())
        table.setFormat(form)
        tight = QTextBlockFormat()
        tight.setLineHeight(TABLE_HEIGHT, _PROPORTIONAL)
        self._cursor.setPosition(table.firstPosition())
        self._cursor.setPosition(table.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
        self._cursor.mergeBlockFormat(tight)
        bold = QTextCharFormat()
        bold.setFontWeight(QFont.Weight.DemiBold)
        for column in range(table.columns()):
            cell = table.cellAt(0, column)
            self._cursor.setPosition(cell.firstCursorPosition().position())
            if (
                not self._cursor.block().text()
                and self._cursor.block() != cell.lastCursorPosition().block()
            ):
                # Qt's reader leaves an empty line in the first cell of a table that follows other text.
                self._cursor.deleteChar()
                self._cursor.setBlockFormat(QTextBlockFormat())
            ground = cell.format()
            ground.setBackground(self._theme.color("code_ground"))
            cell.setFormat(ground)
            start, end = cell.firstPosition(), cell.lastPosition()
            self._merge(start, end - start, bold)
        after = self._document.findBlock(table.lastPosition() + 1)
        if after.isValid() and not after.text():
            # The line that Qt needs after a table: none to be seen.
            shape = QTextBlockFormat()
            shape.setLineHeight(1, _FIXED)
            self._shape(after, shape)


def _is_code(form: QTextBlockFormat) -> bool:
    return form.hasProperty(_Property.BlockCodeFence) or form.hasProperty(
        _Property.BlockCodeLanguage
    )


def leading(document: QTextDocument) -> float:
    """The free space below the last line's words: Qt makes a line taller at its lower edge."""
    block = document.lastBlock()
    form = block.blockFormat()
    count = block.layout().lineCount()
    if form.lineHeightType() != _PROPORTIONAL or not count:
        return 0.0
    return block.layout().lineAt(count - 1).height() * (form.lineHeight() / 100 - 1)
