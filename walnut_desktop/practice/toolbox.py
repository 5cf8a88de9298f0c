"""Calls of tools: judged, asked for, run, and answered, one after the other (cli-protocol 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from walnut_desktop.practice import filetools, rules
from walnut_desktop.practice.asking import updates
from walnut_desktop.practice.ending import Interrupted
from walnut_desktop.practice.model import Call
from walnut_desktop.practice.output import now
from walnut_desktop.practice.tools import Command, Outcome, bad_input, unparsed

if TYPE_CHECKING:
    from walnut_desktop.practice.session import Session

TICK_S = 0.01
_REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file "
    "edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to "
    "tell you how to proceed."
)
_ONCE = {"permission_decision": {"decision": "accept", "source": "user_temporary"}}
_BY_RULE = {
    "permission_decision": {"decision": "accept", "source": "config", "reason_type": "rule"}
}
_BY_USER = {
    "non_execution_kind": "permission-rule",
    "permission_decision": {"decision": "reject", "source": "user_reject"},
}
_BY_CONFIG = {
    "non_execution_kind": "user-rejected",
    "permission_decision": {"decision": "reject", "source": "config"},
}
_CUT = {"non_execution_kind": "user-rejected"}


class Toolbox:
    """Runs calls for a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._command: Optional[Command] = None
        self._waiting: list[Call] = []

    @property
    def running(self) -> bool:
        """Whether a call is open."""
        return bool(self._waiting)

    def call_all(self, calls: list[Call]) -> bool:
        """Run the calls of one round; True when one was denied."""
        self._waiting = list(calls)
        denied = False
        for call in calls:
            denied = self._call(call) or denied
            self._waiting.remove(call)
        return denied

    def _call(self, call: Call) -> bool:
        refused = unparsed(call.name, call.bad) if call.bad else bad_input(call.name, call.data)
        if refused is not None:
            self._result(call, refused, {})
            return False
        session, name = self._session, call.name
        data, meta = dict(call.data), _BY_RULE
        if name == "ExitPlanMode":
            call = call._replace(data=session.plan.asked())
            data = call.data
        if session.plan.is_file(name, data):
            verdict = rules.ALLOW
        else:
            verdict = session.rules.verdict(name, data, session.options.mode)
        if verdict == rules.ASK and session.options.asks:
            answer = session.asking.ask(call)
            if answer.get("behavior") != "allow":
                return self._denied(call, answer)
            updated = answer.get("updatedInput")
            data, meta = updated if isinstance(updated, dict) else data, _ONCE
            if name == "ExitPlanMode" and not _sets_mode(answer):
                session.controls.set_mode("default")
        elif verdict != rules.ALLOW:
            self._not_asked(call)
            return True
        self._result(call, bad_input(name, data) or self._run(call, data), meta)
        return False

    def _denied(self, call: Call, answer: dict[str, Any]) -> bool:
        """The person said no, or the answer was none."""
        words = str(answer.get("message") or "wrong shape of the answer")
        if answer.get("behavior") != "deny":
            words = f"Tool permission request failed: {words}"
            self._result(call, Outcome(words, is_error=True, detail=f"Error: {words}"), {})
            return True
        self.remember_denial(call)
        if answer.get("interrupt"):
            raise Interrupted(in_tool=True)
        self._result(call, Outcome(words, is_error=True, detail=f"Error: {words}"), _BY_USER)
        return True

    def _not_asked(self, call: Call) -> None:
        """Nobody can be asked, or nobody wants to be."""
        words = f"Permission to use {call.name} was denied: nobody can be asked in this session."
        if self._session.options.mode == "dontAsk":
            words = f"Permission to use {call.name} was denied: the session runs in don't ask mode."
        self.remember_denial(call)
        self._session.output.system(
            "permission_denied",
            tool_name=call.name,
            tool_use_id=call.tool_use_id,
            message=words,
            decision_reason_type="mode"
            if self._session.options.mode == "dontAsk"
            else "asyncAgent",
        )
        self._result(call, Outcome(words, is_error=True, detail=f"Error: {words}"), _BY_CONFIG)

    def remember_denial(self, call: Call) -> None:
        self._session.results.denials.append(
            {"tool_name": call.name, "tool_use_id": call.tool_use_id, "tool_input": call.data}
        )

    def _run(self, call: Call, data: dict[str, Any]) -> Outcome:
        session, name = self._session, call.name
        if name == "Practice":
            size = data.get("bytes")
            return Outcome("x" * size if isinstance(size, int) else "")
        if name == "AskUserQuestion":
            return _answers(data)
        if name == "EnterPlanMode":
            session.controls.set_mode("plan")
            return Outcome(f"Entered plan mode. Write the plan to {session.plan.path()}")
        if name == "ExitPlanMode":
            return session.plan.approved(data)
        if name == "Bash" and data.get("run_in_background"):
            return session.background.start(data, call.tool_use_id)
        if name == "Bash":
            return self._bash(str(data["command"]))
        return filetools.run(name, data, session.options.cwd)

    def _bash(self, command: str) -> Outcome:
        try:
            self._command = Command(command, self._session.options.cwd)
        except (OSError, ValueError) as error:
            words = str(error)
            return Outcome(words, is_error=True, detail=f"Error: {words}")
        while not self._command.done():
            self._session.wait(TICK_S)
        outcome = self._command.outcome()
        self._command = None
        return outcome

    def _result(self, call: Call, outcome: Outcome, meta: dict[str, Any]) -> None:
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
        if meta:
            line["tool_result_meta"] = [{"id": call.tool_use_id, **meta}]
        output.line(line)
        self._session.results.user_lines += 1
        self._session.heard(outcome.content)
        self._session.transcript.message(
            "user", [content], uuid=line["uuid"], toolUseResult=line["tool_use_result"]
        )

    def close_open(self) -> None:
        """The turn is cut: what runs is ended, and every open call is answered with that."""
        self.kill_all()
        calls, self._waiting = self._waiting, []
        for call in calls:
            self._result(
                call, Outcome(_REJECTED, is_error=True, detail="User rejected tool use"), _CUT
            )

    def killed(self) -> None:
        """SIGTERM reaches the tool first: its end is told, and nothing more."""
        if self._command is not None and self._waiting:
            self.kill_all()
            words = "Exit code 137"
            outcome = Outcome(words, is_error=True, detail=f"Error: {words}")
            self._result(self._waiting[0], outcome, _BY_RULE)

    def kill_all(self) -> None:
        """End what runs."""
        if self._command is not None:
            self._command.kill()
            self._command = None


def _sets_mode(answer: dict[str, Any]) -> bool:
    return any(update.get("type") == "setMode" for update in updates(answer))


def _answers(data: dict[str, Any]) -> Outcome:
    answers = data.get("answers")
    detail = {"questions": data.get("questions") or [], "answers": answers or {}}
    if not isinstance(answers, dict) or not answers:
        return Outcome("The user did not answer the questions.", detail=detail)
    told = ", ".join(f'"{question}"="{answer}"' for question, answer in answers.items())
    words = f"Your questions have been answered: {told}. You can now continue with these answers in mind."
    return Outcome(words, detail=detail)
