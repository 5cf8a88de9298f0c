"""A tool call in words: what it got and what it gave, cut to what a person can read. No Qt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from walnut_desktop.gui.transcript_view.ansi import Run, clean
from walnut_desktop.gui.transcript_view.rows import Unfolded
from walnut_desktop.transcript.blocks import ToolBlock, ToolState

PREVIEW_LINES = 6
SHORT_LINES = 12
MOST_LINES = 2000
MOST_CHARACTERS = 200_000
LONGEST_LINE = 4000

ICONS = {
    "Bash": "terminal",
    "Read": "file",
    "Write": "file",
    "Edit": "pencil",
    "MultiEdit": "pencil",
    "NotebookEdit": "pencil",
    "Glob": "search",
    "Grep": "search",
    "WebSearch": "globe",
    "WebFetch": "globe",
    "Agent": "agent",
    "Task": "agent",
    "TodoWrite": "list",
}

STATES = {
    ToolState.WRITING: "Writing…",
    ToolState.RUNNING: "Running…",
    ToolState.WAITING: "Needs you",
    ToolState.DONE: "Done",
    ToolState.FAILED: "Failed",
    ToolState.INTERRUPTED: "Interrupted",
}


class Part(NamedTuple):
    """A stretch of the body: `kind` is input, added, removed, result or note."""

    kind: str
    text: str
    runs: tuple[Run, ...] = ()


class Body(NamedTuple):
    """What is shown below the headline, and the words of the line that shows more (empty for none)."""

    parts: tuple[Part, ...]
    more: str


def icon_name(name: str) -> str:
    """The drawing for a tool."""
    return ICONS.get(name, "wrench")


def body(block: ToolBlock, unfolded: Unfolded) -> Body:
    """The body of a call: nothing while folded, but the first lines of a failure."""
    if unfolded is Unfolded.NO:
        if block.state is not ToolState.FAILED or not block.result.strip():
            return Body((), "")
        part, _ = _result(block, PREVIEW_LINES)
        return Body((part,), "")
    parts = list(_input_parts(block.name, block.tool_input, whole=unfolded is Unfolded.ALL))
    more = ""
    if block.images:
        parts.append(Part("note", f"{block.images} image{'s' if block.images > 1 else ''}"))
    if block.result.strip():
        lines = MOST_LINES if unfolded is Unfolded.ALL else SHORT_LINES
        part, left = _result(block, lines)
        parts.append(part)
        if left and unfolded is Unfolded.YES:
            more = f"Show all {left:,} lines" if left > 1 else "Show all"
        elif left:
            more = f"Open all of it ({_size(len(block.result))})"
    elif block.state is ToolState.DONE:
        parts.append(Part("note", "No output"))
    return Body(tuple(parts), more)


def _size(count: int) -> str:
    return f"{count / 1_000_000:.1f} MB" if count >= 1_000_000 else f"{max(1, count // 1000)} KB"


def _result(block: ToolBlock, lines: int) -> tuple[Part, int]:
    """The first lines of the result, and how many it has in all if that is more."""
    raw = block.result
    cut = raw if len(raw) <= MOST_CHARACTERS else raw[:MOST_CHARACTERS]
    text, runs = clean(cut.rstrip("\n"))
    rows = text.split("\n")
    total = len(rows) if len(raw) <= MOST_CHARACTERS else raw.count("\n") + 1
    shown = [row if len(row) <= LONGEST_LINE else row[:LONGEST_LINE] + " …" for row in rows[:lines]]
    joined = "\n".join(shown)
    if any(len(row) > LONGEST_LINE for row in rows[:lines]):
        runs = []
    more = total > lines or len(raw) > MOST_CHARACTERS
    kept = tuple(run for run in runs if run.start + run.length <= len(joined))
    return Part("result", joined, kept), max(total, 2) if more else 0


def _input_parts(name: str, tool_input: Mapping[str, Any], *, whole: bool) -> list[Part]:
    limit = MOST_LINES if whole else SHORT_LINES * 2
    if name == "Bash" and isinstance(tool_input.get("command"), str):
        return [Part("input", _cut(tool_input["command"], limit))]
    if "old_string" in tool_input and "new_string" in tool_input:
        return [
            Part("note", str(tool_input.get("file_path") or "")),
            Part("removed", _prefixed(str(tool_input["old_string"]), "- ", limit)),
            Part("added", _prefixed(str(tool_input["new_string"]), "+ ", limit)),
        ]
    if isinstance(tool_input.get("content"), str) and tool_input.get("file_path"):
        return [
            Part("note", str(tool_input["file_path"])),
            Part("added", _prefixed(tool_input["content"], "+ ", limit)),
        ]
    if not tool_input:
        return []
    return [Part("input", _cut(json.dumps(dict(tool_input), indent=2, ensure_ascii=False), limit))]


def _cut(text: str, lines: int) -> str:
    text, _ = clean(text[:MOST_CHARACTERS])
    rows = text.split("\n")
    cut = rows[:lines]
    if len(rows) > lines:
        cut.append(f"… {len(rows) - lines:,} more lines")
    return "\n".join(row if len(row) <= LONGEST_LINE else row[:LONGEST_LINE] + " …" for row in cut)


def _prefixed(text: str, prefix: str, lines: int) -> str:
    return "\n".join(prefix + row for row in _cut(text, lines).split("\n"))
