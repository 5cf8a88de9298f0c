"""The question to the person before a tool runs: one at a time, and as long as it takes (cli-protocol 6)."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Optional

from walnut_desktop.practice.model import Call
from walnut_desktop.practice.rules import MODES, suggestions

if TYPE_CHECKING:
    from walnut_desktop.practice.session import Session

_NEEDS_A_PERSON = ("AskUserQuestion", "ExitPlanMode")


class Asking:
    """Holds the open request, if there is one."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sent: Optional[dict[str, Any]] = None
        self._answer: Optional[dict[str, Any]] = None
        self._call: Optional[Call] = None
        self._nobody = False

    @property
    def pending(self) -> Optional[dict[str, Any]]:
        """The open request as it was sent, for a host that has come back."""
        return self._sent

    def ask(self, call: Call) -> dict[str, Any]:
        """Ask, and wait for the answer."""
        session = self._session
        self._answer, self._call = None, call
        self._sent = {
            "type": "control_request",
            "request_id": str(uuid.uuid4()),
            "request": self._request(call),
        }
        session.output.state("requires_action")
        session.status("waiting")
        session.output.line(self._sent)
        try:
            session.wait_until(lambda: self._given() is not None)
        finally:
            self._sent = None
            session.status("busy")
        answer = self._given() or {}
        if answer.get("behavior") == "allow":
            for update in updates(answer):
                self._apply(update)
        session.output.state("running")
        return answer

    def _given(self) -> Optional[dict[str, Any]]:
        """The answer, or the word that there will be none."""
        if self._answer is None and self._nobody:
            return _broken("AbortError: Tool permission stream closed before response received")
        return self._answer

    def _request(self, call: Call) -> dict[str, Any]:
        request: dict[str, Any] = {
            "subtype": "can_use_tool",
            "tool_name": call.name,
            "display_name": call.name,
            "input": call.data,
        }
        if call.name in _NEEDS_A_PERSON:
            return {**request, "tool_use_id": call.tool_use_id, "requires_user_interaction": True}
        data, cwd = call.data, self._session.options.cwd
        path = str(data.get("file_path") or "")
        words = (
            data.get("description")
            or data.get("command")
            or path.removeprefix(f"{cwd}/")
            or call.name
        )
        return {
            **request,
            "description": str(words),
            "permission_suggestions": suggestions(call.name, data, cwd),
            "tool_use_id": call.tool_use_id,
        }

    def _apply(self, update: dict[str, Any]) -> None:
        if update.get("type") == "setMode" and update.get("mode") in MODES:
            self._session.controls.set_mode(update["mode"])
        elif update.get("type") == "addRules":
            self._session.rules.add(update)

    def withdraw(self) -> bool:
        """An interrupt comes while a request is open: it is withdrawn first."""
        if self._sent is None:
            return False
        name = self._sent["request_id"]
        self._session.output.line({"type": "control_cancel_request", "request_id": name})
        self._sent = None
        if self._call is not None:
            self._session.tools.remember_denial(self._call)
        return True

    def answered(self, line: dict[str, Any]) -> None:
        """A control response; one to no open request is ignored, and so is a second one."""
        response = line.get("response")
        if not isinstance(response, dict) or self._sent is None or self._answer is not None:
            return
        if response.get("request_id") != self._sent["request_id"]:
            return
        inner = response.get("response")
        if response.get("subtype") == "success" and isinstance(inner, dict):
            self._answer = inner
        else:
            self._answer = _broken(str(response.get("error") or "no answer"))

    def input_ended(self) -> None:
        """Nobody will answer any more."""
        self._nobody = True


def _broken(words: str) -> dict[str, Any]:
    return {"behavior": "error", "message": words}


def updates(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """What the answer changes beside this one call."""
    found = answer.get("updatedPermissions")
    return (
        [update for update in found if isinstance(update, dict)] if isinstance(found, list) else []
    )
