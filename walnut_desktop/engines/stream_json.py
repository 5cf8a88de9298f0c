"""The command line and the stdin lines of agents that speak stream-json (cli-protocol 1, 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from walnut_desktop.engines.base import LaunchSpec

STATE_EVENTS = {
    "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1",
    "CLAUDE_CODE_STARTUP_FAILURE_RESULTS": "1",
}


def arguments(spec: LaunchSpec) -> list[str]:
    """The arguments behind the program's name."""
    args = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
    args += ["--include-partial-messages", "--permission-prompt-tool", "stdio"]
    args += ["--permission-mode", spec.mode]
    if spec.model:
        args += ["--model", spec.model]
    if spec.system_prompt:
        args += ["--append-system-prompt", spec.system_prompt]
    # Only --resume has the form with “=”: an id must never be read as the next option.
    args += [f"--resume={spec.sid}"] if spec.resume else ["--session-id", spec.sid]
    return args


def user_line(text: str, uuid: str) -> dict[str, Any]:
    """A message of the person, taken literally (no slash commands), with the uuid that tracks it (D1)."""
    return {
        "type": "user",
        "message": {"role": "user", "content": text},
        "uuid": uuid,
        "client_composed": True,
        "origin": {"kind": "human"},
    }


def control_line(request_id: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """A request of ours: interrupt, set_permission_mode, set_model, …"""
    return {"type": "control_request", "request_id": request_id, "request": dict(request)}


def _answer(request_id: str, response: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "control_response",
        "response": {"subtype": "success", "request_id": request_id, "response": dict(response)},
    }


def allow_line(
    request_id: str, tool_input: Mapping[str, Any], always: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Yes to a tool call; `always` are those of the agent's own suggestions that the person accepts."""
    response: dict[str, Any] = {"behavior": "allow", "updatedInput": dict(tool_input)}
    if always:
        response["updatedPermissions"] = [dict(item) for item in always]
    return _answer(request_id, response)


def deny_line(request_id: str, message: str) -> dict[str, Any]:
    """No to a tool call, with a word for the agent."""
    text = message.strip() or "The user does not want this. Ask what to do instead."
    return _answer(request_id, {"behavior": "deny", "message": text})
