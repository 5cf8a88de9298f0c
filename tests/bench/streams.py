"""Stream files of any size that look like a long session: mostly tool output, some text, some deltas."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SID = "00000000-0000-4000-8000-000000000000"


def _line(obj: dict[str, Any]) -> bytes:
    return json.dumps(obj, separators=(",", ":")).encode() + b"\n"


def _common(number: int) -> dict[str, Any]:
    return {"uuid": str(uuid.UUID(int=number)), "session_id": SID}


def turn(number: int, output: int, deltas: int = 60) -> Iterator[bytes]:
    """One turn: a message, streamed text, a tool call with `output` bytes of result, its end."""
    message, tool = str(uuid.UUID(int=10**9 + number)), f"toolu_{number:012d}"
    code = f"```python\nprint({number})\n```\n"
    text = f"Turn {number}: looking at the **files** now.\n\n- one\n- two\n\n{code}"
    user = {"role": "user", "content": f"Please do step {number} of the plan."}
    yield _line({"type": "user", "subtype": "walnut-injected", "uuid": message, "message": user})
    yield _line(
        {
            "type": "system",
            "subtype": "session_state_changed",
            "state": "running",
            **_common(number),
        }
    )
    for state in ("queued", "started"):
        yield _line(
            {
                "type": "command_lifecycle",
                "command_uuid": message,
                "state": state,
                **_common(number),
            }
        )
    yield _line(
        {
            "type": "system",
            "subtype": "init",
            "cwd": "/home/user/project",
            "model": "claude-opus-5-5",
            "permissionMode": "default",
            "tools": ["Bash", "Read", "Write", "Edit"] * 6,
            **_common(number),
        }
    )
    event: dict[str, Any] = {
        "type": "message_start",
        "message": {"id": f"msg_{number}", "content": []},
    }
    yield _line(
        {"type": "stream_event", "event": event, "parent_tool_use_id": None, **_common(number)}
    )
    event = {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "text", "text": ""},
    }
    yield _line(
        {"type": "stream_event", "event": event, "parent_tool_use_id": None, **_common(number)}
    )
    step = max(1, len(text) // max(1, deltas))
    for at in range(0, len(text), step):
        delta = {"type": "text_delta", "text": text[at : at + step]}
        event = {"type": "content_block_delta", "index": 0, "delta": delta}
        yield _line(
            {"type": "stream_event", "event": event, "parent_tool_use_id": None, **_common(number)}
        )
    for content in (
        {"type": "text", "text": text},
        {
            "type": "tool_use",
            "id": tool,
            "name": "Bash",
            "input": {"command": f"cat part-{number}.log"},
        },
    ):
        body = {"id": f"msg_{number}", "role": "assistant", "content": [content]}
        yield _line(
            {"type": "assistant", "message": body, "parent_tool_use_id": None, **_common(number)}
        )
    row = f'2026-12-01 10:00:00 INFO worker-{number} did a piece of work and wrote "it" down\n'
    result = (row * (output // len(row) + 1))[:output]
    found = {"type": "tool_result", "tool_use_id": tool, "content": result, "is_error": False}
    answer = {"role": "user", "content": [found]}
    yield _line({"type": "user", "message": answer, "parent_tool_use_id": None, **_common(number)})
    yield _line(
        {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "result": text,
            "num_turns": 2,
            "duration_ms": 4200,
            "total_cost_usd": 0.01 * (number + 1),
            "user_message_uuids": [message],
            "result_index": number,
            **_common(number),
        }
    )
    yield _line(
        {
            "type": "command_lifecycle",
            "command_uuid": message,
            "state": "completed",
            **_common(number),
        }
    )
    yield _line(
        {"type": "system", "subtype": "session_state_changed", "state": "idle", **_common(number)}
    )


def write(path: Path, size: int, output: int = 60_000) -> int:
    """Write a stream file of at least `size` bytes; answer how many turns it has."""
    path.parent.mkdir(parents=True, exist_ok=True)
    turns = written = 0
    with path.open("wb") as file:
        written += file.write(
            _line({"type": "walnut", "subtype": "stream", "epoch": "bench", "version": 1})
        )
        written += file.write(
            _line({"type": "walnut", "subtype": "process-start", "spawn": "bench"})
        )
        while written < size:
            for line in turn(turns, output if turns % 4 else output // 20):
                written += file.write(line)
            turns += 1
    return turns
