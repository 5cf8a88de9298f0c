"""The person's messages, and how they wait."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple


class Message(NamedTuple):
    """One message of the person."""

    text: str
    uuid: str
    content: Any
    priority: str = "next"
    literal: bool = False
    human: bool = False

    @property
    def alone(self) -> bool:
        """A slash command is neither absorbed nor merged; text that is taken literally is none."""
        return self.text.startswith("/") and not self.literal


def read(line: dict[str, Any]) -> Message:
    """The message of a line from stdin."""
    content, name, origin = line["message"].get("content"), line.get("uuid"), line.get("origin")
    return Message(
        text=_text(content),
        uuid=name if isinstance(name, str) else "",
        content=content,
        priority=str(line.get("priority") or "next"),
        literal=line.get("client_composed") is True,
        human=isinstance(origin, dict) and origin.get("kind") == "human",
    )


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(
        str(block.get("text") or "")
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "text"
    )


class Waiting(deque[Message]):
    """Messages in the order of their arrival."""

    def next_turn(self) -> list[Message]:
        """Everything that waits becomes one turn; a slash command is alone."""
        taken = [self.popleft()]
        while self and not taken[0].alone and not self[0].alone:
            taken.append(self.popleft())
        return taken

    def for_this_turn(self) -> list[Message]:
        """Those that join a running turn at a tool's end."""
        taken = [message for message in self if message.priority != "later" and not message.alone]
        for message in taken:
            self.remove(message)
        return taken

    def find(self, name: str) -> Message | None:
        """By its uuid."""
        return next((message for message in self if message.uuid == name), None)
