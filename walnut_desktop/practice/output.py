"""Lines on stdout, each written whole, as the real CLI shapes them."""

from __future__ import annotations

import json
import os
import uuid
from datetime import UTC, datetime
from typing import Any

VERSION = "2.1.328-practice"
MODEL = "practice"
TOOLS = ["Task", "Bash", "Edit", "Read", "Write"]
ASKING_TOOLS = ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"]


def now() -> str:
    """The time as the CLI writes it."""
    text = datetime.now(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


class Output:
    """Writes lines; knows the session's id and whether state lines are wanted."""

    def __init__(self, sid: str) -> None:
        self.sid = sid
        self._states = os.environ.get("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS") == "1"

    def raw(self, data: bytes) -> None:
        """Bytes as they are. A full disk or a closed pipe is swallowed, as the real CLI does."""
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(1, view) :]
            except OSError:
                return

    def line(self, obj: dict[str, Any]) -> None:
        """One line."""
        text = json.dumps(obj, ensure_ascii=False, separators=(",", ":"))
        text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
        self.raw(text.encode("utf-8", "replace") + b"\n")

    def common(self) -> dict[str, Any]:
        """What nearly every line carries."""
        return {"uuid": str(uuid.uuid4()), "session_id": self.sid}

    def system(self, subtype: str, **fields: Any) -> None:
        """A system line."""
        self.line({"type": "system", "subtype": subtype, **fields, **self.common()})

    def state(self, word: str) -> None:
        """running, requires_action or idle, when they are wanted."""
        if self._states:
            self.system("session_state_changed", state=word)

    def lifecycle(self, message_uuid: str, word: str) -> None:
        """The fate of a message with a uuid."""
        if message_uuid:
            self.line(
                {
                    "type": "command_lifecycle",
                    "command_uuid": message_uuid,
                    "state": word,
                    **self.common(),
                }
            )

    def init(self, cwd: str, mode: str, model: str, *, asks: bool) -> None:
        """The begin of a turn."""
        self.line(
            {
                "type": "system",
                "subtype": "init",
                "cwd": cwd,
                "session_id": self.sid,
                "tools": TOOLS + (ASKING_TOOLS if asks else []),
                "mcp_servers": [],
                "model": model,
                "permissionMode": mode,
                "slash_commands": [],
                "apiKeySource": "none",
                "claude_code_version": VERSION,
                "output_style": "default",
                "agents": [],
                "skills": [],
                "plugins": [],
                "uuid": str(uuid.uuid4()),
            }
        )

    def answer(self, request_id: str, response: dict[str, Any]) -> None:
        """A control request has succeeded."""
        body = {"subtype": "success", "request_id": request_id, "response": response}
        self.line({"type": "control_response", "response": body})

    def refuse(self, request_id: str, error: str, code: str) -> None:
        """A control request has failed."""
        body = {"subtype": "error", "request_id": request_id, "error": error, "error_code": code}
        self.line({"type": "control_response", "response": body})
