"""Calls of tools: asked for, run, and answered, one after the other (cli-protocol 6)."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

from walnut_desktop.practice.ending import Ended, Interrupted
from walnut_desktop.practice.model import Call
from walnut_desktop.practice.output import now
from walnut_desktop.practice.tools import (
    Command,
    Outcome,
    bad_input,
    needs_permission,
    run_file_tool,
    suggestions,
    unknown_tool,
)

if TYPE_CHECKING:
    from walnut_desktop.practice.session import Session

TICK_S = 0.01
KNOWN = ("Bash", "Read", "Write", "Edit", "AskUserQuestion", "ExitPlanMode")
_REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file "
    "edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to "
    "tell you how to proceed."
)


class Toolbox:
    """Runs calls for a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._rules: set[str] = set()
        self._command: Optional[Command] = None
        self._open: Optional[Call] = None
        self._request_id = ""
        self._answer: Optional[dict[str, Any]] = None
        self._input_ended = False
        self._sent: dict[str, Any] = {}
        self._load_rules()

    @property
    def running(self) -> bool:
        """Whether a call is open."""
        return self._open is not None

    @property
    def request_id(self) -> str:
        """The open request for permission; empty for none."""
        return self._request_id

    def pending_line(self) -> Optional[dict[str, Any]]:
        """The open request as it was sent, for a host that has come back."""
        return self._sent if self._request_id else None

    def call(self, call: Call) -> bool:
        """Run one call and write its result; True when it was denied."""
        self._open = call
        refused = bad_input(call.name, call.data)
        if refused is not None:
            self._result(call, refused)
            self._open = None
            return False
        tool_input, denied = dict(call.data), None
        options = self._session.options
        known = call.name in KNOWN or call.name == "Practice"
        if known and needs_permission(call.name, call.data, options.mode, self._rules):
            if options.asks:
                answer = self._ask(call)
                denied = self._denial(call, answer)
                tool_input = (
                    answer.get("updatedInput", tool_input) if denied is None else tool_input
                )
            else:
                denied = Outcome(f"Permission to use {call.name} was denied.", is_error=True)
                self._session.output.system(
                    "permission_denied",
                    tool_name=call.name,
                    tool_use_id=call.tool_use_id,
                    message=denied.content,
                    decision_reason_type="asyncAgent",
                )
        outcome = denied if denied is not None else self._run(call.name, tool_input)
        self._result(call, outcome)
        self._open = None
        if denied is not None and denied.detail == "interrupt":
            raise Interrupted(in_tool=True)
        return denied is not None

    def _ask(self, call: Call) -> dict[str, Any]:
        session = self._session
        self._request_id, self._answer = str(uuid.uuid4()), None
        session.output.state("requires_action")
        if session.live is not None:
            session.live.status("waiting")
        request = {
            "subtype": "can_use_tool",
            "tool_name": call.name,
            "display_name": call.name,
            "input": call.data,
            "description": str(
                call.data.get("description") or call.data.get("file_path") or call.name
            ),
            "permission_suggestions": suggestions(call.name, call.data, session.options.cwd),
            "tool_use_id": call.tool_use_id,
        }
        self._sent = {"type": "control_request", "request_id": self._request_id, "request": request}
        session.output.line(self._sent)
        try:
            answer = self._wait_for_answer()
        finally:
            self._request_id = ""
            if session.live is not None:
                session.live.status("busy")
        if answer.get("behavior") == "allow":
            for update in answer.get("updatedPermissions") or []:
                self._apply(update)
        session.output.state("running")
        return answer

    def withdraw(self) -> bool:
        """An interrupt comes while a request is open: it is withdrawn first."""
        if not self._request_id:
            return False
        self._session.output.line(
            {"type": "control_cancel_request", "request_id": self._request_id}
        )
        self._request_id = ""
        return True

    def _wait_for_answer(self) -> dict[str, Any]:
        """For ever: the agent has no time limit for a person."""
        while True:
            if self._answer is not None:
                return self._answer
            if self._input_ended:
                return {"behavior": "error", "message": "Tool permission stream closed"}
            self._session.wait(TICK_S)

    def answered(self, line: dict[str, Any]) -> None:
        """A control response; one to no open request is ignored."""
        response = line.get("response")
        if not isinstance(response, dict) or response.get("request_id") != self._request_id:
            return
        if not self._request_id:
            return
        inner = response.get("response")
        if response.get("subtype") == "success" and isinstance(inner, dict):
            self._answer = inner
        else:
            self._answer = {
                "behavior": "error",
                "message": str(response.get("error") or "no answer"),
            }

    def input_ended(self) -> None:
        """Nobody will answer any more."""
        self._input_ended = True

    def _denial(self, call: Call, answer: dict[str, Any]) -> Optional[Outcome]:
        behavior = answer.get("behavior")
        if behavior == "allow":
            return None
        if behavior == "deny":
            denied = {
                "tool_name": call.name,
                "tool_use_id": call.tool_use_id,
                "tool_input": call.data,
            }
            self._session.results.denials.append(denied)
            message = str(answer.get("message") or "Denied")
            if answer.get("interrupt"):
                return Outcome(message, is_error=True, detail="interrupt")
            return Outcome(message, is_error=True, detail=f"Error: {message}")
        message = f"Tool permission request failed: {answer.get('message') or 'wrong shape'}"
        return Outcome(message, is_error=True, detail=f"Error: {message}")

    def _apply(self, update: dict[str, Any]) -> None:
        if update.get("type") == "setMode" and isinstance(update.get("mode"), str):
            self._session.controls.set_mode(update["mode"])
        elif update.get("type") == "addRules":
            rules = [
                _rule_text(rule) for rule in update.get("rules") or [] if isinstance(rule, dict)
            ]
            self._rules |= set(rules)
            if update.get("destination") == "localSettings":
                self._save_rules(rules)

    def _settings(self) -> Path:
        return Path(self._session.options.cwd) / ".claude" / "settings.local.json"

    def _save_rules(self, rules: list[str]) -> None:
        path = self._settings()
        data = _read_json(path)
        permissions = data.setdefault("permissions", {})
        allowed = permissions.setdefault("allow", [])
        allowed.extend(rule for rule in rules if rule not in allowed)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data, indent=2) + "\n")

    def _load_rules(self) -> None:
        allowed = _read_json(self._settings()).get("permissions", {}).get("allow", [])
        self._rules |= {rule for rule in allowed if isinstance(rule, str)}

    def _run(self, name: str, tool_input: dict[str, Any]) -> Outcome:
        cwd = self._session.options.cwd
        if name == "Practice":
            return Outcome("x" * int(tool_input.get("bytes") or 0))
        if name == "AskUserQuestion":
            answers = tool_input.get("answers") or {}
            if not answers:
                return Outcome("The user did not answer the questions.")
            told = ", ".join(f'"{question}"="{answer}"' for question, answer in answers.items())
            return Outcome(f"User has answered your questions: {told}.")
        if name == "ExitPlanMode":
            self._session.controls.set_mode("default")
            return Outcome("User has approved your plan. You can now start coding.")
        if name == "Bash" and tool_input.get("run_in_background"):
            return self._session.background.start(tool_input, self._open)
        if name == "Bash":
            return self._bash(str(tool_input.get("command") or ""), cwd)
        outcome = run_file_tool(name, tool_input, cwd)
        return outcome if outcome is not None else unknown_tool(name)

    def _bash(self, command: str, cwd: str) -> Outcome:
        try:
            self._command = Command(command, cwd)
        except OSError as error:
            return Outcome(f"{error.strerror}", is_error=True, detail=f"Error: {error.strerror}")
        try:
            while not self._command.done():
                self._session.wait(TICK_S)
        except (Interrupted, Ended):
            self._command.kill()
            raise
        outcome = self._command.outcome()
        self._command = None
        return outcome

    def _result(self, call: Call, outcome: Outcome) -> None:
        output = self._session.output
        content = {
            "tool_use_id": call.tool_use_id,
            "type": "tool_result",
            "content": outcome.content,
            "is_error": outcome.is_error,
        }
        line = {
            "type": "user",
            "message": {"role": "user", "content": [content]},
            "parent_tool_use_id": None,
            "timestamp": now(),
            **output.common(),
            "tool_use_result": outcome.detail if outcome.detail is not None else outcome.content,
        }
        output.line(line)
        self._session.transcript.message(
            "user", [content], uuid=line["uuid"], toolUseResult=line["tool_use_result"]
        )

    def close_open(self) -> None:
        """The turn is cut: the open call gets the answer that tells the model so."""
        call, self._open = self._open, None
        if call is not None:
            self._result(call, Outcome(_REJECTED, is_error=True, detail="User rejected tool use"))

    def killed(self) -> None:
        """SIGTERM reaches the tool first: its end is told, and nothing more."""
        self.kill_all()
        call, self._open = self._open, None
        if call is not None and self._command is not None:
            self._result(
                call, Outcome("Exit code 137", is_error=True, detail="Error: Exit code 137")
            )

    def kill_all(self) -> None:
        """End what runs."""
        if self._command is not None:
            self._command.kill()


def _rule_text(rule: dict[str, Any]) -> str:
    name, content = str(rule.get("toolName") or ""), rule.get("ruleContent")
    return f"{name}({content})" if content else name


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
