"""Plan mode: a file that the agent may write without a question, and the question whether to begin."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from walnut_desktop.practice.files import folder
from walnut_desktop.practice.tools import Outcome

_ADJECTIVES = (
    "amber",
    "brisk",
    "calm",
    "gentle",
    "hazy",
    "mellow",
    "nutty",
    "quiet",
    "sunny",
    "tidy",
)
_NOUNS = (
    "acorn",
    "brook",
    "clover",
    "grove",
    "lantern",
    "meadow",
    "orchard",
    "pebble",
    "shell",
    "twig",
)


class Plan:
    """The plan file of a session; named after the prompt that first needs one."""

    def __init__(self) -> None:
        self._path = ""

    def path(self, prompt: str = "") -> str:
        """Where it is, or will be."""
        if not self._path:
            words = re.findall(r"[a-z]+", prompt.lower())[:4] or ["plan"]
            chance = os.urandom(2)
            words += [_ADJECTIVES[chance[0] % 10], _NOUNS[chance[1] % 10]]
            self._path = str(folder() / "plans" / f"{'-'.join(words)}.md")
        return self._path

    def is_file(self, name: str, tool_input: dict[str, Any]) -> bool:
        """Whether a call writes the plan."""
        return name in ("Write", "Edit") and tool_input.get("file_path") == self._path != ""

    def asked(self) -> dict[str, Any]:
        """What the person is shown: the whole plan. Nothing when no file was written."""
        try:
            text = Path(self._path).read_text() if self._path else ""
        except OSError:
            text = ""
        return {"plan": text, "planFilePath": self._path} if text else {}

    def approved(self, tool_input: dict[str, Any]) -> Outcome:
        """The answer to the call when the person said yes."""
        plan, path = str(tool_input.get("plan") or ""), str(tool_input.get("planFilePath") or "")
        words = "User has approved your plan. You can now start coding."
        if plan:
            words += f"\n\nYour plan has been saved to: {path}\n\n## Approved Plan:\n{plan}"
        return Outcome(words, detail={"plan": plan, "isAgent": False, "filePath": path})
