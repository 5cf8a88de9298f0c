"""The practice agent's own files, laid out as the real CLI does it, but never in the person's `~/.claude`."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any, Optional

from walnut_desktop.practice.output import now


def folder() -> Path:
    """$WALNUT_PRACTICE_HOME, else `~/.walnut-practice`."""
    return Path(os.environ.get("WALNUT_PRACTICE_HOME") or "~/.walnut-practice").expanduser()


def encode(cwd: str) -> str:
    """A folder's name from a working directory: every unit outside letters and digits is a dash."""
    units = cwd.encode("utf-16-le")
    pairs = [units[at : at + 2].decode("utf-16-le", "replace") for at in range(0, len(units), 2)]
    return "".join(char if re.match(r"[A-Za-z0-9]", char) else "-" for char in pairs)[:200]


def find_transcript(sid: str) -> Optional[Path]:
    """The transcript of a session, in whichever folder it began."""
    return next(iter((folder() / "projects").glob(f"*/{sid}.jsonl")), None)


class Transcript:
    """The canonical file: what the model has seen. No result, state or lifecycle line is ever in it."""

    def __init__(self, sid: str, cwd: str) -> None:
        self.sid = sid
        self.path = find_transcript(sid) or folder() / "projects" / encode(cwd) / f"{sid}.jsonl"

    def known_uuids(self) -> set[str]:
        """The uuids of user lines: only these are recognised after a resume (cli-protocol 4.3)."""
        known: set[str] = set()
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return known
        for raw in lines:
            try:
                line = json.loads(raw)
            except ValueError:
                continue
            if (
                isinstance(line, dict)
                and line.get("type") == "user"
                and "toolUseResult" not in line
            ):
                known.add(str(line.get("uuid")))
        return known

    def add(self, line: dict[str, Any]) -> None:
        """Append one line. A full disk must not stop the turn."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self.path.open("ab") as file:
                stamped = {**line, "timestamp": now(), "sessionId": self.sid}
                file.write(
                    json.dumps(stamped, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
                )
        except OSError:
            return


class LiveEntry:
    """`sessions/<pid>.json`: who runs this session now. Left behind only by SIGKILL."""

    def __init__(self, sid: str, cwd: str) -> None:
        self._path = folder() / "sessions" / f"{os.getpid()}.json"
        self._data = {
            "pid": os.getpid(),
            "sessionId": sid,
            "cwd": cwd,
            "startedAt": int(time.time() * 1000),
            "procStart": _start_ticks(),
            "version": "2.1.328",
            "kind": "interactive",
            "entrypoint": "sdk-cli",
        }
        self.status("idle")

    def status(self, word: str) -> None:
        """busy, idle or waiting."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._path.write_text(json.dumps({**self._data, "status": word}))
        except OSError:
            return

    def remove(self) -> None:
        """This process ends."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError:
            return


def _start_ticks() -> str:
    try:
        text = Path("/proc/self/stat").read_text()
    except OSError:
        return ""
    return text[text.rfind(")") + 2 :].split()[19]
