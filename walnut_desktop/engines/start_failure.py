"""Why an agent did not start, in a sentence with what to do. Pure (cli-protocol 1.4)."""

from __future__ import annotations

import re
from typing import NamedTuple


class Explanation(NamedTuple):
    """A word for the log and tests, the sentence, and what to do."""

    reason: str
    message: str
    hint: str


_GET_CLAUDE = (
    "Install it with `npm install -g @anthropic-ai/claude-code`, or name its place in the settings. "
    "You can try the app with the practice agent meanwhile."
)

_BY_WORD = {
    "program_missing": Explanation(
        "program_missing", "{label} was not found on this machine.", _GET_CLAUDE
    ),
    "cwd_missing": Explanation(
        "cwd_missing", "The working folder does not exist.", "Choose another folder."
    ),
    "cwd_forbidden": Explanation(
        "cwd_forbidden",
        "The working folder can't be entered.",
        "Check its rights or choose another one.",
    ),
    "held_elsewhere": Explanation(
        "held_elsewhere",
        "This session already runs in another program.",
        "Close it there first; two at once would tear its history apart.",
    ),
    "sid_in_use": Explanation(
        "sid_in_use", "There is a session with this id already.", "Start again."
    ),
    "already_running": Explanation(
        "already_running", "This session is running already.", "Send to it."
    ),
    "disk": Explanation(
        "disk", "The session's files can't be written.", "Free some space on the disk."
    ),
    "timeout": Explanation(
        "timeout",
        "{label} did not answer in time.",
        "Check that it works in a terminal, then start again.",
    ),
    "not_logged_in": Explanation(
        "not_logged_in",
        "{label} is not logged in.",
        "Run `claude` in a terminal, type /login, then start again.",
    ),
}

_BY_OUTPUT = (
    (re.compile(r"already in use", re.IGNORECASE), _BY_WORD["sid_in_use"]),
    (
        re.compile(r"not logged in|run /login|invalid api key", re.IGNORECASE),
        _BY_WORD["not_logged_in"],
    ),
    (
        re.compile(r"unknown option '?(?P<what>[^'\n]+)'?"),
        Explanation(
            "unknown_option",
            "This version of {label} does not know the option {what}.",
            "Update it: version 2.1.328 or newer is needed.",
        ),
    ),
    (
        re.compile(r"No conversation found"),
        Explanation(
            "conversation_lost",
            "{label} no longer has this conversation.",
            "Start a new session; the chat stays readable here.",
        ),
    ),
    (
        re.compile(r"cannot be used with root"),
        Explanation(
            "root_refused",
            "{label} refuses to run without permissions as root.",
            "Choose another permission mode.",
        ),
    ),
    (
        re.compile(r"running in the background"),
        _BY_WORD["held_elsewhere"],
    ),
    (re.compile(r"directory no longer exists", re.IGNORECASE), _BY_WORD["cwd_missing"]),
    (
        re.compile(r"Invalid MCP configuration:?\s*(?P<what>[^\n]*)"),
        Explanation(
            "mcp_config", "The MCP configuration is not valid. {what}", "Mend it and start again."
        ),
    ),
)


def by_word(word: str, label: str, detail: str = "") -> Explanation:
    """The daemon refused: its word, and its own sentence as a fallback."""
    known = _BY_WORD.get(word)
    if known is None:
        return Explanation(word, detail or f"{label} could not be started.", "Try again.")
    message = known.message.format(label=label)
    if detail and word.startswith("cwd"):
        message = detail
    return known._replace(message=message)


def by_output(output: str, exit_code: int | None, label: str) -> Explanation:
    """The agent ended before it began: what it said, and its exit code."""
    for pattern, known in _BY_OUTPUT:
        match = pattern.search(output)
        if match is not None:
            what = (match.groupdict().get("what") or "").strip()
            return known._replace(message=known.message.format(label=label, what=what).strip())
    last = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")
    code = f" with exit code {exit_code}" if exit_code is not None else ""
    said = f" It said: {last[:300]}" if last else ""
    return Explanation(
        "ended", f"{label} ended{code} before it began.{said}", "Check that it works in a terminal."
    )
