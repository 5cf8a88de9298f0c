"""The directives in a prompt: what the practice agent is told to do, as rounds of a model's answers.

`[[say TEXT]]` `[[think TEXT]]` `[[tool NAME {JSON}]]` `[[badtool NAME TEXT]]` `[[long N]]` `[[slow N MS]]`
`[[sleep S]]` `[[delay S]]` `[[hang]]` `[[status CODE [N]]]` `[[stop REASON]]` `[[login]]` `[[crash]]`
`[[exit N]]` `[[garbage TEXT]]` `[[torn TEXT]]` `[[raw {JSON}]]` `[[toolout N]]` `[[header NAME VALUE]]`
`[[next]]`.
A round ends at `[[next]]`, and after tools when something else than a tool follows.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, Optional

NAMES = frozenset(
    {
        *("say", "think", "tool", "badtool", "toolout", "long", "slow", "next", "stop"),
        *("sleep", "delay", "hang", "status", "login", "header"),
        *("crash", "exit", "garbage", "torn", "raw"),
    }
)
_TOOLS = frozenset({"tool", "badtool", "toolout"})
_NEUTRAL = frozenset({"stop", "header"})
_HEAD = re.compile(r"\[\[(\w+)\s*")
_TOOL_NAME = re.compile(r"([\w.:-]+)\s*")


class Step(NamedTuple):
    """One directive: its name, its words, and for tools the input."""

    name: str
    words: str
    data: Optional[dict[str, Any]] = None


Round = list[Step]


def parse(text: str) -> list[Step]:
    """The directives of a text, in order; what is none is plain text."""
    steps: list[Step] = []
    at, decoder = 0, json.JSONDecoder()
    while True:
        at = text.find("[[", at)
        if at < 0:
            return steps
        head = _HEAD.match(text, at)
        if head is None or head.group(1) not in NAMES:
            at += 2
            continue
        name, rest = head.group(1), head.end()
        words = ""
        if name in ("tool", "raw"):
            if name == "tool":
                tool = _TOOL_NAME.match(text, rest)
                if tool is None:
                    at += 2
                    continue
                words, rest = tool.group(1), tool.end()
            try:
                data, end = decoder.raw_decode(text, rest)
            except (ValueError, RecursionError):
                at += 2
                continue
            close = text.find("]]", end)
            if close < 0 or not isinstance(data, dict):
                return steps
            steps.append(Step(name, words, data))
        else:
            close = text.find("]]", rest)
            if close < 0:
                return steps
            steps.append(Step(name, text[rest:close]))
        at = close + 2


def rounds(steps: list[Step]) -> list[Round]:
    """The directives cut into one list per answer of the model."""
    done: list[Round] = []
    current: Round = []
    had_tool = False
    for step in steps:
        ends = had_tool and step.name not in _TOOLS and step.name not in _NEUTRAL
        if step.name == "next" or ends:
            done.append(current)
            current, had_tool = [], False
        if step.name != "next":
            current.append(step)
            had_tool = had_tool or step.name in _TOOLS
    if current:
        done.append(current)
    return done


LARGEST = 1e8


def numbers(words: str, *usual: float) -> list[float]:
    """The numbers of a directive, with the usual ones for those that are missing or make no sense."""
    found, parts = [], words.split()
    for number, default in enumerate(usual):
        try:
            value = float(parts[number])
        except (IndexError, ValueError):
            value = default
        found.append(value if 0 <= value <= LARGEST else default)
    return found
