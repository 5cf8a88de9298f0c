"""The two ways out of the middle of something."""

from __future__ import annotations


class Interrupted(Exception):
    """The turn is cut; the process goes on. `in_tool` says whether a tool was at work."""

    def __init__(self, *, in_tool: bool = False) -> None:
        super().__init__()
        self.in_tool = in_tool


class Ended(Exception):
    """The process ends with this exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code
