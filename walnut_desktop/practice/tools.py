"""The tools of the practice agent. Those that touch files and run commands really do it."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any, NamedTuple, Optional

MAX_OUTPUT = 30_000
_READ_ONLY = frozenset(
    {"ls", "pwd", "echo", "cat", "head", "tail", "wc", "date", "whoami", "sleep", "true", "exit"}
)
_ALWAYS_ALLOWED = frozenset({"Read", "Glob", "Grep", "ToolSearch", "TaskList"})
_EDITS = frozenset({"Write", "Edit", "NotebookEdit", "MultiEdit"})


class Outcome(NamedTuple):
    """What a tool gave."""

    content: str
    is_error: bool = False
    detail: Any = None


class Command:
    """A running command: a session and group leader of its own, as under the real CLI."""

    def __init__(self, command: str, cwd: str) -> None:
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._output: list[bytes] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        pipe = self._process.stdout
        while pipe is not None:
            data = pipe.read1(1 << 16)  # type: ignore[attr-defined]
            if not data:
                return
            self._output.append(data)

    def done(self) -> bool:
        """Whether it has ended and everything is read."""
        return self._process.poll() is not None and not self._thread.is_alive()

    def outcome(self) -> Outcome:
        """Its output and how it ended."""
        code = self._process.wait()
        text = b"".join(self._output).decode("utf-8", "replace").rstrip("\n")[:MAX_OUTPUT]
        detail = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        if code:
            code = 128 - code if code < 0 else code
            return Outcome(
                f"Exit code {code}\n{text}".rstrip(), is_error=True, detail=f"Error: {text}"
            )
        return Outcome(text, detail=detail)

    def kill(self) -> None:
        """End it and its group."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return


def needs_permission(name: str, tool_input: dict[str, Any], mode: str, rules: set[str]) -> bool:
    """Whether the person must be asked (cli-protocol 6.3)."""
    if name in ("AskUserQuestion", "ExitPlanMode"):
        return True
    if mode == "bypassPermissions" or name in _ALWAYS_ALLOWED:
        return False
    if name in _EDITS:
        return mode != "acceptEdits" and name not in rules
    if name != "Bash":
        return name not in rules
    command = str(tool_input.get("command") or "")
    if f"Bash({command})" in rules or "Bash" in rules:
        return False
    return not _is_harmless(command)


def _is_harmless(command: str) -> bool:
    command = command.replace(">&2", "").replace("2>&1", "")
    if any(mark in command for mark in (">", "<", "`", "$(", "\n")):
        return False
    parts = command.replace("&&", ";").replace("||", ";").replace("|", ";").split(";")
    words = [part.split() for part in parts if part.strip()]
    return bool(words) and all(word[0] in _READ_ONLY for word in words)


def suggestions(name: str, tool_input: dict[str, Any], cwd: str) -> list[dict[str, Any]]:
    """What “always allow” could mean, as the real CLI proposes it."""
    rule: dict[str, Any] = {"toolName": name}
    if name == "Bash":
        rule["ruleContent"] = str(tool_input.get("command") or "")
        rules = {
            "type": "addRules",
            "rules": [rule],
            "behavior": "allow",
            "destination": "localSettings",
        }
        return [rules, {"type": "addDirectories", "directories": [cwd], "destination": "session"}]
    if name in _EDITS:
        return [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]
    return [
        {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"}
    ]


def run_file_tool(name: str, tool_input: dict[str, Any], cwd: str) -> Optional[Outcome]:
    """Read, Write and Edit; None for other tools."""
    if name not in ("Read", "Write", "Edit"):
        return None
    path = Path(cwd) / str(tool_input.get("file_path") or "")
    try:
        if name == "Read":
            lines = path.read_text(errors="replace").split("\n")
            text = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, 1))
            return Outcome(text)
        if name == "Write":
            path.parent.mkdir(parents=True, exist_ok=True)
            content = str(tool_input.get("content") or "")
            path.write_text(content)
            detail = {"type": "create", "filePath": str(path), "content": content}
            return Outcome(f"File created successfully at: {path}", detail=detail)
        old, new = str(tool_input.get("old_string") or ""), str(tool_input.get("new_string") or "")
        before = path.read_text()
        if not old or old not in before:
            return Outcome(
                f"<tool_use_error>String to replace not found in file.\nString: {old}</tool_use_error>",
                is_error=True,
                detail="Error: String to replace not found in file.",
            )
        path.write_text(before.replace(old, new, 1))
        return Outcome(f"The file {path} has been updated.", detail={"filePath": str(path)})
    except OSError as error:
        return Outcome(
            f"{error.strerror}: {path}", is_error=True, detail=f"Error: {error.strerror}"
        )


_NEEDED = {
    "Bash": ("command",),
    "Read": ("file_path",),
    "Write": ("file_path", "content"),
    "Edit": ("file_path", "old_string", "new_string"),
}


def bad_input(name: str, tool_input: dict[str, Any]) -> Optional[Outcome]:
    """Input that lacks something is refused before anybody is asked."""
    missing = [key for key in _NEEDED.get(name, ()) if not isinstance(tool_input.get(key), str)]
    if not missing:
        return None
    words = f"InputValidationError: {name} failed: the required parameter `{missing[0]}` is missing"
    return Outcome(f"<tool_use_error>{words}</tool_use_error>", is_error=True, detail=words)


def unknown_tool(name: str) -> Outcome:
    """The answer to a tool that does not exist."""
    words = f"No such tool available: {name}"
    return Outcome(
        f"<tool_use_error>Error: {words}</tool_use_error>", is_error=True, detail=f"Error: {words}"
    )
