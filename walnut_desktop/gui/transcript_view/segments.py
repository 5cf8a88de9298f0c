"""Cuts markdown into closed pieces, so that a growing message costs the same however long it is. Pure.

A piece ends at a blank line outside a code fence when the next line begins a new thought (no list item, quote
or table row: those would lose their context). A long fence is closed and opened again. What has no such place
is cut hard after `HARD_SIZE`: bounded cost is worth more than one paragraph in two.
"""

from __future__ import annotations

import re

SOFT_SIZE = 1200
HARD_SIZE = 16_000
FENCE_LINES = 120
WHOLE_SIZE = 4000
"""A finished text up to this size is one piece: cutting it would cost more than it saves."""

_FENCE = re.compile(r"^(`{3,}|~{3,})(.*)$")
_CONTINUES = re.compile(r"^(\s|[-*+>|]|\d+[.)])")


class Segmenter:
    """Fed with text that only grows; `done` never changes again, the open rest follows it in `all`."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self.done: list[str] = []
        self.ends: list[int] = []
        """Where in the whole text each piece of `done` ends."""
        self._text = ""
        self._prefix = ""  # what opens a reopened fence again; in front of the open piece
        self._start = 0  # where the open piece begins
        self._scanned = 0  # where the first line begins that is not looked at yet
        self._mark = ""  # what opened the fence we are in
        self._info = ""
        self._fence_lines = 0
        self._blank_before = False

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
        if self._mark:
            piece += f"{self._mark}\n" if piece.endswith("\n") else f"\n{self._mark}\n"
        self.done.append(piece)
        self.ends.append(end)
        self._start = end
        self._prefix = f"{self._mark}{self._info}\n" if self._mark else ""
        self._fence_lines = 0

    def _in_fence(self, line: str) -> None:
        self._fence_lines += 1
        closing = _FENCE.match(line)
        if closing and closing[1].startswith(self._mark) and not closing[2].strip():
            self._mark = ""
            self._blank_before = False
        elif self._fence_lines >= FENCE_LINES:
            self._cut(self._scanned)

    def _outside(self, line: str, start: int) -> None:
        grown = start - self._start >= SOFT_SIZE
        if grown and self._blank_before and line and not _CONTINUES.match(line):
            self._cut(start)
        opening = _FENCE.match(line)
        if opening and not (opening[1][0] == "`" and "`" in opening[2]):
            self._mark, self._info, self._fence_lines = opening[1], opening[2], 0
        self._blank_before = not line.strip()

    def all(self) -> list[str]:
        """Every piece, the open one last; never empty."""
        rest = self._text[self._start :]
        if rest.strip() or not self.done:
            return [*self.done, self._prefix + rest]
        return list(self.done)


def split(text: str) -> list[str]:
    """The pieces of a finished text."""
    if len(text) <= WHOLE_SIZE:
        return [text]
    segmenter = Segmenter()
    segmenter.grow(text)
    return segmenter.all()
