"""Control requests of the host (cli-protocol 2.4)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from walnut_desktop.practice.ending import Ended
from walnut_desktop.practice.output import VERSION
from walnut_desktop.practice.rules import MODES

if TYPE_CHECKING:
    from walnut_desktop.practice.session import Session


_PLAIN: dict[str, dict[str, Any]] = {
    "mcp_status": {"mcpServers": []},
    "get_settings": {"effective": {}, "sources": [], "applied": {}},
    "list_models": {"models": [{"value": "default", "displayName": "Practice agent"}]},
    "get_usage": {
        "session": {"total_cost_usd": 0},
        "rate_limits_available": False,
        "rate_limits": None,
    },
    "get_session_cost": {"text": "The practice agent costs nothing."},
    "get_binary_version": {"version": VERSION},
    "list_permission_rules": {"state": {"rules": []}},
    "set_max_thinking_tokens": {},
}
"""Requests with one answer for all sessions."""


class Controls:
    """Answers requests, in a turn and between turns."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._initialized = False

    def handle(self, line: dict[str, Any]) -> None:
        """Answer one request."""
        request_id, request = str(line.get("request_id") or ""), line["request"]
        subtype = str(request.get("subtype") or "")
        if subtype in _PLAIN:
            self._session.output.answer(request_id, _PLAIN[subtype])
            return
        handler = {
            "initialize": self._initialize,
            "interrupt": self._interrupt,
            "end_session": self._end,
            "set_permission_mode": self._mode,
            "set_model": self._model,
            "cancel_async_message": self._cancel,
            "get_context_usage": self._context,
            "rename_session": self._rename,
            "stop_task": self._stop_task,
            "get_task_output": self._task_output,
        }.get(subtype)
        if handler is None:
            error = f"Unsupported control request subtype: {subtype}"
            self._session.output.refuse(request_id, error, "unsupported_request")
            return
        handler(request_id, request)

    def set_mode(self, mode: str) -> None:
        """Another permission mode, told as the CLI tells it."""
        mode = "default" if mode == "manual" else mode
        self._session.options.mode = mode
        self._session.output.system("status", status=None, permissionMode=mode)

    def _initialize(self, request_id: str, _request: dict[str, Any]) -> None:
        session = self._session
        pending = session.asking.pending
        body = {
            "subtype": "success",
            "request_id": request_id,
            "response": {
                "commands": [],
                "agents": [],
                "models": [{"value": "practice", "displayName": "Practice agent"}],
                "pid": os.getpid(),
                "claude_code_version": VERSION,
                "current_permission_mode": session.options.mode,
                "session_state": "requires_action"
                if pending
                else "running"
                if session.turns.running
                else "idle",
            },
            "pending_permission_requests": [pending] if pending else [],
        }
        session.output.line({"type": "control_response", "response": body})
        if self._initialized or session.turns.begun:
            session.background.tell()
        self._initialized = True

    def _interrupt(self, request_id: str, request: dict[str, Any]) -> None:
        session = self._session
        waiting = [message.uuid for message in session.queue if message.uuid]
        answer: dict[str, Any] = {"still_queued": waiting}
        if request.get("cancel_queued"):
            answer = {"still_queued": [], "cancelled": waiting}
            for message in session.queue:
                session.transcript.queue(
                    "remove",
                    content=message.text,
                    reason="cleared_on_cancel",
                    commandUuid=message.uuid,
                )
            session.queue.clear()
            for message_uuid in waiting:
                session.output.lifecycle(message_uuid, "cancelled")
        withdrawn = session.asking.withdraw()
        session.output.answer(request_id, answer)
        if withdrawn:
            session.output.state("running")
        if session.turns.running:
            session.interrupt_wanted = True

    def _end(self, request_id: str, _request: dict[str, Any]) -> None:
        session = self._session
        session.output.answer(request_id, {})
        if session.turns.running:
            session.end_in_turn()
            raise Ended(1)
        session.background.kill_all(told=True)
        raise Ended(0)

    def _mode(self, request_id: str, request: dict[str, Any]) -> None:
        mode = request.get("mode")
        if mode == "bypassPermissions" and not self._session.options.may_bypass:
            error = (
                "Cannot set permission mode to bypassPermissions because the session was not launched "
                "with --dangerously-skip-permissions"
            )
            self._session.output.refuse(request_id, error, "bypass_not_launched")
        elif mode in MODES or mode == "manual":
            self._session.output.answer(
                request_id, {"mode": "default" if mode == "manual" else mode}
            )
            self.set_mode(str(mode))
        else:
            self._session.output.refuse(
                request_id,
                f"Cannot set permission mode: must be one of {', '.join(sorted(MODES))}",
                "invalid_mode",
            )

    def _model(self, request_id: str, request: dict[str, Any]) -> None:
        model = request.get("model")
        session = self._session
        session.options.model = str(model) if model and model != "default" else "practice"
        words = f"Set model to `{model or 'default'} ({session.options.model})`"
        session.turns.note(f"<local-command-stdout>{words}</local-command-stdout>")
        session.output.answer(request_id, {"model": session.options.model})

    def _cancel(self, request_id: str, request: dict[str, Any]) -> None:
        session, wanted = self._session, str(request.get("message_uuid") or "")
        found = session.queue.find(wanted) if wanted else None
        if found is not None:
            session.queue.remove(found)
            session.output.lifecycle(found.uuid, "cancelled")
            session.transcript.queue("dequeue")
        session.output.answer(request_id, {"cancelled": found is not None, "message_uuid": wanted})

    def _rename(self, request_id: str, request: dict[str, Any]) -> None:
        self._session.output.system("session_title_changed", title=str(request.get("title") or ""))
        self._session.output.answer(request_id, {})

    def _stop_task(self, request_id: str, request: dict[str, Any]) -> None:
        session = self._session
        stopped = session.background.stop(str(request.get("task_id") or ""))
        session.output.answer(request_id, {})
        if stopped and not session.turns.running:
            session.output.state("idle")

    def _task_output(self, request_id: str, request: dict[str, Any]) -> None:
        found = self._session.background.output(str(request.get("task_id") or ""))
        if found is None:
            error = f"No task found with ID: {request.get('task_id')}"
            self._session.output.refuse(request_id, error, "task_not_found")
        else:
            self._session.output.answer(request_id, found)

    def _context(self, request_id: str, _request: dict[str, Any]) -> None:
        usage = {"categories": [], "totalTokens": 100, "maxTokens": 200_000, "percentage": 0.05}
        self._session.output.answer(request_id, usage)
