"""Looks messages up in the agent's own transcript. Opened for reading only, always (Rule F7)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path


def has_transcript(config_dir: str, sid: str) -> bool:
    """Whether the agent knows the session: one that was killed before it first wrote does not."""
    return any((Path(config_dir).expanduser() / "projects").glob(f"*/{sid}.jsonl"))


def find_messages(config_dir: str, sid: str, uuids: Iterable[str]) -> set[str]:
    """Which of the messages the agent has taken up, by any of the three marks (cli-protocol 4.3).

    A user line's own uuid, the uuids merged into one line, and the source of an absorbed message. A message
    that was only read (an `enqueue` line) is not taken up: it is lost with the process.
    """
    wanted = set(uuids)
    found: set[str] = set()
    root = Path(config_dir).expanduser() / "projects"
    for path in root.glob(f"*/{sid}.jsonl"):
        try:
            with path.open("rb") as file:
                for raw in file:
                    if any(uuid.encode() in raw for uuid in wanted):
                        found |= wanted & _marks(raw)
        except FileNotFoundError:
            continue
    return found


def _marks(raw: bytes) -> set[str]:
    try:
        line = json.loads(raw)
    except ValueError:
        return set()
    if not isinstance(line, dict):
        return set()
    marks = set()
    if line.get("type") == "user":
        marks.add(str(line.get("uuid") or ""))
        merged = line.get("mergedSendUuids")
        if isinstance(merged, list):
            marks.update(str(item) for item in merged)
    attachment = line.get("attachment")
    if isinstance(attachment, dict):
        marks.add(str(attachment.get("source_uuid") or ""))
    return marks
