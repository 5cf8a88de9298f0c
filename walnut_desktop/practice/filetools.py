"""Read, Write and Edit: they really touch the files, and tell a host what has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

from walnut_desktop.practice.tools import Outcome

MAX_READ = 256 * 1024


def run(name: str, tool_input: dict[str, Any], cwd: str) -> Outcome:
    """Do it; what the system refuses is an answer like any other."""
    path = Path(cwd) / str(tool_input["file_path"])
    try:
        if name == "Read":
            return _read(path)
        if name == "Write":
            return _write(path, str(tool_input["content"]))
        return _edit(path, tool_input)
    except (OSError, ValueError) as error:
        words = f"{getattr(error, 'strerror', None) or error}: {path}"
        return _failed(words)


def _failed(words: str) -> Outcome:
    return Outcome(
        f"<tool_use_error>{words}</tool_use_error>", is_error=True, detail=f"Error: {words}"
    )


def _read(path: Path) -> Outcome:
    if path.stat().st_size > MAX_READ:
        return _failed(f"File content exceeds maximum allowed size (256KB): {path}")
    text = path.read_text(errors="replace")
    lines = text.split("\n")
    file = {"filePath": str(path), "content": text, "numLines": len(lines), "startLine": 1}
    shown = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, 1))
    return Outcome(shown, detail={"type": "text", "file": {**file, "totalLines": len(lines)}})


def _write(path: Path, content: str) -> Outcome:
    before: Optional[str] = path.read_text(errors="replace") if path.exists() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    detail = {
        "type": "create" if before is None else "update",
        "filePath": str(path),
        "content": content,
        "structuredPatch": [] if before is None else patch(before, content),
        "originalFile": before,
        "userModified": False,
    }
    verb = "File created successfully at:" if before is None else "The file was updated:"
    return Outcome(f"{verb} {path}", detail=detail)


def _edit(path: Path, tool_input: dict[str, Any]) -> Outcome:
    old, new = str(tool_input["old_string"]), str(tool_input["new_string"])
    before, every = path.read_text(), tool_input.get("replace_all") is True
    if not old or old not in before:
        return _failed(f"String to replace not found in file.\nString: {old}")
    after = before.replace(old, new) if every else before.replace(old, new, 1)
    path.write_text(after)
    detail = {
        "filePath": str(path),
        "oldString": old,
        "newString": new,
        "originalFile": before,
        "structuredPatch": patch(before, after),
        "userModified": False,
        "replaceAll": every,
    }
    return Outcome(f"The file {path} has been updated successfully.", detail=detail)


def patch(before: str, after: str) -> list[dict[str, Any]]:
    """The change as hunks."""
    import difflib  # only who edits pays for it: the agent must start at once

    old, new = before.splitlines(), after.splitlines()
    hunks = []
    for group in difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(3):
        lines: list[str] = []
        for tag, a0, a1, b0, b1 in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[a0:a1]]
                continue
            lines += [f"-{line}" for line in old[a0:a1]]
            lines += [f"+{line}" for line in new[b0:b1]]
        first, last = group[0], group[-1]
        hunks.append(
            {
                "oldStart": first[1] + 1,
                "oldLines": last[2] - first[1],
                "newStart": first[3] + 1,
                "newLines": last[4] - first[3],
                "lines": lines,
            }
        )
    return hunks
