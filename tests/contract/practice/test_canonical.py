"""The canonical file has the same lines as the real CLI's (Rule G9, cli-protocol 9)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.contract.practice import runner

pytestmark = pytest.mark.rule("G9")

SAME = [
    "01-simple-turn",
    "02-two-turns-fifo",
    "03-inject-consumed",
    "05-inject-not-consumed",
    "06-inject-three-consumed",
    "07-inject-three-merged",
    "10-permission-allow",
    "11-permission-deny",
    "12-permission-deny-interrupt",
    "18-interrupt-tool",
    "20-interrupt-with-queued",
    "21-interrupt-cancel-queued",
    "22-cancel-queued-message",
    "23-api-error-400",
    "31-duplicate-uuid",
    "32-bg-bash-finishes-later",
    "33-bg-bash-stop-task",
    "50-ask-user-question",
    "62-thinking",
    "64-unicode",
    "80-tool-errors",
]


def canonical_words(text: str) -> list[str]:
    """What was said and what waited; what the CLI notes for itself is left out."""
    return [word for raw in text.split("\n") if raw and (word := _word(json.loads(raw)))]


def _word(line: dict[str, Any]) -> str:
    kind = str(line["type"])
    name = str(line.get("uuid") or "")[:4] if _is_ours(str(line.get("uuid"))) else ""
    if kind == "queue-operation":
        command = str(line.get("commandUuid") or "")[:4]
        content = "text" if isinstance(line.get("content"), str) else ""
        return f"queue {line['operation']} {line.get('reason', '')} {command} {content}"
    if kind == "attachment" and line["attachment"]["type"] == "queued_command":
        return f"absorbed {str(line['attachment'].get('source_uuid'))[:4]}"
    if kind not in ("user", "assistant"):
        return ""
    content = line["message"]["content"]
    blocks = "text" if isinstance(content, str) else " ".join(block["type"] for block in content)
    merged = "+".join(uuid[:4] for uuid in line.get("mergedSendUuids") or [])
    origin = str((line.get("origin") or {}).get("kind") or "")
    failed = "error" if line.get("isApiErrorMessage") else ""
    return f"{kind} {name} {blocks} {merged} {origin} {failed}"


def _is_ours(uuid: str) -> bool:
    """The captures' messages have uuids of one digit or letter."""
    return len(set(uuid) - {"-", "4", "8", "9", "a", "b"}) <= 1 and len(set(uuid[:8])) == 1


@pytest.mark.parametrize("name", SAME)
def test_the_same_lines_in_the_file(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    runner.replay(name, tmp_path / "home", folder)
    seen = canonical_words(next(tmp_path.glob("home/projects/*/*.jsonl")).read_text())
    wanted = canonical_words((runner.CAPTURES / name / "canonical.jsonl").read_text())
    # The order of a `remove` and its attachment varies in the real CLI, too.
    assert sorted(seen) == sorted(wanted)
    assert [word for word in seen if word[0] in "ua"] == [
        word for word in wanted if word[0] in "ua"
    ]
