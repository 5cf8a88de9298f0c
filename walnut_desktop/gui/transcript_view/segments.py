"""Cuts markdown into closed pieces, so that a growing message costs the same however long it is. Pure.

A piece ends at a blank line outside a code fence when the next line begins a new thought (no list item, quote
or table row: those would lose their context). A long fence is closed and opened again, a long table gets its
head again, a long list goes on in the next piece. Bounded cost is worth more than one paragraph in two.
"""

from __future__ import annotations

import re
from typing import NamedTuple

SOFT_SIZE = 1200
HARD_SIZE = 8000
FENCE_LINES = 60
OTHER_LINES = 100
WHOLE_SIZE = 4000
"""A finished text up to this size (and some lines) is one piece: cutting it would cost more than it saves."""

_FENCE = re.compile(r"^(`{3,}|~{3,})(.*)$")
_CONTINUES = re.compile(r"^(\s|[-*+>|]|\d+[.)])")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")


class Piece(NamedTuple):
    """A piece as markdown of its own, and where in the whole text it stands."""

    text: str
    begin: int
    end: int
    joins: bool = False  # goes on with the code of the piece before
    joined: bool = False  # the next piece goes on with its code


class Segmenter:
    """Fed with text that only grows; `done` never changes again, the open rest follows it in `all`."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self.done: list[Piece] = []
        self._text = ""
        self._prefix = ""  # what opens a fence or a table again; in front of the open piece
        self._start = 0  # where the open piece begins
        self._scanned = 0  # where the first line begins that is not looked at yet
        self._mark = ""  # what opened the fence we are in
        self._info = ""
        self._joins = False
        self._lines = 0
        self._last = ""  # the line before
        self._table = ""  # the head of the table we are in

    @property
    def text(self) -> str:
        """All it was given."""
        return self._text

    def grow(self, text: str) -> None:
        """The whole text so far. One that is not a longer form of the last begins anew."""
        if not text.startswith(self._text):
            self._reset()
        self._text = text
        while True:
            end = text.find("\n", self._scanned)
            if end < 0:
                break
            start, self._scanned = self._scanned, end + 1
            self._shorten(end)
            line = text[start:end]
            if self._mark:
                self._in_fence(line)
            else:
                self._outside(line, start)
            if self._scanned - self._start >= HARD_SIZE:
                self._cut(self._scanned)
        self._shorten(len(text))

    def _shorten(self, end: int) -> None:
        """A line without an end is cut at some space."""
        while end - self._start >= 2 * HARD_SIZE:
            most = self._start + HARD_SIZE
            space = self._text.rfind(" ", most - HARD_SIZE // 2, most)
            self._cut(space + 1 if space > 0 else most)

    def _cut(self, end: int) -> None:
        """The open piece is closed at `end`."""
        piece = self._prefix + self._text[self._start : end]
        inside = bool(self._mark)
        if inside:
            piece += f"{self._mark}\n" if piece.endswith("\n") else f"\n{self._mark}\n"
        self.done.append(Piece(piece, self._start, end, self._joins, inside))
        self._start = end
        self._prefix = f"{self._mark}{self._info}\n" if inside else self._table
        self._joins = inside
        self._lines = 0

    def _in_fence(self, line: str) -> None:
        self._lines += 1
        closing = _FENCE.match(line)
        if closing and closing[1].startswith(self._mark) and not closing[2].strip():
            self._mark = ""
            self._last = line
        elif self._lines >= FENCE_LINES:
            self._cut(self._scanned)

    def _outside(self, line: str, start: int) -> None:
        blank_before = not self._last.strip()
        if blank_before:
            self._table = ""
        if self._is_good_end(line, start, blank_before=blank_before):
            self._cut(start)
        self._lines += 1
        opening = _FENCE.match(line)
        if opening and not (opening[1][0] == "`" and "`" in opening[2]):
            self._mark, self._info, self._lines, self._table = opening[1], opening[2], 0, ""
        elif "|" in self._last and "-" in line and _TABLE_RULE.match(line):
            self._table = f"{self._last}\n{line}\n"
        self._last = line

    def _is_good_end(self, line: str, start: int, *, blank_before: bool) -> bool:
        """Whether the open piece ends before this line."""
        if self._lines >= OTHER_LINES:
            # In the middle of something long; not inside an item, but for one without an end.
            return not line[:1].isspace() or self._lines >= 4 * OTHER_LINES
        grown = start - self._start >= SOFT_SIZE
        return grown and blank_before and bool(line) and not _CONTINUES.match(line)

    def all(self) -> list[Piece]:
        """Every piece, the open one last; never empty."""
        rest = self._text[self._start :]
        if rest.strip() or not self.done:
            piece = Piece(self._prefix + rest, self._start, len(self._text), self._joins)
            return [*self.done, piece]
        last = self.done[-1]._replace(end=len(self._text), joined=False)
        return [*self.done[:-1], last]


def split(text: str) -> list[Piece]:
    """The pieces of a finished text."""
    if len(text) <= WHOLE_SIZE and text.count("\n") <= FENCE_LINES:
        return [Piece(text, 0, len(text))]
    segmenter = Segmenter()
    segmenter.grow(text)
    return segmenter.all()


def fence_around(text: str, offset: int) -> str:
    """The code of the fence that has a place inside; empty when there is none."""
    mark, begin, at = "", 0, 0
    for line in text.split("\n"):
        after = at + len(line) + 1
        found = _FENCE.match(line)
        if mark:
            if found and found[1].startswith(mark) and not found[2].strip():
                if begin <= offset < at:
                    return text[begin : at - 1]
                mark = ""
        elif found and not (found[1][0] == "`" and "`" in found[2]):
            mark, begin = found[1], after
        at = after
    return text[begin:].rstrip("\n") if mark and begin <= offset else ""
