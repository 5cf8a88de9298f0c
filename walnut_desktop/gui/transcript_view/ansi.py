"""Terminal output made harmless: colours become runs, every other escape and control goes. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from walnut_desktop.gui.theme.tokens import DARK, LIGHT, contrast

_ESCAPE = re.compile(
    r"\x1b(?:\[([0-9;:?<=>!]*)([ -/]*[@-~])?"  # CSI: colours and cursor movements
    r"|\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC: titles and links
    r"|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])?"
)
# Direction overrides can make a command read as another one.
_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffc]"
)
MOST_RUNS = 4000
READABLE = 4.5
_STEPS = (0, 95, 135, 175, 215, 255)
_OVERWRITTEN = re.compile(r"^[^\n]*\r(?!\n|$)", re.MULTILINE)


class Run(NamedTuple):
    """A stretch of text with one look. `color` is an index of 256 or -1 for the usual one."""

    start: int
    length: int
    color: int
    bold: bool


def clean(text: str) -> tuple[str, list[Run]]:
    """The plain text, and where it is coloured or bold."""
    if "\x1b" not in text:
        return _plain(text), []
    out: list[str] = []
    runs: list[Run] = []
    color, bold, length, at = -1, False, 0, 0
    for match in _ESCAPE.finditer(text):
        piece = _plain(text[at : match.start()])
        if piece:
            if color >= 0 or bold:
                runs.append(Run(length, len(piece), color, bold))
            out.append(piece)
            length += len(piece)
        at = match.end()
        if match.group(2) == "m":
            color, bold = _look(match.group(1) or "", color, bold=bold)
    piece = _plain(text[at:])
    if piece and (color >= 0 or bold):
        runs.append(Run(length, len(piece), color, bold))
    out.append(piece)
    return "".join(out), runs if len(runs) <= MOST_RUNS else []


def _plain(text: str) -> str:
    if "\r" in text:
        text = _OVERWRITTEN.sub("", text.replace("\r\n", "\n")).replace("\r", "")
    return _CONTROL.sub("", text)


def _look(codes: str, color: int, *, bold: bool) -> tuple[int, bool]:
    numbers = [int(part) if part.isdigit() else 0 for part in re.split("[;:]", codes)] or [0]
    at = 0
    while at < len(numbers):
        code = numbers[at]
        if code == 0:
            color, bold = -1, False
        elif code == 1:
            bold = True
        elif code == 22:
            bold = False
        elif 30 <= code <= 37:
            color = code - 30
        elif 90 <= code <= 97:
            color = code - 82
        elif code == 39:
            color = -1
        elif code in (38, 48):
            if numbers[at + 1 : at + 2] == [5] and at + 2 < len(numbers):
                color = numbers[at + 2] if code == 38 else color
                at += 2
            elif numbers[at + 1 : at + 2] == [2]:
                at += 4
        at += 1
    return color, bold


_BASE = (
    ("#3b3b3b", "#b3261e", "#2c6e49", "#8a5300", "#1f5a96", "#7b3f9e", "#0f6b6b", "#6b625a"),
    ("#d0c8be", "#ff8a80", "#84c79b", "#f0b45b", "#8fbfef", "#cf9bea", "#7fd1cf", "#ece6de"),
)


@lru_cache(maxsize=512)
def rgb(color: int, *, dark: bool) -> str:
    """A colour of the 256 as `#rrggbb`, moved as far as it takes to be readable on our ground.

    The first 16 are ours anyway.
    """
    if color < 16:
        return _BASE[dark][color % 8]
    if color >= 232:
        parts = [8 + (color - 232) * 10] * 3
    else:
        color -= 16
        parts = [_STEPS[part] for part in (color // 36, color // 6 % 6, color % 6)]
    ground = (DARK if dark else LIGHT)["raised"]
    for _ in range(20):
        text = "#{:02x}{:02x}{:02x}".format(*parts)
        if contrast(text, ground) >= READABLE:
            return text
        parts = [part + (255 - part) // 8 + 1 if dark else part * 7 // 8 for part in parts]
        parts = [min(255, part) for part in parts]
    return (DARK if dark else LIGHT)["text"]
