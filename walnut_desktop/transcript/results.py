"""The end of a turn: what a `result` line says, and the same in a sentence for a person (D6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

_KEEP = 2000


class TurnResult(NamedTuple):
    """One `result` line. Good is `is_error == False`; the subtype alone says nothing."""

    is_error: bool
    subtype: str
    terminal: str
    text: str
    uuids: tuple[str, ...]
    self_started: bool
    duration_ms: int
    end: int
    kind: str = ""  # authentication_failed, rate_limit, …: the error word of the assistant line

    @property
    def interrupted(self) -> bool:
        """Whether somebody cut the turn; that is no failure of the agent."""
        return self.terminal in ("aborted_tools", "aborted_streaming") or (
            self.is_error
            and self.subtype == "error_during_execution"
            and self.kind == "interrupted"
        )


def read_result(obj: Mapping[str, Any], end: int, assistant_error: str) -> TurnResult:
    """The result of a line; `assistant_error` is the error word that the turn's last message carried."""
    origin = obj.get("origin")
    uuids = tuple(item for item in obj.get("user_message_uuids") or [] if isinstance(item, str))
    single = obj.get("user_message_uuid")
    if not uuids and isinstance(single, str):
        uuids = (single,)
    text = obj.get("result")
    if not isinstance(text, str):
        errors = [item for item in obj.get("errors") or [] if isinstance(item, str)]
        text = "\n".join(errors)
    duration = obj.get("duration_ms")
    return TurnResult(
        is_error=obj.get("is_error") is True,
        subtype=str(obj.get("subtype") or ""),
        terminal=str(obj.get("terminal_reason") or ""),
        text=text[:_KEEP],
        uuids=uuids,
        self_started=isinstance(origin, dict) and origin.get("kind") == "task-notification",
        duration_ms=duration if isinstance(duration, int) else 0,
        end=end,
        kind=assistant_error,
    )


_SENTENCES = {
    "authentication_failed": "The agent is not logged in. Run `claude` in a terminal, type /login, then "
    "send the message again.",
    "model_not_found": "The model is not known to the service. Pick another model and send again.",
    "rate_limit": "The usage limit is reached. Wait until it resets, then send again.",
    "server_error": "The model service is overloaded. Try again in a while.",
    "billing_error": "The account has no credit left. Check the billing of the account.",
}


def sentence(result: TurnResult) -> str:
    """What a person should read about a turn that did not end well; empty for a good one."""
    if not result.is_error:
        return ""
    if result.interrupted:
        return "Interrupted."
    if result.terminal == "max_turns" or result.subtype == "error_max_turns":
        return "Stopped at the limit of rounds for one turn. Send a message to go on."
    if result.subtype == "error_max_budget_usd":
        return "Stopped at the spending limit of this session."
    known = _SENTENCES.get(result.kind, "")
    detail = "" if result.text.startswith("[ede_diagnostic]") else result.text.strip()
    if known and detail and result.kind != "authentication_failed":
        return f"{known} ({detail})"
    return known or detail or "The turn ended with an error."
