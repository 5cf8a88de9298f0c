"""The canonical file of a session: what the model has seen.

No result, state or lifecycle line is ever in it (cli-protocol 9.2).
"""

from __future__ import annotations

import json
import time
import uuid
from pathlib import Path
from typing import Any, Optional

from walnut_desktop.practice.files import encode, find_transcript, folder
from walnut_desktop.practice.output import now

BATCH_S = 0.1
_CHAINED = frozenset({"user", "assistant", "attachment"})
_CUT_OFF = "[Tool call interrupted: the session ended before this call's result was recorded.]"


class Transcript:
    """Appends lines in batches, as the CLI does: who is killed within a batch's time loses it."""

    def __init__(self, sid: str, cwd: str) -> None:
        self.sid = sid
        self.path = find_transcript(sid) or folder() / "projects" / encode(cwd) / f"{sid}.jsonl"
        self._common = {"sessionId": sid, "cwd": cwd, "version": "2.1.328"}
        self._waiting: list[bytes] = []
        self._due = 0.0
        self._parent: Optional[str] = None
        self._open_calls: list[str] = []

    def resume(self) -> set[str]:
        """Go on where the file ends. Answers the uuids of user lines: only these are recognised (4.3)."""
        known: set[str] = set()
        calls: dict[str, None] = {}
        for line in self._read():
            if isinstance(line.get("uuid"), str):
                self._parent = line["uuid"]
            message = line.get("message")
            content = message.get("content") if isinstance(message, dict) else None
            if line.get("type") == "user" and "toolUseResult" not in line:
                known.add(str(line.get("uuid")))
            for block in content if isinstance(content, list) else []:
                if block.get("type") == "tool_use":
                    calls[str(block.get("id"))] = None
                elif block.get("type") == "tool_result":
                    calls.pop(str(block.get("tool_use_id")), None)
        self._open_calls = list(calls)
        return known

    def _read(self) -> list[dict[str, Any]]:
        try:
            raw_lines = self.path.read_bytes().split(b"\n")
        except OSError:
            return []
        lines = []
        for raw in raw_lines:
            try:
                line = json.loads(raw)
            except ValueError:
                continue
            if isinstance(line, dict):
                lines.append(line)
        return lines

    def close_calls(self) -> None:
        """Calls that a dead process left open are closed before the next message (cli-protocol 8)."""
        for tool_use_id in self._open_calls:
            block = {
                "type": "tool_result",
                "tool_use_id": tool_use_id,
                "content": _CUT_OFF,
                "is_error": True,
            }
            self.message("user", [block], toolUseResult=f"Error: {_CUT_OFF}")
        if self._open_calls:
            text = {"type": "text", "text": "No response requested."}
            self.message("assistant", [text], madeBy="other")
        self._open_calls = []

    def queue(self, operation: str, **fields: Any) -> None:
        """What became of a message that waited."""
        self.add({"type": "queue-operation", "operation": operation, **fields})

    def message(self, role: str, content: Any, **fields: Any) -> None:
        """Something that was said."""
        self.add({"type": role, "message": {"role": role, "content": content}, **fields})

    def add(self, line: dict[str, Any]) -> None:
        """Put one line into the batch."""
        stamped = {**line, "timestamp": now(), "sessionId": self.sid}
        if line["type"] in _CHAINED:
            name = str(line.get("uuid") or uuid.uuid4())
            chain = {"parentUuid": self._parent, "isSidechain": False, "uuid": name}
            stamped = {**chain, **stamped, **self._common, "uuid": name}
            self._parent = name
        text = json.dumps(stamped, ensure_ascii=False, separators=(",", ":"))
        self._waiting.append(text.encode("utf-8", "replace") + b"\n")
        if len(self._waiting) == 1:
            self._due = time.monotonic() + BATCH_S
        self.flush_due()

    def rest(self) -> Optional[float]:
        """Seconds until the batch is written; None when there is none."""
        return max(0.0, self._due - time.monotonic()) if self._waiting else None

    def flush_due(self) -> None:
        """Write the batch when its time has come."""
        if self._waiting and time.monotonic() >= self._due:
            self.flush()

    def flush(self) -> None:
        """Write the batch now. A full disk must not stop the turn; a torn last line is left alone."""
        data, self._waiting = b"".join(self._waiting), []
        if not data:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self.path.open("a+b") as file:
                if file.tell():
                    file.seek(-1, 2)
                    data = data if file.read(1) == b"\n" else b"\n" + data
                file.write(data)
            self.path.chmod(0o600)
        except OSError:
            return


def fork(old: Path, sid: str) -> None:
    """A new session begins with all that an old one has seen; the old one stays as it is."""
    text = old.read_text(encoding="utf-8", errors="replace")
    new = old.with_name(f"{sid}.jsonl")
    new.write_text(
        text.replace(f'"sessionId":"{old.stem}"', f'"sessionId":"{sid}"'), encoding="utf-8"
    )
    new.chmod(0o600)
