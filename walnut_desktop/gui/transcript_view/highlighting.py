"""Colours for code (library pygments, imported with the first code that is shown).

They are laid over the lines of a document; its text is not touched.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from PySide6.QtGui import QTextBlock, QTextCharFormat, QTextLayout

from walnut_desktop.gui.theme import Theme

MAX_CODE = 8000
"""Characters of one box that can be coloured within a frame."""

MAX_LIVE_CODE = 2500
"""While text streams in, the same box is coloured again with every frame."""

_ROLES = {
    "Token.Keyword": "syntax_keyword",
    "Token.Operator.Word": "syntax_keyword",
    "Token.Literal.String": "syntax_string",
    "Token.Comment": "syntax_comment",
    "Token.Literal.Number": "syntax_number",
    "Token.Name.Function": "syntax_name",
    "Token.Name.Class": "syntax_name",
    "Token.Name.Builtin": "syntax_name",
    "Token.Name.Tag": "syntax_name",
    "Token.Name.Attribute": "syntax_number",
    "Token.Generic.Inserted": "success",
    "Token.Generic.Deleted": "danger",
    "Token.Generic.Subheading": "syntax_name",
}


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _role(token: Any) -> str:
    """The colour of a kind of token: its own, or that of the kind it belongs to."""
    while token is not None:
        role = _ROLES.get(str(token))
        if role:
            return role
        token = token.parent
    return ""


def highlight(blocks: list[QTextBlock], language: str, theme: Theme, most: int = MAX_CODE) -> None:
    """Colour the lines of one code box, unless it is too long for one frame."""
    lexer = _lexer(language.strip().lower()) if language.strip() else None
    source = "\n".join(block.text() for block in blocks)
    if lexer is None or len(source) > most:
        return
    wide = not source.isascii()
    line, column = 0, 0
    formats: list[list[QTextLayout.FormatRange]] = [[] for _ in blocks]
    looks: dict[str, QTextCharFormat] = {}
    for token, value in lexer.get_tokens(source):
        role = _role(token)
        for number, part in enumerate(value.split("\n")):
            if number:
                line, column = line + 1, 0
            # Qt counts in UTF-16.
            length = len(part.encode("utf-16-le", "surrogatepass")) // 2 if wide else len(part)
            if role and length and line < len(blocks):
                look = looks.get(role)
                if look is None:
                    look = looks[role] = QTextCharFormat()
                    look.setForeground(theme.color(role))
                piece = QTextLayout.FormatRange()
                piece.start, piece.length, piece.format = column, length, look
                formats[line].append(piece)
            column += length
    for block, ranges in zip(blocks, formats, strict=True):
        if ranges:
            block.layout().setFormats(ranges)
