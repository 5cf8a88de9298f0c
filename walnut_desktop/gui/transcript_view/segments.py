"""Cuts markdown into closed pieces, so that a growing message costs the same however long it is. Pure.

A piece ends at a blank line outside a code fence when the next line begins a new thought (no list item, quote
or table row: those would lose their context). A long fence is closed and opened again every 120 lines.
"""

from __future__ import annotations

import re

SOFT_SIZE = 1200
FENCE_LINES = 120

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_CONTINUES = re.compile(r"^(\s|[-*+>|]|\d+[.)])")


class Segmenter:
    """Fed with text that only grows; `done` never changes again, `tail` is still open."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.tail = ""
        self._length = 0
        self._scanned = 0
        self._mark = ""  # what opened the fence we are in
        self._info = ""
        self._fence_lines = 0
        self._blank_before = False

    def grow(self, text: str) -> None:
        """The whole text so far; the part that was there before must be the same."""
        new = text[self._length :]
        self._length = len(text)
        self.tail += new
        while True:
            end = self.tail.find("\n", self._scanned)
            if end < 0:
                return
            line, start = self.tail[self._scanned : end], self._scanned
            self._scanned = end + 1
            if self._mark:
                self._in_fence(line)
            else:
                self._outside(line, start)

    def _in_fence(self, line: str) -> None:
        self._fence_lines += 1
        closing = _FENCE.match(line)
        if closing and closing[1].startswith(self._mark) and not closing[2].strip():
            self._mark = ""
            self._blank_before = False
        elif self._fence_lines >= FENCE_LINES:
            self.done.append(f"{self.tail[: self._scanned]}{self._mark}\n")
            opening = f"{self._mark}{self._info}\n"
            self.tail = opening + self.tail[self._scanned :]
            self._scanned = len(opening)
            self._fence_lines = 0

    def _outside(self, line: str, start: int) -> None:
        if self._blank_before and start >= SOFT_SIZE and line and not _CONTINUES.match(line):
            self.done.append(self.tail[:start])
            self.tail = self.tail[start:]
            self._scanned -= start
        opening = _FENCE.match(line)
        if opening and not line.startswith(" "):
            self._mark, self._info, self._fence_lines = opening[1], opening[2], 0
        self._blank_before = not line.strip()

    def all(self) -> list[str]:
        """Every piece, the open one last; never empty."""
        return [*self.done, self.tail] if self.tail.strip() or not self.done else list(self.done)


def split(text: str) -> list[str]:
    """The pieces of a finished text."""
    segmenter = Segmenter()
    segmenter.grow(text)
    return segmenter.all()
