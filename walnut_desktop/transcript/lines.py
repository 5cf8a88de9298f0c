"""From bytes of a stream file to lines, and from lines to objects; nothing here can fail on bad input.

A stream file holds what the agent wrote to stdout, between marker lines that the daemon writes. Lines end
at LF only (U+2028 inside a line is text). A torn last line waits for its rest. After a full disk a torn
line can be glued to a whole one: what can be saved is saved (cli-protocol 1.2).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Optional

Loads = Callable[[bytes], Any]

MAX_LINE = 8 * 1024 * 1024


def plain_loads(raw: bytes) -> Any:
    """The value of JSON, with texts that can be stored and sent; the same as faster libraries give."""
    value = json.loads(raw)
    return _storable(value) if b"\\u" in raw or b"\xed" in raw else value


def _storable(value: Any) -> Any:
    """The value without halves of surrogate pairs, as an agent writes them that cuts a text in an emoji."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.loads(text.encode("utf-8", "replace"))
    return value


class Line(NamedTuple):
    """One line: its object, or None when it can't be read, and the byte offsets of its two ends."""

    obj: dict[str, Any] | None
    start: int
    end: int
    torn: bool = False  # garbage stood before the object


class LineSplitter:
    """Cuts a byte stream into whole lines and knows each one's offsets.

    A line over `max_line` bytes is dropped up to its newline and reported as unreadable: memory is
    bounded.
    """

    def __init__(self, offset: int = 0, max_line: int = MAX_LINE) -> None:
        self.offset = offset  # end of the last whole line
        self._max = max_line
        self._parts: list[bytes] = []
        self._size = 0
        self._skipped = 0

    @property
    def read_offset(self) -> int:
        """Where the next byte to be fed lies in the file."""
        return self.offset + self._skipped + self._size

    def feed(self, chunk: bytes) -> list[tuple[Optional[bytes], int, int]]:
        """Whole lines as (bytes without newline, or None if too long, start, end)."""
        pieces = chunk.split(b"\n")
        rest = pieces.pop()
        lines: list[tuple[Optional[bytes], int, int]] = []
        end = self.offset
        for piece in pieces:
            start = end
            if self._size or self._skipped:
                piece = b"".join([*self._parts, piece])
                end = start + self._skipped + len(piece) + 1
                lines.append((None if self._skipped else piece, start, end))
                self._parts, self._size, self._skipped = [], 0, 0
            else:
                end = start + len(piece) + 1
                lines.append((piece, start, end))
        self.offset = end
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
            if self._size > self._max:
                self._skipped += self._size
                self._parts, self._size = [], 0
        return lines


def parse(raw: bytes, loads: Loads = plain_loads) -> tuple[dict[str, Any] | None, bool]:
    """The object of a line and whether garbage stood before it; (None, False) when nothing can be saved."""
    text = raw.strip(b" \t\r\x00")
    if not text:
        return None, False
    obj = _try(text, loads)
    if obj is not None:
        return obj, False
    at = text.find(b'{"', 1)
    tries = 0
    while at >= 0 and tries < 64:
        obj = _try(text[at:], loads)
        if obj is not None and "type" in obj:
            return obj, True
        at = text.find(b'{"', at + 1)
        tries += 1
    return None, False


def _try(text: bytes, loads: Loads) -> dict[str, Any] | None:
    if not text.startswith(b"{"):
        return None
    try:
        obj = loads(text)
    except (ValueError, RecursionError):
        # Invalid UTF-8 and half pairs are refused: show what is readable instead of nothing.
        try:
            obj = _storable(json.loads(text.decode("utf-8", "replace")))
        except (ValueError, RecursionError):
            return None
    return obj if isinstance(obj, dict) else None


# What a piece of streamed text is for the fold: it says only that the model speaks. Parsing every one would
# cost more than all other lines together.
_DELTA_HEAD = b'{"type":"stream_event"'
DELTA: dict[str, Any] = {"type": "stream_event"}


def read_lines(
    splitter: LineSplitter, chunk: bytes, loads: Loads = plain_loads, *, skip_deltas: bool = False
) -> Iterator[Line]:
    """The lines that `chunk` completes; blank lines are left out.

    With `skip_deltas` a run of streamed pieces comes as one `DELTA`, unparsed. Only a line with as many
    opening as closing braces is taken for one: a torn line that is glued to a whole one is looked at closely.
    """
    first = -1
    last = 0
    for raw, start, end in splitter.feed(chunk):
        if (
            skip_deltas
            and raw is not None
            and raw.startswith(_DELTA_HEAD)
            and raw.endswith(b"}")
            and raw.count(b"{") == raw.count(b"}")
        ):
            if first < 0:
                first = start
            last = end
            continue
        if first >= 0:
            yield Line(DELTA, first, last)
            first = -1
        if raw is None:
            yield Line(None, start, end)
            continue
        try:
            obj = loads(raw)
        except (ValueError, RecursionError):
            obj = None
        if type(obj) is dict:
            yield Line(obj, start, end)
        elif raw.strip():
            obj, torn = parse(raw, loads)
            yield Line(obj, start, end, torn)
    if first >= 0:
        yield Line(DELTA, first, last)
