"""The tables as peewee sees them. Private to this package: no peewee object ever leaves it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from peewee import (
    AutoField,
    BooleanField,
    DatabaseProxy,
    FloatField,
    IntegerField,
    Model,
    TextField,
)

proxy = DatabaseProxy()


class Table(Model):
    """The common base."""

    class Meta:
        database = proxy
        legacy_table_names = False


class TaskRow(Table):
    """One task."""

    id = TextField(primary_key=True)
    title = TextField()
    phase = TextField()
    priority = TextField()
    category = TextField()
    project = TextField()
    source = TextField()
    description = TextField()
    summary = TextField()
    note = TextField()
    conversation_log = TextField(null=True)
    parent_id = TextField(null=True)
    depends_on = TextField()
    plan_session_id = TextField(null=True)
    exec_session_id = TextField(null=True)
    session_ids = TextField()
    needs_attention = BooleanField()
    starred = BooleanField()
    due_date = TextField(null=True)
    tags = TextField()
    cwd = TextField(null=True)
    host = TextField(null=True)
    position = FloatField()
    created_at = TextField()
    updated_at = TextField()
    completed_at = TextField(null=True)
    ext = TextField()

    class Meta:
        table_name = "task"


class SessionRow(Table):
    """One session; `fold` is the checkpoint of its folded state."""

    sid = TextField(primary_key=True)
    task_id = TextField(null=True)
    title = TextField()
    engine = TextField()
    host = TextField(null=True)
    cwd = TextField()
    slot = TextField()
    status = TextField()
    reason = TextField()
    error = TextField()
    mode = TextField()
    model = TextField()
    pid = IntegerField(null=True)
    consumed_offset = IntegerField()
    stream_epoch = TextField()
    created_at = TextField()
    updated_at = TextField()
    last_active_at = TextField(null=True)
    archived = BooleanField()
    phase_before = TextField()
    pending = TextField()
    background = TextField()
    cost_usd = FloatField()
    turns = IntegerField()
    retry = TextField()
    ext = TextField()
    fold = TextField(null=True)

    class Meta:
        table_name = "session"


class MessageRow(Table):
    """One message of the person."""

    seq = AutoField()
    id = TextField(unique=True)
    sid = TextField()
    text = TextField()
    state = TextField()
    reason = TextField()
    tries = IntegerField()
    created_at = TextField()
    delivered_at = TextField(null=True)
    consumed_at = TextField(null=True)

    class Meta:
        table_name = "message"


class NoticeRow(Table):
    """A notice that was given: once per key, for ever."""

    key = TextField(primary_key=True)
    at = TextField()

    class Meta:
        table_name = "notice"


class UiStateRow(Table):
    """What the window remembers."""

    key = TextField(primary_key=True)
    value = TextField()

    class Meta:
        table_name = "ui_state"


def dicts(query: Any) -> list[dict[str, Any]]:
    """The rows of a query as plain dictionaries."""
    return list(query.dicts())


def rows(
    table: type[Table], names: Sequence[str], where: str = "", value: Any = None
) -> list[tuple[Any, ...]]:
    """Columns of all rows (or of those where one column has a value), straight from the cursor.

    peewee's own way costs twice as much, which counts when thousands are read at the start.
    """
    columns = ", ".join(f'"{name}"' for name in names)
    sql = f'SELECT {columns} FROM "{table._meta.table_name}"'  # noqa: S608, SLF001 - names of ours
    if where:
        return list(proxy.execute_sql(f'{sql} WHERE "{where}" = ?', (value,)).fetchall())
    return list(proxy.execute_sql(sql).fetchall())


def tuples(query: Any) -> list[tuple[Any, ...]]:
    """The rows of a query as plain tuples."""
    return list(query.tuples())
