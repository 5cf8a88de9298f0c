"""A tool call in words: what it got and what it gave, cut to what a person can read. No Qt."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from walnut_desktop.gui.transcript_view.ansi import Run, clean
from walnut_desktop.gui.transcript_view.rows import Unfolded
from walnut_desktop.transcript.blocks import ToolBlock, ToolState, tool_headline

PREVIEW_LINES = 6
SHORT_LINES = 12
MOST_LINES = 2000
MOST_CHARACTERS = 200_000
LONGEST_LINE = 2000
MOST_DIFF_LINES = 400
_IN_HEADLINE = frozenset({"file_path", "notebook_path", "pattern"})

ICONS = {
    "Bash": "terminal",
    "BashOutput": "terminal",
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
    "ExitPlanMode": "list",
    "AskUserQuestion": "info",
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
    """A stretch of the body: `kind` is path, input, added, removed, same, result or note."""

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


def title(name: str) -> str:
    """The tool's name for a person: `mcp__files__read_all` is `files: read all`."""
    parts = name.split("__")
    if len(parts) == 3 and parts[0] == "mcp":
        return f"{parts[1]}: {parts[2].replace('_', ' ')}"
    return name


def headline(block: ToolBlock) -> str:
    """What the call does, in one line."""
    given = block.tool_input
    pattern = given.get("pattern")
    if isinstance(pattern, str) and pattern.strip():
        where = given.get("path") or given.get("glob")
        words = f"{pattern}  in {where}" if isinstance(where, str) and where else pattern
    else:
        words = tool_headline(block.name, given)
    return clean(" ".join(words.split("\n", 1)[0].split("\t")))[0][:300]


def body(block: ToolBlock, unfolded: Unfolded) -> Body:
    """The body of a call: nothing while folded, but the first lines of a failure."""
    if unfolded is Unfolded.NO:
        if block.state is not ToolState.FAILED or not block.result.strip():
            return Body((), "")
        part, all_lines = _result(block, PREVIEW_LINES)
        return Body((part,), _rest(all_lines - PREVIEW_LINES) if all_lines else "")
    parts = list(_input_parts(block.tool_input, whole=unfolded is Unfolded.ALL))
    more = ""
    if block.images:
        parts.append(Part("note", f"{block.images} image{'s' if block.images > 1 else ''}"))
    if block.result.strip():
        lines = MOST_LINES if unfolded is Unfolded.ALL else SHORT_LINES
        part, all_lines = _result(block, lines)
        parts.append(part)
        if all_lines and unfolded is Unfolded.YES and _fits(block.result, all_lines):
            more = f"Show all {all_lines:,} lines"
        elif all_lines and unfolded is Unfolded.YES and all_lines > SHORT_LINES:
            more = f"Show {min(all_lines, MOST_LINES):,} of {all_lines:,} lines"
        elif all_lines:
            more = f"Show all ({_size(len(block.result))})"
    elif block.state is ToolState.DONE and not block.images:
        parts.append(Part("note", "No output"))
    return Body(tuple(parts), more)


def opens_window(block: ToolBlock, unfolded: Unfolded) -> bool:
    """Whether showing more than now needs a window of its own."""
    if unfolded is Unfolded.ALL:
        return True
    part, all_lines = _result(block, SHORT_LINES)
    return bool(all_lines) and all_lines <= SHORT_LINES and bool(part.text)


def _fits(result: str, lines: int) -> bool:
    return lines <= MOST_LINES and len(result) <= MOST_CHARACTERS


def _rest(count: int) -> str:
    if count <= 0:
        return "Show more"
    return f"{count:,} more line{'s' if count > 1 else ''}"


def _size(count: int) -> str:
    return f"{count / 1_000_000:.1f} MB" if count >= 1_000_000 else f"{max(1, count // 1000)} KB"


def _result(block: ToolBlock, lines: int) -> tuple[Part, int]:
    """The first lines of the result, and how many it has in all if that is more."""
    raw = block.result
    cut = raw if len(raw) <= MOST_CHARACTERS else raw[:MOST_CHARACTERS]
    text, runs = clean(cut)
    text = text.rstrip()
    rows = text.split("\n", lines)
    total = text.count("\n") + 1 if cut is raw else raw.count("\n") + 1
    longest = any(len(row) > LONGEST_LINE for row in rows[:lines])
    if longest:
        runs = []
    joined = "\n".join(map(_shortened, rows[:lines]))
    kept = tuple(run for run in runs if run.start + run.length <= len(joined))
    more = total > lines or cut is not raw or longest
    return Part("result", joined, kept), total if more else 0


def _shortened(row: str) -> str:
    if len(row) <= LONGEST_LINE:
        return row
    return f"{row[:LONGEST_LINE]} … {len(row) - LONGEST_LINE:,} more characters"


def _input_parts(given: Mapping[str, Any], *, whole: bool) -> Iterator[Part]:
    limit = MOST_LINES if whole else SHORT_LINES * 2
    path = given.get("file_path") or given.get("notebook_path")
    if isinstance(given.get("command"), str):
        if isinstance(given.get("description"), str):
            yield Part("note", _cut(given["description"], 2))
        yield Part("input", _cut(given["command"], limit))
        return
    edits = _edits(given)
    if edits:
        yield Part("path", str(path or ""))
        for old, new in edits:
            yield from _diff(old, new, limit)
        return
    content = given.get("content")
    if isinstance(content, str) and path:
        yield Part("path", str(path))
        yield Part("added", _cut(content, limit))
        return
    fields = [f"{key}: {_value(value)}" for key, value in given.items() if key not in _IN_HEADLINE]
    if fields:
        yield Part("input", _cut("\n".join(fields), limit))


def _value(value: object) -> str:
    """One field of an input: words as they are, everything else as JSON."""
    if isinstance(value, str):
        return f"\n{value}" if "\n" in value else value
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _edits(given: Mapping[str, Any]) -> list[tuple[str, str]]:
    edits = given.get("edits")
    found = [given, *(edits if isinstance(edits, list) else [])]
    return [
        (item["old_string"], item["new_string"])
        for item in found
        if isinstance(item, Mapping)
        and isinstance(item.get("old_string"), str)
        and isinstance(item.get("new_string"), str)
    ]


def _diff(old: str, new: str, limit: int) -> Iterator[Part]:
    """Lines that went and lines that came; what is the same stays once."""
    before, after = _cut(old, limit).split("\n"), _cut(new, limit).split("\n")
    if len(before) + len(after) > MOST_DIFF_LINES:
        yield Part("removed", "\n".join(before))
        yield Part("added", "\n".join(after))
        return
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, before, after).get_opcodes():
        if tag == "equal":
            yield Part("same", "\n".join(before[i1:i2]))
            continue
        if i2 > i1:
            yield Part("removed", "\n".join(before[i1:i2]))
        if j2 > j1:
            yield Part("added", "\n".join(after[j1:j2]))


def _cut(text: str, lines: int) -> str:
    text, _ = clean(text[:MOST_CHARACTERS])
    rows = text.split("\n", lines)
    cut = [_shortened(row) for row in rows[:lines]]
    if len(rows) > lines:
        rest = rows[lines].count("\n") + 1
        cut.append(f"… {rest:,} more line{'s' if rest > 1 else ''}")
    return "\n".join(cut)
