"""What the tests say to the practice agent, and how they look at its answers."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.contract.practice.runner import Agent, environment, running, words

BASE = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
ASKING = ("--permission-prompt-tool", "stdio")
FIRST = "11111111-1111-4111-8111-111111111111"


def arguments(*more: str) -> list[str]:
    """A new session."""
    return [*BASE, "--session-id", str(uuid.uuid4()), *more]


@contextmanager
def session(folder: Path, *more: str, **env: str) -> Iterator[Agent]:
    """A new session with its home beside the folder's files."""
    with running(arguments(*more), {**environment(folder / "h"), **env}, folder) as agent:
        yield agent


def message(text: str, name: str = FIRST) -> dict[str, Any]:
    """A message of the person."""
    return {"type": "user", "message": {"role": "user", "content": text}, "uuid": name}


def request(subtype: str, **fields: Any) -> dict[str, Any]:
    """A control request; its id is its subtype."""
    inner = {"subtype": subtype, **fields}
    return {"type": "control_request", "request_id": subtype, "request": inner}


def idle(agent: Agent) -> bool:
    """Whether the last word is idle."""
    said = words(agent.lines)
    return bool(said) and said[-1] == "system:session_state_changed:idle"


def of_type(agent: Agent, kind: str) -> list[dict[str, Any]]:
    """The lines of a type, or of a system subtype."""
    return [line for line in agent.lines if kind in (line.get("type"), line.get("subtype"))]


def ask(agent: Agent, text: str, name: str = FIRST) -> dict[str, Any]:
    """Send a message and wait until the agent is idle again; the result."""
    before = len(of_type(agent, "result"))
    agent.send(message(text, name))
    assert agent.wait_for(lambda: len(of_type(agent, "result")) > before and idle(agent)), (
        agent.lines
    )
    return of_type(agent, "result")[-1]


def asked(agent: Agent, count: int = 1) -> dict[str, Any]:
    """Wait for a question to the person."""
    assert agent.wait_for(lambda: len(of_type(agent, "control_request")) >= count), agent.lines
    return of_type(agent, "control_request")[count - 1]


def answer(agent: Agent, question: dict[str, Any], **response: Any) -> None:
    """Answer it."""
    inner = {"subtype": "success", "request_id": question["request_id"], "response": response}
    agent.send({"type": "control_response", "response": inner})


def told(agent: Agent, request_id: str) -> dict[str, Any]:
    """Wait for the answer to a control request."""

    def answers() -> list[dict[str, Any]]:
        found = [line["response"] for line in of_type(agent, "control_response")]
        return [response for response in found if response["request_id"] == request_id]

    assert agent.wait_for(lambda: bool(answers())), agent.lines
    return answers()[-1]


def results_of_tools(agent: Agent) -> list[dict[str, Any]]:
    """The tool results, in order."""
    blocks = [line["message"]["content"] for line in of_type(agent, "user")]
    return [
        block[0]
        for block in blocks
        if isinstance(block, list) and block[0]["type"] == "tool_result"
    ]


def transcript(folder: Path) -> list[dict[str, Any]]:
    """The canonical file of the only session."""
    text = next((folder / "h").glob("projects/*/*.jsonl")).read_text()
    return [json.loads(line) for line in text.split("\n") if line]
