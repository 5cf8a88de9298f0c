"""Markdown as a document: Qt's own reader without HTML, then one walk that makes it safe and fair (D28).

Nothing is ever loaded: every wish of the document for a resource is refused, and images become words before
the first layout. Only http, https and mailto addresses are links.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Token, _TokenType
from pygments.util import ClassNotFound
from PySide6.QtCore import QUrl
from PySide6.QtGui import (
    QColor,
    QFont,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrame,
    QTextFrameFormat,
    QTextLayout,
    QTextLength,
    QTextTable,
)

from walnut_desktop.gui.guard import never_raises
from walnut_desktop.gui.theme import Theme

SAFE_SCHEMES = ("http://", "https://", "mailto:")
MAX_HIGHLIGHT = 30_000
LINE_HEIGHT = 128.0
CODE_MARGIN = 12

_COLOURS: dict[_TokenType, str] = {
    Token.Keyword: "syntax_keyword",
    Token.Operator.Word: "syntax_keyword",
    Token.String: "syntax_string",
    Token.Comment: "syntax_comment",
    Token.Number: "syntax_number",
    Token.Name.Function: "syntax_name",
    Token.Name.Class: "syntax_name",
    Token.Name.Builtin: "syntax_name",
    Token.Name.Tag: "syntax_name",
    Token.Name.Attribute: "syntax_number",
}


class SealedDocument(QTextDocument):
    """A document that loads nothing."""

    refused: list[str]

    def __init__(self, font: QFont) -> None:
        super().__init__()
        self.refused = []
        self.code_runs: list[tuple[int, int]] = []  # first and last block number of each code box
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


def build(text: str, theme: Theme, *, muted: bool = False) -> SealedDocument:
    """The document of a piece of markdown."""
    document = SealedDocument(theme.font)
    features = QTextDocument.MarkdownFeature
    document.setMarkdown(text, features.MarkdownDialectGitHub | features.MarkdownNoHTML)
    _Walk(document, theme, muted=muted).run()
    return document


class _Walk:
    """Once over all blocks of a fresh document."""

    def __init__(self, document: SealedDocument, theme: Theme, *, muted: bool) -> None:
        self._document = document
        self._theme = theme
        self._ink = theme.color("muted" if muted else "text")
        self._cursor = QTextCursor(document)
        self._run: list[QTextBlock] = []
        self._language = ""
        self._bad: list[tuple[int, int, QTextCharFormat]] = []

    def run(self) -> None:
        """Do it."""
        self._cursor.beginEditBlock()
        self._common()
        block = self._document.begin()
        while block.isValid():
            self._block(block)
            block = block.next()
        self._close_code()
        self._replace_bad()
        self._tables(self._document.rootFrame())
        self._cursor.endEditBlock()

    def _common(self) -> None:
        self._cursor.select(QTextCursor.SelectionType.Document)
        lines = QTextBlockFormat()
        lines.setLineHeight(LINE_HEIGHT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        self._cursor.mergeBlockFormat(lines)
        ink = QTextCharFormat()
        ink.setForeground(self._ink)
        self._cursor.mergeCharFormat(ink)

    def _block(self, block: QTextBlock) -> None:
        form = block.blockFormat()
        if form.hasProperty(QTextFormat.Property.BlockCodeFence) or form.nonBreakableLines():
            language = form.stringProperty(QTextFormat.Property.BlockCodeLanguage)
            adjoining = self._run and self._run[-1].blockNumber() == block.blockNumber() - 1
            if self._run and (language != self._language or not adjoining):
                self._close_code()
            self._language = language
            self._run.append(block)
            return
        self._close_code()
        if form.headingLevel():
            self._heading(block, form.headingLevel())
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
        scale = {1: 1.35, 2: 1.2, 3: 1.08}.get(level, 1.0)
        look.setFontPointSize(self._theme.font.pointSizeF() * scale)
        look.setFontWeight(QFont.Weight.DemiBold)
        self._merge(block.position(), block.length() - 1, look)
        self._cursor.setPosition(block.position())
        space = QTextBlockFormat()
        space.setTopMargin(14 if block.blockNumber() else 0)
        space.setBottomMargin(6)
        self._cursor.mergeBlockFormat(space)

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

    def _close_code(self) -> None:
        run, self._run = self._run, []
        if not run:
            return
        first, last = run[0], run[-1]
        look = QTextCharFormat()
        look.setFont(self._theme.mono_font)
        look.setForeground(self._theme.color("code_text"))
        self._merge(first.position(), last.position() + last.length() - 1 - first.position(), look)
        for number, block in enumerate(run):
            space = QTextBlockFormat()
            space.setLeftMargin(CODE_MARGIN)
            space.setRightMargin(CODE_MARGIN)
            space.setTopMargin(CODE_MARGIN if number == 0 else 0)
            space.setBottomMargin(CODE_MARGIN + 4 if number == len(run) - 1 else 0)
            space.setNonBreakableLines(False)
            space.setLineHeight(118.0, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            self._cursor.setPosition(block.position())
            self._cursor.mergeBlockFormat(space)
        self._document.code_runs.append((first.blockNumber(), last.blockNumber()))
        highlight(run, self._language, self._theme)
        self._language = ""

    def _replace_bad(self) -> None:
        """Images become words, and what is no link looks like none."""
        plain = QTextCharFormat()
        plain.setForeground(self._ink)
        for position, length, look in reversed(self._bad):
            self._cursor.setPosition(position)
            self._cursor.setPosition(position + length, QTextCursor.MoveMode.KeepAnchor)
            if look.isImageFormat():
                words = look.property(QTextFormat.Property.ImageAltText) or "no description"
                self._cursor.insertText(f"[image: {words}]", plain)
            else:
                self._cursor.setCharFormat(plain)

    def _tables(self, frame: QTextFrame) -> None:
        for child in frame.childFrames():
            if isinstance(child, QTextTable):
                form = child.format()
                form.setBorder(1)
                form.setBorderBrush(self._theme.color("strong_border"))
                form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
                form.setBorderCollapse(True)
                form.setCellPadding(6)
                form.setCellSpacing(0)
                form.setTopMargin(8)
                form.setBottomMargin(10)
                form.setWidth(QTextLength())
                child.setFormat(form)
            self._tables(child)


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _colour(token: _TokenType | None) -> str:
    while token is not None:
        if token in _COLOURS:
            return _COLOURS[token]
        token = token.parent
    return ""


def highlight(blocks: list[QTextBlock], language: str, theme: Theme) -> None:
    """Colour the lines of one code box, without touching the document's text."""
    lexer = _lexer(language.strip().lower()) if language else None
    source = "\n".join(block.text() for block in blocks)
    if lexer is None or len(source) > MAX_HIGHLIGHT:
        return
    line, column = 0, 0
    formats: list[list[QTextLayout.FormatRange]] = [[] for _ in blocks]
    for token, value in lexer.get_tokens(source):
        role = _colour(token)
        for part in value.splitlines(keepends=True):
            if role and part.strip() and line < len(blocks):
                piece = QTextLayout.FormatRange()
                piece.start, piece.length = column, len(part.rstrip("\n"))
                look = QTextCharFormat()
                look.setForeground(QColor(theme.color(role)))
                piece.format = look
                formats[line].append(piece)
            column += len(part)
            if part.endswith("\n"):
                line, column = line + 1, 0
    for block, ranges in zip(blocks, formats, strict=True):
        if ranges:
            block.layout().setFormats(ranges)
