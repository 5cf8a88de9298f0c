"""The service behind a pretended model: what it refuses, and how that is told (cli-protocol 3.1)."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any, Optional

from walnut_desktop.practice.output import now
from walnut_desktop.practice.results import Failure
from walnut_desktop.practice.script import Round

if TYPE_CHECKING:
    from walnut_desktop.practice.session import Session

RETRY_S = 0.05
_ERRORS = {
    400: ("unknown", "invalid_request_error"),
    401: ("authentication_failed", "authentication_error"),
    403: ("authentication_failed", "permission_error"),
    404: ("model_not_found", "not_found_error"),
    413: ("invalid_request", "request_too_large"),
    429: ("rate_limit", "rate_limit_error"),
    500: ("unknown", "api_error"),
    529: ("server_error", "overloaded_error"),
}
_RETRY_WORDS = {401: "authentication_failed", 429: "rate_limit", 529: "overloaded"}
_TEXTS = {
    401: "Please run /login · API Error: 401 scripted 401",
    529: (
        "API Error: Repeated 529 Overloaded errors. The API is at capacity — this is usually temporary. "
        "Try again in a moment."
    ),
}
_HEADER = "anthropic-ratelimit-unified-"


class Service:
    """Fails as it is told to."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._failed: dict[str, int] = {}

    def status(self, words: str, current: Round) -> Optional[Failure]:
        """It answers with an error: so many times, or every time. None when it works in the end."""
        numbers = [int(part) for part in words.split() if part.isdigit()]
        code = numbers[0] if numbers else 500
        limits = self._limits(current)
        rejected = limits.get("status") == "rejected"
        times = numbers[1] if len(numbers) > 1 and numbers[1] else None
        left = None if times is None else times - self._failed.get(words, 0)
        retries = 0 if rejected else {529: 2, 401: 10, 429: 10, 500: 10, 503: 10}.get(code, 0)
        tries = retries if left is None else min(retries, max(0, left))
        self._failed[words] = self._failed.get(words, 0) + tries + 1
        for attempt in range(1, tries + 1):
            self._retry(code, attempt, left)
            self._session.wait(RETRY_S)
        if left is not None and left <= retries:
            return None
        word, kind = _ERRORS.get(code, ("unknown", "api_error"))
        text = _TEXTS.get(code, f"API Error: {code} scripted {code}")
        if rejected:
            at = time.strftime("%b %d, %H:%M", time.gmtime(float(limits.get("reset") or 0)))
            text = f"You've hit your 5-hour limit · resets {at} (UTC)"
        self._error_line(word, text, api_error_status=code, api_error_type=kind)
        return Failure(word, text)

    def _retry(self, code: int, attempt: int, left: Optional[int]) -> None:
        """Told for an overload at once, for other errors when they last: as the real CLI seems to."""
        if code == 529 or left is None:
            self._session.output.system(
                "api_retry",
                attempt=attempt,
                max_retries=10,
                retry_delay_ms=int(RETRY_S * 1000),
                error_status=code,
                error=_RETRY_WORDS.get(code, "unknown"),
            )

    def limits(self, current: Round) -> None:
        """The limits of a subscription, when `[[header ...]]` directives speak of them."""
        limits = self._limits(current)
        if limits.get("status") not in ("allowed_warning", "rejected"):
            return
        resets = int(float(limits.get("reset") or limits.get("5h-reset") or 0))
        window = {"utilization": float(limits.get("5h-utilization") or 0), "resetsAt": resets}
        info = {
            "status": limits["status"],
            "resetsAt": resets,
            "rateLimitType": limits.get("representative-claim") or "five_hour",
            "utilization": window["utilization"],
            "unifiedWindows": {"five_hour": window},
        }
        line = {"type": "rate_limit_event", "rate_limit_info": info}
        self._session.output.line({**line, **self._session.output.common()})

    def _limits(self, current: Round) -> dict[str, str]:
        found = {}
        for step in current:
            name, _, value = step.words.partition(" ")
            if step.name == "header" and name.startswith(_HEADER):
                found[name.removeprefix(_HEADER)] = value.strip()
        return found

    def not_logged_in(self) -> Failure:
        """There is no account."""
        text = "Not logged in · Please run /login"
        self._error_line("authentication_failed", text)
        return Failure("authentication_failed", text)

    def _error_line(self, word: str, text: str, **fields: Any) -> None:
        session = self._session
        message = {
            "id": str(uuid.uuid4()),
            "type": "message",
            "role": "assistant",
            "model": "<synthetic>",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "stop_sequence",
            "stop_sequence": "",
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        common = session.output.common()
        errors = {"error": word, "is_api_error_message": True, **fields, **session.turns.names()}
        line = {
            "type": "assistant",
            "message": message,
            "parent_tool_use_id": None,
            "timestamp": now(),
        }
        session.output.line({**line, **common, **errors})
        session.transcript.message(
            "assistant", message["content"], uuid=common["uuid"], error=word, isApiErrorMessage=True
        )
