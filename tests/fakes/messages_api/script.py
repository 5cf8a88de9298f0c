r"""The little language in which a test says how the model shall answer.

A prompt holds directives in double brackets: `[[say Hello.]]`, `[[tool Bash {"command": "ls"}]]`.
They are cut into rounds; a round is one answer of the model. A round ends at `[[next]]`, and after
its tool calls as soon as something follows that isn't a call and doesn't only describe the round
(`stop`, `usage`, `header`, `retryafter`). So `[[tool …]] [[say x]]` calls the tool and says x once the
result is back.

Content, in the order written
  say TEXT             a text block
  think TEXT           a thinking block
  tool NAME {JSON}     a tool call; the JSON may itself hold directives, for a subagent's prompt
  badtool NAME TEXT    a tool call whose input is the raw TEXT, valid or not
  long N               a text block of N characters
  slow N MS            a text block of N words, one every MS milliseconds
Time
  delay S              wait before the response starts
  sleep S              wait at this point of the stream
  gate NAME            wait at this point until the test opens the gate
  hang                 send nothing more and keep the connection
Failure
  status CODE [N [TYPE [TEXT]]]  answer with this HTTP status, the first N times (0 or none: always)
  retryafter S         adds that header to the error
  sseerror TYPE        an error event at this point, then the end
  drop [N]             close the connection at this point, the first N times (none: always)
About the round
  stop REASON          the stop reason
  usage {JSON}         merged into the usage
  header NAME VALUE    one more response header
  next                 the round ends here

In `say` and in the JSON of `tool`, `{{re:REGEX}}` stands for the last match of REGEX in the
conversation (group 1 if there is one), for example the path of a plan file: `{{re:\S+/plans/\S+\.md}}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

TYPE_OF_ERROR = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}

CALLS = frozenset({"tool", "badtool"})
CONTENT = CALLS | {"say", "think", "long", "slow"}
DESCRIBING = frozenset({"stop", "usage", "header", "retryafter"})
PAUSES = frozenset({"sleep", "gate"})
NAMES = CONTENT | DESCRIBING | PAUSES | {"delay", "hang", "status", "sseerror", "drop", "next"}

_OPENING = re.compile(r"\[\[(\w+)\s*")
_TOOL_NAME = re.compile(r"([\w.:-]+)\s*")
_PLACEHOLDER = re.compile(r"\{\{re:(.*?)\}\}")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Directive:
    """One instruction; `value` is the JSON of `tool` and `usage`, `text` the argument of the others."""

    name: str
    text: str = ""
    value: object = None

    def words(self) -> list[str]:
        """The argument's words."""
        return self.text.split()

    def number(self, default: float = 0.0) -> float:
        """The argument's first word as a number."""
        words = self.words()
        return float(words[0]) if words else default


def parse(text: str) -> list[Directive]:
    """Every directive of a text in order; what only looks like one stays plain text."""
    found: list[Directive] = []
    position = 0
    while (opening := _OPENING.search(text, position)) is not None:
        parsed = _parse_at(text, opening)
        if parsed is None:
            position = opening.start() + 2
            continue
        directive, position = parsed
        found.append(directive)
    return found


def _parse_at(text: str, opening: re.Match[str]) -> tuple[Directive, int] | None:
    name, position = opening.group(1), opening.end()
    if name not in NAMES:
        return None
    if name not in ("tool", "usage"):
        closing = text.find("]]", position)
        return None if closing < 0 else (Directive(name, text[position:closing]), closing + 2)
    called = ""
    if name == "tool":
        named = _TOOL_NAME.match(text, position)
        if named is None:
            return None
        called, position = named.group(1), named.end()
    try:
        value, position = _DECODER.raw_decode(text, position)
    except ValueError:
        return None
    closing = text.find("]]", position)
    return None if closing < 0 else (Directive(name, called, value), closing + 2)


def cut_into_rounds(directives: Iterable[Directive]) -> list[list[Directive]]:
    """Which directives make which answer."""
    rounds: list[list[Directive]] = []
    current: list[Directive] = []
    called = False
    for directive in directives:
        starts_another = called and directive.name not in CALLS | DESCRIBING
        if directive.name == "next" or starts_another:
            rounds.append(current)
            current, called = [], False
        if directive.name != "next":
            current.append(directive)
            called = called or directive.name in CALLS
    if current:
        rounds.append(current)
    return rounds


def fill_in(value: object, conversation: str) -> object:
    """Replace the placeholders in every string of a JSON value."""
    if isinstance(value, dict):
        return {key: fill_in(item, conversation) for key, item in value.items()}
    if isinstance(value, list):
        return [fill_in(item, conversation) for item in value]
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda match: _last_match(match.group(1), conversation), value)
    return value


def _last_match(pattern: str, conversation: str) -> str:
    hits = [hit for hit in re.finditer(pattern, conversation) if "{{re:" not in hit.group(0)]
    if not hits:
        return "NO_MATCH"
    return str(hits[-1].group(1 if hits[-1].groups() else 0))
