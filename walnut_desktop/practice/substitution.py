"""`{{re:REGEX}}` in a directive: the last thing that the model has seen and that fits."""

from __future__ import annotations

import re
from typing import Any

_MARK = re.compile(r"\{\{re:(.*?)\}\}(?!\})")


def fill(value: Any, seen: str) -> Any:
    """The same value with its marks replaced, in all strings that it holds."""
    if isinstance(value, str):
        return _MARK.sub(lambda mark: _last(mark.group(1), seen), value)
    if isinstance(value, list):
        return [fill(item, seen) for item in value]
    if isinstance(value, dict):
        return {key: fill(item, seen) for key, item in value.items()}
    return value


def _last(pattern: str, seen: str) -> str:
    try:
        found = list(re.finditer(pattern, seen))
    except re.error:
        return "NO_MATCH"
    if not found:
        return "NO_MATCH"
    return str(found[-1].group(1 if found[-1].re.groups else 0))
