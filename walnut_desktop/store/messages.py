"""The queue of messages in the database: the one writer of their table (Rule M1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from walnut_desktop.domain.ids import MessageId, Sid
from walnut_desktop.domain.message import OPEN_STATES, Message, MessageState
from walnut_desktop.store.columns import maybe_text, maybe_time, text_to_time, time_to_text
from walnut_desktop.store.tables import MessageRow, dicts, tuples


def to_row(message: Message) -> dict[str, Any]:
    """The columns of a message, all but its place in the order."""
    return {
        "id": message.id,
        "sid": message.sid,
        "text": message.text,
        "state": message.state.value,
        "reason": message.reason,
        "tries": message.tries,
        "created_at": time_to_text(message.created_at),
        "delivered_at": maybe_text(message.delivered_at),
        "consumed_at": maybe_text(message.consumed_at),
    }


def from_row(row: Mapping[str, Any]) -> Message:
    """The message of its columns."""
    return Message(
        id=MessageId(row["id"]),
        sid=Sid(row["sid"]),
        text=row["text"],
        state=MessageState(row["state"]),
        reason=row["reason"],
        tries=row["tries"],
        seq=row["seq"],
        created_at=text_to_time(row["created_at"]),
        delivered_at=maybe_time(row["delivered_at"]),
        consumed_at=maybe_time(row["consumed_at"]),
    )


class Messages:
    """Read and write inside a unit of work."""

    def add(self, message: Message) -> Message:
        """Queue it; the answer knows its place. The same id twice is the same message."""
        stored = self.get(message.id)
        if stored is not None:
            return stored
        seq = MessageRow.insert(to_row(message)).execute()
        return replace(message, seq=int(seq))

    def get(self, message_id: str) -> Message | None:
        """The message with this id."""
        rows = dicts(MessageRow.select().where(MessageRow.id == message_id))
        return from_row(rows[0]) if rows else None

    def in_states(self, sid: Sid, states: Iterable[MessageState]) -> list[Message]:
        """A session's messages in one of the states, in order."""
        values = [state.value for state in states]
        rows = MessageRow.select().where((MessageRow.sid == sid) & MessageRow.state.in_(values))
        return [from_row(row) for row in dicts(rows.order_by(MessageRow.seq))]

    def unfinished(self, sid: Sid) -> list[Message]:
        """What a chat still has to show below the transcript: all but consumed and cancelled."""
        states = (*OPEN_STATES, MessageState.FAILED, MessageState.PARKED)
        return self.in_states(sid, states)

    def sessions_with_open(self) -> list[Sid]:
        """The sessions that have messages on their way."""
        values = [state.value for state in OPEN_STATES]
        rows = MessageRow.select(MessageRow.sid).where(MessageRow.state.in_(values)).distinct()
        return [Sid(sid) for (sid,) in tuples(rows)]

    def save(self, message: Message) -> None:
        """Store its new state."""
        values = to_row(message)
        del values["id"]
        MessageRow.update(values).where(MessageRow.id == message.id).execute()

    def delete_of(self, sid: Sid) -> None:
        """Remove a session's messages (a start that never came to be)."""
        MessageRow.delete().where(MessageRow.sid == sid).execute()
