"""Turns content directives into content blocks, whole and in the pieces of a stream."""

from __future__ import annotations

import json
import re
import uuid
from dataclasses import dataclass

from tests.fakes.messages_api.script import CALLS, Directive, fill_in

PIECE = 2000
"""Characters per delta of a long text or a tool's input."""

MANY_WORDS = 200
"""A text with more words is sent in pieces of equal length instead of by word."""

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Block:
    """A content block: whole, as it begins in a stream, and the deltas that complete it."""

    whole: Json
    opening: Json
    deltas: list[Json]
    pause: float = 0.0
    """Seconds after each delta."""

    @property
    def size(self) -> int:
        """Characters, for a believable usage."""
        return sum(len(str(value)) for delta in self.deltas for value in delta.values())


def make_block(directive: Directive, conversation: str) -> Block:
    """The block that a content directive asks for."""
    name = directive.name
    if name in CALLS:
        return _call(directive, conversation)
    if name == "think":
        return _thinking(directive.text)
    if name == "long":
        return _text(numbered_lines(int(directive.number())))
    if name == "slow":
        count, milliseconds = [*directive.words(), "10"][:2]
        words = " ".join(f"w{index}" for index in range(int(count)))
        return _text(words, float(milliseconds) / 1000)
    return _text(str(fill_in(directive.text, conversation)))


def numbered_lines(size: int) -> str:
    """A text of that many characters in which every place can be told from every other."""
    line = "line %07d of the long answer\n"
    count = size // len(line % 0) + 1
    return "".join(line % index for index in range(count))[:size]


def _text(text: str, pause: float = 0.0) -> Block:
    pieces = re.findall(r"\S+\s*|\s+", text)
    if not pause and len(pieces) > MANY_WORDS:
        pieces = _cut(text)
    deltas: list[Json] = [{"type": "text_delta", "text": piece} for piece in pieces or [""]]
    return Block({"type": "text", "text": text}, {"type": "text", "text": ""}, deltas, pause)


def _thinking(text: str) -> Block:
    signature = "bWFkZS11cA=="
    deltas: list[Json] = [{"type": "thinking_delta", "thinking": piece} for piece in _cut(text)]
    deltas.append({"type": "signature_delta", "signature": signature})
    whole: Json = {"type": "thinking", "thinking": text, "signature": signature}
    return Block(whole, {"type": "thinking", "thinking": "", "signature": ""}, deltas)


def _call(directive: Directive, conversation: str) -> Block:
    if directive.name == "badtool":
        called, _, raw = directive.text.partition(" ")
        given: object = {}
    else:
        called = directive.text
        given = fill_in(directive.value, conversation)
        raw = json.dumps(given)
    head: Json = {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:22]}", "name": called}
    deltas: list[Json] = [
        {"type": "input_json_delta", "partial_json": piece} for piece in _cut(raw)
    ]
    return Block({**head, "input": given}, {**head, "input": {}}, deltas)


def _cut(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)] or [""]
