"""What becomes of messages, on stdout and in the canonical file (Rule G9, cli-protocol 4 and 9)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.contract.practice.runner import Agent, environment, running, words
from tests.contract.practice.talk import (
    BASE,
    FIRST,
    arguments,
    ask,
    idle,
    message,
    of_type,
    request,
    session,
    told,
    transcript,
)
from walnut_desktop.practice import transcript as transcripts
from walnut_desktop.practice.files import find_transcript

pytestmark = pytest.mark.rule("G9")

SLOW_TOOL = '[[tool Bash {"command": "sleep 0.5"}]] [[say after]]'
SID = "99999999-9999-4999-8999-999999999999"


def busy(agent: Agent) -> None:
    """Wait until its tool runs."""
    assert agent.wait_for(lambda: bool(of_type(agent, "assistant")))


def resumed(folder: Path, *more: str) -> list[str]:
    """The arguments that go on with the only session of a folder."""
    sid = next((folder / "h").glob("projects/*/*.jsonl")).stem
    return [*BASE, f"--resume={sid}", *more]


def queue_operations(folder: Path) -> list[tuple[str, str]]:
    """What the canonical file says of the queue."""
    lines = [line for line in transcript(folder) if line["type"] == "queue-operation"]
    return [(line["operation"], line.get("reason", "")) for line in lines]


def test_absorbed_messages_in_the_canonical_file(tmp_path: Path) -> None:
    with session(tmp_path) as agent:
        agent.send(message(SLOW_TOOL))
        busy(agent)
        agent.send(message("and this", "second"))
        agent.send({**message("this not", "third"), "priority": "later"})
        assert agent.wait_for(lambda: len(of_type(agent, "result")) == 2 and idle(agent))
        first, second = of_type(agent, "result")
        assert first["user_message_uuids"] == [FIRST, "second"]
        assert second["user_message_uuids"] == ["third"]
        agent.close()
        agent.finish()
    lines = transcript(tmp_path)
    attachment = next(line["attachment"] for line in lines if line["type"] == "attachment")
    assert attachment["source_uuid"] == "second"
    assert ("remove", "absorbed_mid_turn") in queue_operations(tmp_path)
    said = [
        line["uuid"] for line in lines if line["type"] == "user" and "toolUseResult" not in line
    ]
    assert said == [FIRST, "third"]


def test_merged_messages_in_the_canonical_file(tmp_path: Path) -> None:
    with session(tmp_path) as agent:
        agent.send(message("[[sleep 0.5]] [[say first]]"))
        assert agent.wait_for(lambda: bool(of_type(agent, "init")))
        for name in ("a", "b", "c"):
            agent.send({**message(f"text {name}", name), "origin": {"kind": "human"}})
        assert agent.wait_for(lambda: len(of_type(agent, "result")) == 2 and idle(agent))
        first, second = of_type(agent, "result")
        assert first["queued_turn_count"] == 3
        assert (second["user_message_uuid"], second["user_message_uuids"]) == ("c", ["a", "b", "c"])
        assert words(agent.lines).count("system:session_state_changed:idle") == 1
        agent.close()
        agent.finish()
    merged = next(line for line in transcript(tmp_path) if line.get("uuid") == "c")
    assert merged["mergedSendUuids"] == ["a", "b"], "the last one is the line's own uuid"
    assert merged["message"]["content"] == "text a\ntext b\ntext c"


@pytest.mark.parametrize(("literal", "turns"), [(True, 1), (False, 2)])
def test_a_slash_is_a_command_unless_it_is_literal(
    tmp_path: Path, *, literal: bool, turns: int
) -> None:
    with session(tmp_path) as agent:
        agent.send(message(SLOW_TOOL))
        busy(agent)
        agent.send({**message("/tmp is full", "second"), "client_composed": literal})
        assert agent.wait_for(lambda: len(of_type(agent, "result")) == turns and idle(agent))


def test_a_uuid_is_taken_once_in_a_process(tmp_path: Path) -> None:
    with session(tmp_path) as agent:
        agent.send(message(SLOW_TOOL))
        busy(agent)
        agent.send(message(SLOW_TOOL))
        for _ in range(2):
            agent.send(message("[[say two]]", "second"))
        assert agent.wait_for(lambda: idle(agent))
        agent.send(message("[[say two]]", "second"))
        agent.send(request("initialize"))
        told(agent, "initialize")
        assert sum(len(line["user_message_uuids"]) for line in of_type(agent, "result")) == 2


def test_a_resumed_process_knows_user_lines_but_neither_absorbed_nor_merged_ones(
    tmp_path: Path,
) -> None:
    """The two holes of the real CLI (cli-protocol 4.3): our own ledger must fill them."""
    with session(tmp_path) as agent:
        agent.send(message(SLOW_TOOL))
        busy(agent)
        agent.send(message("absorbed", "absorbed"))
        assert agent.wait_for(lambda: idle(agent))
        agent.send(message("[[sleep 0.5]] [[say x]]", "opening"))
        assert agent.wait_for(lambda: len(of_type(agent, "init")) == 2)
        agent.send(message("merged", "merged"))
        agent.send(message("last", "last"))
        assert agent.wait_for(lambda: len(of_type(agent, "result")) == 3 and idle(agent))
        agent.close()
        agent.finish()
    with running(resumed(tmp_path), environment(tmp_path / "h"), tmp_path) as agent:
        for name in (FIRST, "opening", "last"):
            agent.send(message("again", name))
        assert agent.wait_for(lambda: len(of_type(agent, "command_lifecycle")) == 3)
        assert not of_type(agent, "result")
        for name in ("absorbed", "merged"):
            assert ask(agent, "[[say ran]]", name)["result"] == "ran"


def test_what_waits_can_be_withdrawn(tmp_path: Path) -> None:
    with session(tmp_path) as agent:
        agent.send(message(SLOW_TOOL))
        busy(agent)
        agent.send(message("two", "second"))
        for name in ("second", "second", "never sent"):
            agent.send(request("cancel_async_message", message_uuid=name))
        assert agent.wait_for(lambda: idle(agent))
        answers = [
            line["response"]["response"]["cancelled"] for line in of_type(agent, "control_response")
        ]
        assert answers == [True, False, False]
        agent.close()
        agent.finish()
    assert queue_operations(tmp_path) == [
        ("enqueue", ""),
        ("dequeue", ""),
        ("enqueue", ""),
        ("dequeue", ""),
    ]
    assert "two" not in [line.get("message", {}).get("content") for line in transcript(tmp_path)]


def test_an_interrupt_may_take_the_queue_with_it(tmp_path: Path) -> None:
    with session(tmp_path) as agent:
        agent.send(message('[[tool Bash {"command": "sleep 30"}]]'))
        busy(agent)
        agent.send(message("two", "second"))
        agent.send(request("interrupt", cancel_queued=True))
        assert told(agent, "interrupt")["response"] == {"still_queued": [], "cancelled": ["second"]}
        assert agent.wait_for(lambda: idle(agent))
        assert len(of_type(agent, "result")) == 1
        agent.close()
        assert agent.finish() == 1
    assert ("remove", "cleared_on_cancel") in queue_operations(tmp_path)


def test_lines_are_written_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So stdout may be ahead of the file, and who is killed early leaves none: its id is free again."""
    monkeypatch.setenv("WALNUT_PRACTICE_HOME", str(tmp_path))
    monkeypatch.setattr(transcripts, "BATCH_S", 60.0)
    file = transcripts.Transcript(SID, "/somewhere")
    file.queue("enqueue", content="x")
    file.flush_due()
    assert (file.rest() or 0) > 50
    assert find_transcript(SID) is None
    file.flush()
    assert file.rest() is None
    assert find_transcript(SID) == file.path
    assert file.path.stat().st_mode & 0o777 == 0o600


def test_the_canonical_file_is_one_chain_and_survives_a_torn_line(tmp_path: Path) -> None:
    with session(tmp_path) as agent:
        agent.send(message('[[tool Bash {"command": "sleep 1"}]]'))
        busy(agent)
        files = (tmp_path / "h").glob
        assert agent.wait_for(
            lambda: any("tool_use" in p.read_text() for p in files("projects/*/*.jsonl"))
        )
        agent.signal("SIGKILL")
        agent.finish()
    path = next((tmp_path / "h").glob("projects/*/*.jsonl"))
    with path.open("a") as file:
        file.write('{"type":"user","mess')
    with running(resumed(tmp_path), environment(tmp_path / "h"), tmp_path) as agent:
        assert ask(agent, "[[say again]]", "second")["result"] == "again"
        agent.close()
        agent.finish()
    lines: list[dict[str, Any]] = []
    for raw in path.read_text().split("\n"):
        try:
            lines.append(json.loads(raw))
        except ValueError:
            assert raw in ("", '{"type":"user","mess')
    chain = [line for line in lines if line["type"] in ("user", "assistant")]
    assert chain[0]["parentUuid"] is None
    assert [line["parentUuid"] for line in chain[1:]] == [line["uuid"] for line in chain[:-1]]
    closed = [line for line in chain if "Tool call interrupted" in str(line.get("toolUseResult"))]
    assert len(closed) == 1, "the call of the dead process is closed before the next message"
    kinds = {line["type"] for line in lines}
    assert kinds == {"queue-operation", "user", "assistant"}


def test_a_fork_is_a_file_of_its_own(tmp_path: Path) -> None:
    with session(tmp_path) as agent:
        ask(agent, "[[say old]]")
        agent.close()
        agent.finish()
    old = next((tmp_path / "h").glob("projects/*/*.jsonl"))
    before = old.read_bytes()
    forked = resumed(tmp_path, "--fork-session", "--session-id", SID)
    with running(forked, environment(tmp_path / "h"), tmp_path) as agent:
        ask(agent, "[[say new]]", "second")
        assert {line["session_id"] for line in of_type(agent, "system")} == {SID}
        agent.close()
        agent.finish()
    assert old.read_bytes() == before
    text = old.with_name(f"{SID}.jsonl").read_text()
    assert "[[say old]]" in text
    assert "[[say new]]" in text
    assert old.stem not in text


def test_the_names_of_folders(tmp_path: Path) -> None:
    folder = tmp_path / "my.app_1 é"
    folder.mkdir()
    with running(arguments(), environment(tmp_path / "h"), folder) as agent:
        ask(agent, "[[say x]]")
        agent.close()
        agent.finish()
    names = [path.name for path in (tmp_path / "h" / "projects").iterdir()]
    assert len(names) == 1
    assert names[0].endswith("-my-app-1--")
