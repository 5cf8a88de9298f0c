"""What is read in the agent's own folders, never written (Rule F7): who runs, and what was taken up."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.unit.transcript import captures
from walnut_desktop.daemon.canonical import find_messages, has_transcript
from walnut_desktop.daemon.identity import start_of
from walnut_desktop.daemon.live_registry import find_holder

SID = "11111111-2222-4333-8444-555555555555"


def register(folder: Path, name: str, entry: Any) -> None:
    """An entry of the agents' registry."""
    (folder / "sessions").mkdir(exist_ok=True)
    raw = entry if isinstance(entry, bytes) else json.dumps(entry).encode()
    (folder / "sessions" / f"{name}.json").write_bytes(raw)


def entry(pid: int, **more: Any) -> dict[str, Any]:
    """What an agent says of itself."""
    return {"pid": pid, "sessionId": SID, "cwd": "/x", "kind": "interactive", **more}


@pytest.mark.rule("S14")
def test_a_living_process_holds_its_session(tmp_path: Path) -> None:
    register(tmp_path, "1", entry(os.getpid(), procStart=start_of(os.getpid())))
    holder = find_holder(str(tmp_path), SID)
    assert holder is not None
    assert (holder.pid, holder.kind, holder.cwd) == (os.getpid(), "interactive", "/x")
    assert find_holder(str(tmp_path), "another-session") is None


def test_a_start_time_that_is_not_told_is_believed(tmp_path: Path) -> None:
    register(tmp_path, "1", entry(os.getpid()))
    assert find_holder(str(tmp_path), SID) is not None


def test_a_start_time_may_be_a_number(tmp_path: Path) -> None:
    register(tmp_path, "1", entry(os.getpid(), procStart=int(start_of(os.getpid()) or 0)))
    assert find_holder(str(tmp_path), SID) is not None


@pytest.mark.rule("S14")
def test_a_number_that_was_used_again_holds_nothing(tmp_path: Path) -> None:
    register(tmp_path, "1", entry(os.getpid(), procStart="1"))
    assert find_holder(str(tmp_path), SID) is None


def test_a_dead_process_holds_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    register(tmp_path, "1", entry(process.pid))
    assert find_holder(str(tmp_path), SID) is None


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff", b'{"sessionId": 5}', b"null"])
def test_nonsense_hides_nobody(tmp_path: Path, raw: bytes) -> None:
    register(tmp_path, "0", raw)
    register(tmp_path, "1", entry(os.getpid()))
    register(tmp_path, "2", {"sessionId": SID, "pid": "7"})
    assert find_holder(str(tmp_path), SID) is not None
    assert find_holder(str(tmp_path / "none"), SID) is None


# -- what was taken up -----------------------------------------------------------------------------


def projects(tmp_path: Path, *lines: dict[str, Any] | bytes) -> str:
    """A folder of an agent with one transcript."""
    folder = tmp_path / "projects" / "-tmp-x"
    folder.mkdir(parents=True)
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    (folder / f"{SID}.jsonl").write_bytes(b"\n".join([*raw, b""]))
    return str(tmp_path)


@pytest.mark.rule("M1")
def test_each_of_the_three_marks_counts_and_a_queue_line_does_not(tmp_path: Path) -> None:
    folder = projects(
        tmp_path,
        {"type": "queue-operation", "operation": "enqueue", "content": "lost-uuid", "uuid": "lost"},
        {"type": "user", "uuid": "plain", "message": {"role": "user", "content": "about other"}},
        {"type": "user", "uuid": "x", "mergedSendUuids": ["merged-1", "merged-2"]},
        {"type": "attachment", "attachment": {"type": "queued_command", "source_uuid": "absorbed"}},
        {"type": "assistant", "uuid": "assistants"},
        b'{"type":"user","uuid":"torn',
    )
    asked = ["plain", "merged-1", "merged-2", "absorbed", "lost", "assistants", "other", "torn"]
    found = find_messages(folder, SID, asked)
    assert found == {"plain", "merged-1", "merged-2", "absorbed"}
    assert find_messages(folder, SID, []) == set()
    assert find_messages(folder, "another", asked) == set()
    assert find_messages(str(tmp_path / "none"), SID, asked) == set()


def sent_uuids(name: str) -> list[str]:
    """The messages that a capture has sent."""
    events = (captures.ROOT / name / "stdin.jsonl").read_text().split("\n")
    lines = [json.loads(event).get("line") for event in events if event]
    return [
        line["uuid"]
        for line in lines
        if isinstance(line, dict) and line.get("type") == "user" and line.get("uuid")
    ]


@pytest.mark.rule("M1")
@pytest.mark.parametrize(
    ("name", "lost"),
    [
        ("02-two-turns-fifo", 0),
        ("03-inject-consumed", 0),
        ("05-inject-not-consumed", 0),
        ("06-inject-three-consumed", 0),
        ("07-inject-three-merged", 0),
        ("09-inject-priority-now", 0),
        ("22-cancel-queued-message", 1),
        ("30-killed-with-queued-message", 0),  # sent again with the same uuid after the kill
    ],
)
def test_real_transcripts(tmp_path: Path, name: str, lost: int) -> None:
    folder = tmp_path / "projects" / "-tmp-y"
    folder.mkdir(parents=True)
    raw = (captures.ROOT / name / "canonical.jsonl").read_bytes()
    (folder / f"{SID}.jsonl").write_bytes(raw)
    uuids = sent_uuids(name)
    assert len(uuids) >= 2
    found = find_messages(str(tmp_path), SID, uuids)
    assert len(set(uuids) - found) == lost
    assert (folder / f"{SID}.jsonl").read_bytes() == raw


@pytest.mark.rule("M1")
def test_a_message_that_was_queued_when_the_cli_was_killed_is_lost(tmp_path: Path) -> None:
    raw = (captures.ROOT / "30-killed-with-queued-message" / "canonical.jsonl").read_bytes()
    lines = raw.split(b"\n")
    second = b"22222222-2222-4222-8222-222222222222"
    taken_up = next(
        n for n, line in enumerate(lines) if b'"type":"user"' in line and second in line
    )
    before = lines[:taken_up]
    assert any(b'"enqueue"' in line for line in before), "it had been read"
    assert find_messages(projects(tmp_path, *before), SID, [second.decode()]) == set()


@pytest.mark.rule("M3")
def test_a_session_that_was_never_written_is_not_known(tmp_path: Path) -> None:
    assert not has_transcript(str(tmp_path), SID)
    folder = projects(tmp_path, {"type": "user"})
    assert has_transcript(folder, SID)
    assert not has_transcript(folder, "another")
