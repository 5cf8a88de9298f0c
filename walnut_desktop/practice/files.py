"""The practice agent's own files, laid out as the real CLI does it, but never in the person's `~/.claude`."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Optional


def folder() -> Path:
    """$WALNUT_PRACTICE_HOME, else `~/.walnut-practice`."""
    return Path(os.environ.get("WALNUT_PRACTICE_HOME") or "~/.walnut-practice").expanduser()


def encode(cwd: str) -> str:
    """A folder's name from a working directory: every unit outside letters and digits is a dash."""
    units = cwd.encode("utf-16-le")
    pairs = [units[at : at + 2].decode("utf-16-le", "replace") for at in range(0, len(units), 2)]
    name = "".join(char if re.match(r"[A-Za-z0-9]", char) else "-" for char in pairs)
    return name if len(name) <= 200 else f"{name[:200]}-{_base36(abs(_hash(units)))}"


def _hash(units: bytes) -> int:
    """The 32-bit hash that tells long names apart."""
    value = 0
    for at in range(0, len(units), 2):
        value = (value * 31 + int.from_bytes(units[at : at + 2], "little")) & 0xFFFFFFFF
    return value - (1 << 32) if value & 0x80000000 else value


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, rest = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[rest] + digits
    return digits or "0"


def find_transcript(sid: str) -> Optional[Path]:
    """The transcript of a session, in whichever folder it began."""
    return next(iter((folder() / "projects").glob(f"*/{sid}.jsonl")), None)


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
            draft = self._path.with_suffix(".new")
            draft.write_text(json.dumps({**self._data, "status": word}))
            draft.replace(self._path)  # who looks never sees half of it
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
