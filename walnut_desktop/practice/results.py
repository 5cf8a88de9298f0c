"""The end of a turn: its `result` line, for good ones, failed ones and cut ones (cli-protocol 3.1)."""

from __future__ import annotations

import time
import uuid
from typing import Any, NamedTuple, Optional

from walnut_desktop.practice.output import Output

PRICE = 0.002


class Failure(NamedTuple):
    """Why a turn did not end well: the error word, and the text for the person."""

    word: str
    text: str


CUT_SHORT = Failure("cut_short", "")
"""A message with the priority `now` does not wait for the end of the turn."""


def _answered(opening: list[str], absorbed: list[str]) -> dict[str, Any]:
    """The messages that a result is for: those that opened the turn, and those that joined it."""
    uuids = [*opening, *absorbed]
    if not uuids:
        return {}
    return {"user_message_uuid": (opening or uuids)[-1], "user_message_uuids": uuids}


class Results:
    """Counts turns and what they cost, and writes their ends."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._index = 0
        self._cost = 0.0
        self._begun = 0.0
        self._waiting = 0
        self._text = ""
        self.rounds = 0
        self.user_lines = 0
        """Tool results and the word of an interrupt: the CLI counts them as turns."""
        self.last_failed = False
        self.denials: list[dict[str, Any]] = []

    def begin(self) -> None:
        """A turn begins."""
        self._begun = time.monotonic()
        self._text = ""
        self._waiting = 0
        self.rounds = 0
        self.user_lines = 0
        self.denials = []

    def said(self, block: dict[str, Any]) -> None:
        """The last text of the turn is its result."""
        if block.get("type") == "text":
            self._text = block["text"]

    def end(
        self, opening: list[str], absorbed: list[str], failure: Optional[Failure], waiting: int
    ) -> None:
        """The turn is over; so many messages of the person wait for the next one."""
        uuids = _answered(opening, absorbed)
        self._waiting = waiting
        if failure is None:
            self._write(uuids, subtype="success")
        elif failure is CUT_SHORT:
            self._write(uuids, subtype="success", result="", terminal_reason="aborted_tools")
        elif failure.word == "max_turns":
            self._write(
                uuids,
                subtype="error_max_turns",
                is_error=True,
                errors=[failure.text],
                terminal_reason="max_turns",
                result=None,
            )
        else:
            fields = {"is_error": True, "result": failure.text, "terminal_reason": "api_error"}
            self._write(uuids, subtype="success", **fields)

    def self_started(self, text: str, *, silent: bool) -> None:
        """The end of a turn that nobody has asked for: a background task is over."""
        fields: dict[str, Any] = {"num_turns": 0, "terminal_reason": None} if silent else {}
        self._write(
            {}, subtype="success", result=text, origin={"kind": "task-notification"}, **fields
        )

    def abort(self, terminal: str, opening: list[str], absorbed: list[str]) -> None:
        """The turn was cut."""
        self._write(
            _answered(opening, absorbed),
            subtype="error_during_execution",
            is_error=True,
            result=None,
            errors=["[ede_diagnostic] the turn was interrupted"],
            terminal_reason=terminal,
        )

    def start_failure(self, text: str) -> None:
        """The zeroed result of a start that failed."""
        self.rounds = 0
        self._begun = time.monotonic()
        self._write(
            {},
            subtype="error_during_execution",
            is_error=True,
            num_turns=0,
            result=None,
            errors=[text],
            terminal_reason=None,
            queued_turn_count=None,
            model_usage_since_last_result=None,
            usage={"input_tokens": 0, "output_tokens": 0},
            duration_api_ms=0,
            stop_reason=None,
        )

    def _write(self, answered: dict[str, Any], **fields: Any) -> None:
        price = 0.0 if fields.get("is_error") else PRICE * max(1, self.rounds)
        self._cost += price
        since = {"practice": {"inputTokens": 100, "outputTokens": 20, "costUSD": price}}
        line: dict[str, Any] = {
            "duration_api_ms": 1,
            "stop_reason": "end_turn",
            "session_id": self._output.sid,
            "total_cost_usd": round(self._cost, 6),
            "usage": {"input_tokens": 100, "output_tokens": 20},
            "modelUsage": {},
            "permission_denials": self.denials,
            "terminal_reason": "completed",
            "is_error": False,
            "num_turns": 1 + self.user_lines,
            "result": self._text,
            "type": "result",
            "duration_ms": int((time.monotonic() - self._begun) * 1000),
            "uuid": str(uuid.uuid4()),
            "queued_turn_count": self._waiting,
            "result_index": self._index,
            "model_usage_since_last_result": since,
            **fields,
        }
        for name in (
            "result",
            "terminal_reason",
            "queued_turn_count",
            "model_usage_since_last_result",
        ):
            if line[name] is None:
                del line[name]
        line.update(answered)
        self._index += 1
        self.last_failed = line["is_error"] is True
        self._output.line(line)

    def max_turns(self) -> Failure:
        """The turn has had as many rounds as it may."""
        return Failure("max_turns", "Reached maximum number of turns")
