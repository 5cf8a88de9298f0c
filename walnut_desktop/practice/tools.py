"""Commands that really run, and the answers to calls that cannot be taken."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import IO, Any, NamedTuple, Optional

MAX_OUTPUT = 30_000


class Outcome(NamedTuple):
    """What a tool gave."""

    content: str
    is_error: bool = False
    detail: Any = None


class Command:
    """A running command: a session and group leader of its own, as under the real CLI.

    Its output goes to a file, so what it leaves running in the background does not hold it up.
    """

    def __init__(self, command: str, cwd: str, path: Optional[Path] = None) -> None:
        import subprocess  # only who runs something pays for it: the agent must start at once

        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file = _open(path)
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", command],
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=self._file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError:
            self._file.close()
            raise

    def done(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    @property
    def exit_code(self) -> int:
        """As a shell counts signals; waits for the end."""
        code = self._process.wait()
        return 128 - code if code < 0 else code

    def output(self) -> str:
        """What it has written so far."""
        size = os.fstat(self._file.fileno()).st_size
        return os.pread(self._file.fileno(), size, 0).decode("utf-8", "replace")

    def outcome(self) -> Outcome:
        """Its output and how it ended."""
        code, text = self.exit_code, self.output().rstrip("\n")[:MAX_OUTPUT]
        self._file.close()
        if code:
            words = f"Exit code {code}\n{text}".rstrip()
            return Outcome(words, is_error=True, detail=f"Error: {words}")
        return Outcome(text or "(Bash completed with no output)", detail=shell_detail(text))

    def kill(self) -> None:
        """End it and its group."""
        if not self.done():
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def _open(path: Optional[Path]) -> IO[bytes]:
    """For appending: the command and whoever looks do not share a position."""
    import tempfile

    return path.open("a+b") if path is not None else tempfile.TemporaryFile("a+b")


def shell_detail(text: str, **more: Any) -> dict[str, Any]:
    """What a host gets to know of a command's end."""
    plain = {"stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": not text}
    return {"stdout": text, **plain, **more}


NEEDED = {
    "Bash": ("command",),
    "Read": ("file_path",),
    "Write": ("file_path", "content"),
    "Edit": ("file_path", "old_string", "new_string"),
    "AskUserQuestion": (),
    "EnterPlanMode": (),
    "ExitPlanMode": (),
    "Practice": (),
}
"""The tools, and the texts that each must be given."""


def bad_input(name: str, tool_input: dict[str, Any]) -> Optional[Outcome]:
    """Input that lacks something, or a tool that is not there, is refused before anybody is asked."""
    if name not in NEEDED:
        return unknown_tool(name)
    missing = [key for key in NEEDED[name] if not isinstance(tool_input.get(key), str)]
    if not missing:
        return None
    issues = "\n".join(f"The required parameter `{key}` is missing" for key in missing)
    words = f"InputValidationError: {name} failed due to the following issues:\n{issues}"
    return Outcome(f"<tool_use_error>{words}</tool_use_error>", is_error=True, detail=words)


def unparsed(name: str, text: str) -> Outcome:
    """The answer to a call whose input is no JSON."""
    size = len(text.encode("utf-8", "replace"))
    words = (
        f"InputValidationError: {name} was called with input that could not be parsed as JSON.\n"
        f"You sent (first {size} of {size} bytes): {text}"
    )
    detail = f"InputValidationError: JSON parse failed ({size} bytes)"
    return Outcome(f"<tool_use_error>{words}</tool_use_error>", is_error=True, detail=detail)


def unknown_tool(name: str) -> Outcome:
    """The answer to a tool that does not exist."""
    words = f"No such tool available: {name}"
    return Outcome(
        f"<tool_use_error>Error: {words}</tool_use_error>", is_error=True, detail=f"Error: {words}"
    )
