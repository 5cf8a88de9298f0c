"""Sessions in the database: the one writer of their table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from walnut_desktop.domain.ids import Sid, TaskId
from walnut_desktop.domain.session import BackgroundTask, PendingRequest, Session, SessionStatus
from walnut_desktop.store.columns import (
    from_json,
    maybe_text,
    maybe_time,
    text_to_time,
    time_to_text,
    to_json,
)
from walnut_desktop.store.tables import SessionRow, dicts, tuples


def to_row(session: Session) -> dict[str, Any]:
    """The columns of a session, all but its checkpoint."""
    return {
        "sid": session.sid,
        "task_id": session.task_id,
        "title": session.title,
        "engine": session.engine,
        "host": session.host,
        "cwd": session.cwd,
        "slot": session.slot,
        "status": session.status.value,
        "reason": session.reason,
        "error": session.error,
        "mode": session.mode,
        "model": session.model,
        "pid": session.pid,
        "consumed_offset": session.consumed_offset,
        "stream_epoch": session.stream_epoch,
        "created_at": time_to_text(session.created_at),
        "updated_at": time_to_text(session.updated_at),
        "last_active_at": maybe_text(session.last_active_at),
        "archived": session.archived,
        "phase_before": session.phase_before,
        "pending": to_json([list(item) for item in session.pending]),
        "background": to_json([list(item) for item in session.background]),
        "cost_usd": session.cost_usd,
        "turns": session.turns,
        "retry": session.retry,
        "ext": to_json(dict(session.ext)),
    }


def from_row(row: Mapping[str, Any]) -> Session:
    """The session of its columns."""
    pending = [PendingRequest(*item) for item in from_json(row["pending"])]
    task_id = row["task_id"]
    return Session(
        sid=Sid(row["sid"]),
        task_id=None if task_id is None else TaskId(task_id),
        title=row["title"],
        engine=row["engine"],
        host=row["host"],
        cwd=row["cwd"],
        slot=row["slot"],
        status=SessionStatus(row["status"]),
        reason=row["reason"],
        error=row["error"],
        mode=row["mode"],
        model=row["model"],
        pid=row["pid"],
        consumed_offset=row["consumed_offset"],
        stream_epoch=row["stream_epoch"],
        created_at=text_to_time(row["created_at"]),
        updated_at=text_to_time(row["updated_at"]),
        last_active_at=maybe_time(row["last_active_at"]),
        archived=bool(row["archived"]),
        phase_before=row["phase_before"],
        pending=tuple(item._replace(suggestions=tuple(item.suggestions)) for item in pending),
        background=tuple(BackgroundTask(*item) for item in from_json(row["background"])),
        cost_usd=row["cost_usd"],
        turns=row["turns"],
        retry=row["retry"],
        ext=from_json(row["ext"]),
    )


# Everything but the checkpoint, which can be large and is asked for alone.
_COLUMNS = [field for field in SessionRow._meta.sorted_fields if field.name != "fold"]  # noqa: SLF001


class Sessions:
    """Read and write inside a unit of work."""

    def all(self) -> dict[Sid, Session]:
        """Every session by sid."""
        rows = dicts(SessionRow.select(*_COLUMNS).order_by(SessionRow.created_at))
        sessions = (from_row(row) for row in rows)
        return {session.sid: session for session in sessions}

    def get(self, sid: str) -> Session | None:
        """The session with this sid."""
        rows = dicts(SessionRow.select(*_COLUMNS).where(SessionRow.sid == sid))
        return from_row(rows[0]) if rows else None

    def with_status(self, statuses: Iterable[SessionStatus]) -> list[Session]:
        """Those in one of the states."""
        values = [status.value for status in statuses]
        rows = dicts(SessionRow.select(*_COLUMNS).where(SessionRow.status.in_(values)))
        return [from_row(row) for row in rows]

    def of_task(self, task_id: TaskId) -> list[Session]:
        """The sessions of a task, oldest first."""
        rows = SessionRow.select(*_COLUMNS).where(SessionRow.task_id == task_id)
        return [from_row(row) for row in dicts(rows.order_by(SessionRow.created_at))]

    def add(self, session: Session) -> None:
        """Store a new one."""
        SessionRow.insert(to_row(session)).execute()

    def save(self, session: Session) -> None:
        """Store its new state; the checkpoint stays."""
        values = to_row(session)
        del values["sid"]
        SessionRow.update(values).where(SessionRow.sid == session.sid).execute()

    def checkpoint(self, sid: Sid) -> dict[str, Any] | None:
        """The checkpoint of the folded state, or None."""
        rows = tuples(SessionRow.select(SessionRow.fold).where(SessionRow.sid == sid))
        if not rows or rows[0][0] is None:
            return None
        data = from_json(rows[0][0])
        return data if isinstance(data, dict) else None

    def save_checkpoint(self, sid: Sid, data: Mapping[str, Any] | None) -> None:
        """Store the folded state (D8)."""
        text = None if data is None else to_json(data)
        SessionRow.update(fold=text).where(SessionRow.sid == sid).execute()

    def delete(self, sid: Sid) -> None:
        """Remove it (a start that never came to be)."""
        SessionRow.delete().where(SessionRow.sid == sid).execute()
