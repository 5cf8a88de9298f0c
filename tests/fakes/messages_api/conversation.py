"""Reads a request: which prompt carries the script, and how far the conversation is in it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.fakes.messages_api.script import Directive, cut_into_rounds, parse

DefaultScript = str | Callable[[str], str] | None
"""The script for prompts without directives: a text, or a function from the prompt to a text."""

_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_INJECTED = re.compile(
    r"sent a (?:new )?message while you were working[^:]*:\s*(.*?)(?:\n\n|</system-reminder>|$)",
    re.DOTALL,
)
_SUMMARY_WANTED = re.compile(
    r"Your task is to create a detailed summary|tasked with summarizing conversations"
)
_TITLE_WANTED = re.compile(r'sentence-case title|Generate a concise.*title|"title" field')

SUMMARY = "<analysis>short</analysis>\n<summary>1. Primary Request: a made-up summary.</summary>"
TITLE = '{"title": "Made-up session title"}'


@dataclass(frozen=True, slots=True)
class Reading:
    """What the server needs to know about one request."""

    round: list[Directive]
    number: int
    """Which round of the script this is."""
    key: str
    """Names session, prompt and round, to count how often the same answer was asked for."""
    last_prompt: str
    later: list[str]
    """What the person said after the scripted prompt, also in the middle of the turn."""


def read(body: Mapping[str, object], default_script: DefaultScript = None) -> Reading:
    """Find the script that rules this request, and its round."""
    messages = _messages(body)
    prompts = [
        (index, text) for index, message in enumerate(messages) for text in user_texts(message)
    ]
    last_prompt = prompts[-1][1] if prompts else ""
    own_wish = _wish_of_the_cli(body, last_prompt)
    if own_wish is not None:
        return Reading([Directive("say", own_wish)], 0, "cli", last_prompt, [])
    anchor, directives = _scripted_prompt(messages)
    if default_script is not None and prompts and prompts[-1][0] > anchor:
        anchor = prompts[-1][0]
        script = default_script if isinstance(default_script, str) else default_script(last_prompt)
        directives = parse(script)
    if anchor < 0:
        return Reading(
            [Directive("say", "Echo: " + last_prompt[-200:])], 0, "echo", last_prompt, []
        )
    number = sum(message.get("role") == "assistant" for message in messages[anchor + 1 :])
    later = [text for message in messages[anchor + 1 :] for text in person_texts(message)]
    rounds = cut_into_rounds(directives)
    chosen = rounds[number] if number < len(rounds) else [Directive("say", _closing(later))]
    digest = hashlib.sha256(repr(directives).encode()).hexdigest()[:12]
    key = f"{session_of(body)}:{anchor}:{digest}:{number}"
    return Reading(chosen, number, key, last_prompt, later)


def user_texts(message: Mapping[str, object]) -> list[str]:
    """The prompts in a message: without reminders, without tool results."""
    if message.get("role") != "user":
        return []
    texts = (_REMINDER.sub("", text) for text in _text_blocks(message))
    return [text for text in texts if text.strip() and not _INJECTED.search(text)]


def injected_texts(message: Mapping[str, object]) -> list[str]:
    """What the CLI folded into a running turn; it tells the model so in words around the message."""
    if message.get("role") not in ("user", "system"):
        return []
    texts = _text_blocks(message) + _tool_result_texts(message)
    return [hit.group(1).strip() for text in texts for hit in _INJECTED.finditer(text)]


def person_texts(message: Mapping[str, object]) -> list[str]:
    """All that the person said in a message, as prompt or in the middle of a turn."""
    return user_texts(message) + injected_texts(message)


def all_text(value: object) -> str:
    """Every string of a JSON value."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "\n".join(all_text(item) for item in value.values())
    if isinstance(value, list):
        return "\n".join(all_text(item) for item in value)
    return ""


def session_of(body: Mapping[str, object]) -> str:
    """The session that the CLI names in its metadata."""
    metadata = body.get("metadata")
    user = metadata.get("user_id") if isinstance(metadata, dict) else None
    if not isinstance(user, str):
        return ""
    try:
        named = json.loads(user)
    except ValueError:
        return user
    return str(named.get("session_id", user)) if isinstance(named, dict) else user


def _scripted_prompt(messages: list[Mapping[str, object]]) -> tuple[int, list[Directive]]:
    """The newest prompt that holds directives; -1 when none does."""
    for index in range(len(messages) - 1, -1, -1):
        for text in reversed(person_texts(messages[index])):
            directives = parse(text)
            if directives:
                return index, directives
    return -1, []


def _wish_of_the_cli(body: Mapping[str, object], last_prompt: str) -> str | None:
    """The answer to a request that the CLI makes for itself: a summary or a title."""
    system = all_text(body.get("system"))
    if _SUMMARY_WANTED.search(last_prompt) or _SUMMARY_WANTED.search(system):
        return SUMMARY
    if not body.get("tools") and not parse(last_prompt) and _TITLE_WANTED.search(system):
        return TITLE
    return None


def _closing(later: list[str]) -> str:
    """Said when the script is over; names what came in since, so that a test sees it arrived."""
    heard = " | ".join(text.strip()[:120] for text in later)
    return f"Done. [{heard}]" if heard else "Done."


def _messages(body: Mapping[str, object]) -> list[Mapping[str, object]]:
    messages = body.get("messages")
    if not isinstance(messages, list):
        return []
    return [message for message in messages if isinstance(message, dict)]


def _blocks(content: object) -> list[Mapping[str, object]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, dict)]


def _text_blocks(message: Mapping[str, object]) -> list[str]:
    blocks = _blocks(message.get("content"))
    return [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]


def _tool_result_texts(message: Mapping[str, object]) -> list[str]:
    return [
        str(inner.get("text", ""))
        for block in _blocks(message.get("content"))
        if block.get("type") == "tool_result"
        for inner in _blocks(block.get("content"))
        if inner.get("type") == "text"
    ]
