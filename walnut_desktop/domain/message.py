"""A message to a session and the states it goes through (Rules M1, M6)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from walnut_desktop.domain.errors import InvalidInput
from walnut_desktop.domain.ids import MessageId, Sid

MAX_MESSAGE_BYTES = 900_000


class MessageState(str, Enum):
    """pending → processing → delivered → consumed, or failed / parked / cancelled with a reason."""

    PENDING = "pending"  # on disk, not handed over
    PROCESSING = "processing"  # being handed over: after a crash its fate must be looked up
    DELIVERED = "delivered"  # in the agent's hands, not yet part of a turn
    CONSUMED = "consumed"  # the model sees it
    FAILED = "failed"  # given up, says why, can be retried
    PARKED = "parked"  # waits for the person (after a stop, or when it got too old)
    CANCELLED = "cancelled"  # withdrawn or interrupted before the model saw it


OPEN_STATES = (MessageState.PENDING, MessageState.PROCESSING, MessageState.DELIVERED)


@dataclass(frozen=True)
class Message:
    """One message of the person. Its id is the uuid by which the agent acknowledges it (D1)."""

    id: MessageId
    sid: Sid
    text: str
    created_at: datetime
    state: MessageState = MessageState.PENDING
    reason: str = ""
    tries: int = 0
    seq: int = 0
    delivered_at: datetime | None = None
    consumed_at: datetime | None = None


def clean_text(text: str) -> str:
    """A message fit to be sent: not blank, at most 900,000 bytes. Raises InvalidInput."""
    if not text.strip():
        raise InvalidInput("There is nothing to send.")
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_MESSAGE_BYTES:
        raise InvalidInput(
            f"This message is {size:,} bytes long; {MAX_MESSAGE_BYTES:,} is the most.",
            "Put the text into a file and name the file.",
        )
    return text.encode("utf-8", "replace").decode("utf-8")
