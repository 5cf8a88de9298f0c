"""Documents of words as they are: messages, notices, and what tools got and gave."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextOption,
)

from walnut_desktop.gui.theme import Theme
from walnut_desktop.gui.transcript_view import ansi, markdown
from walnut_desktop.gui.transcript_view.markdown import SealedDocument
from walnut_desktop.gui.transcript_view.tool_text import Part

_PROPORTIONAL = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value
_OUTPUT_HEIGHT = 110.0
_DIFF = ("added", "removed", "same")
_SIGNS = {"added": "+ ", "removed": "- ", "same": "  "}
_INKS = {
    "path": "muted",
    "input": "text",
    "added": "text",
    "removed": "text",
    "same": "muted",
    "result": "code_text",
    "note": "muted",
}
_GROUNDS = {"added": "success_ground", "removed": "danger_ground"}


def words(
    text: str, theme: Theme, *, role: str = "text", small: bool = False, centred: bool = False
) -> SealedDocument:
    """Prose in which nothing is read as markup."""
    document = _wrapping(theme.small_font if small else theme.font)
    document.setPlainText(ansi.clean(text)[0].strip("\n"))
    cursor = QTextCursor(document)
    cursor.select(QTextCursor.SelectionType.Document)
    look = QTextCharFormat()
    look.setForeground(theme.color(role))
    cursor.mergeCharFormat(look)
    form = QTextBlockFormat()
    form.setLineHeight(markdown.LINE_HEIGHT, _PROPORTIONAL)
    if centred:
        form.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    cursor.mergeBlockFormat(form)
    return document


def output(parts: Sequence[Part], theme: Theme) -> SealedDocument:
    """What a tool got and gave: mono, coloured, changes on a ground of their own."""
    document = _wrapping(theme.mono_font)
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    last = ""
    for part in parts:
        form = QTextBlockFormat()
        # Lines with a ground of their own lie close, or there would be stripes between them.
        form.setLineHeight(100.0 if part.kind in _DIFF else _OUTPUT_HEIGHT, _PROPORTIONAL)
        if part.kind == "result":
            # Output keeps its order even if it begins with a word of a right-to-left language.
            form.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        if part.kind in _GROUNDS:
            form.setBackground(theme.color(_GROUNDS[part.kind]))
        space = QTextBlockFormat(form)
        if last and not (last in _DIFF and part.kind in _DIFF):
            space.setTopMargin(4 if last in ("path", "note") else 12)
        if last:
            cursor.insertBlock(space)
        else:
            cursor.setBlockFormat(space)
        _insert(cursor, part, form, theme)
        last = part.kind
    cursor.endEditBlock()
    return document


def _insert(cursor: QTextCursor, part: Part, form: QTextBlockFormat, theme: Theme) -> None:
    look = QTextCharFormat()
    look.setForeground(theme.color(_INKS[part.kind]))
    look.setFont(theme.small_font if part.kind == "note" else theme.mono_font)
    text = part.text
    sign = _SIGNS.get(part.kind, "")
    if sign:
        text = "\n".join(sign + line for line in text.split("\n"))
    start = cursor.position()
    at = 0
    for run in part.runs:
        cursor.insertText(text[at : run.start], look)
        colour = QTextCharFormat(look)
        if run.color >= 0:
            colour.setForeground(QColor(ansi.rgb(run.color, dark=theme.is_dark)))
        if run.bold:
            colour.setFontWeight(QFont.Weight.Bold)
        at = run.start + run.length
        cursor.insertText(text[run.start : at], colour)
    cursor.insertText(text[at:], look)
    if sign == "" or "\n" in text:
        end = cursor.position()
        cursor.setPosition(start)
        if cursor.movePosition(QTextCursor.MoveOperation.NextBlock):
            # The lines after the first have its space above them: take that back.
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            cursor.setBlockFormat(form)
        cursor.setPosition(end)


def lines(document: SealedDocument, first: int, last: int) -> str:
    """The text of some blocks, line by line."""
    return "\n".join(document.findBlockByNumber(number).text() for number in range(first, last + 1))


def _wrapping(font: QFont) -> SealedDocument:
    document = SealedDocument(font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    option.setTabStopDistance(32)
    document.setDefaultTextOption(option)
    return document
