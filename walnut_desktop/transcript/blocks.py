"""What a chat shows: a list of typed blocks, each with a key that stays the same for its whole life.

The builder (`transcript.chat`) makes them from stream lines; the window lays them out. Values only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Union


class ToolState(str, Enum):
    """How far a tool call is."""

    WRITING = "writing"  # the model still writes its input
    RUNNING = "running"
    WAITING = "waiting"  # a permission, question or plan waits for the person
    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class Level(str, Enum):
    """How a notice is meant."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class UserBlock:
    """What the person (or a schedule) said, at the place where the agent took it up."""

    key: str
    text: str
    uuid: str = ""
    at: str = ""  # ISO time, empty when unknown
    images: int = 0


@dataclass(frozen=True)
class TextBlock:
    """Markdown of the agent. `streaming` while it still grows; only ever grows at its end until then."""

    key: str
    text: str
    streaming: bool = False
    parent: str = ""  # tool_use_id of the sub-agent it belongs to


@dataclass(frozen=True)
class ThinkingBlock:
    """What the agent thought; shown folded."""

    key: str
    text: str
    streaming: bool = False
    parent: str = ""


@dataclass(frozen=True)
class ToolBlock:
    """One tool call with its input and, later, its result (plain text, maybe with ANSI colours)."""

    key: str
    tool_use_id: str
    name: str
    tool_input: Mapping[str, Any] = field(default_factory=dict)
    state: ToolState = ToolState.RUNNING
    result: str = ""
    images: int = 0
    parent: str = ""


@dataclass(frozen=True)
class NoticeBlock:
    """Something that happened to the session: interrupted, compacted, retrying, unreadable lines, error."""

    key: str
    text: str
    level: Level = Level.INFO


@dataclass(frozen=True)
class TurnBlock:
    """The end of a turn: a quiet line with its length and price. `ok` is False for a failed one."""

    key: str
    ok: bool
    duration_ms: int = 0
    cost_usd: float = 0.0
    text: str = ""  # for a failed turn: what went wrong, for a person


Block = Union[UserBlock, TextBlock, ThinkingBlock, ToolBlock, NoticeBlock, TurnBlock]


class Change(NamedTuple):
    """One step of a growing chat: `block` is new at the end, or replaces the one with the same key."""

    block: Block
    is_new: bool


_LABEL_FIELDS = (
    "command",
    "file_path",
    "path",
    "notebook_path",
    "pattern",
    "query",
    "url",
    "description",
    "prompt",
    "skill",
)


def tool_headline(name: str, tool_input: Mapping[str, Any]) -> str:
    """The one line that says what a tool call does: its command, path, pattern … (may be empty)."""
    for key in _LABEL_FIELDS:
        value = tool_input.get(key)
        if isinstance(value, str) and value.strip():
            first = value.strip().split("\n", 1)[0]
            return first if len(first) <= 200 else first[:199] + "…"
    return ""


def plain_text(block: Block) -> str:
    """The block as text for copying and searching; markdown stays markdown."""
    if isinstance(block, ToolBlock):
        head = f"{block.name}: {tool_headline(block.name, block.tool_input)}".rstrip(": ")
        return f"{head}\n{block.result}".rstrip()
    return block.text
