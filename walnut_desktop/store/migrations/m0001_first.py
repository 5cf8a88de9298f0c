"""Schema 1: tasks, sessions, messages, notices that were given, and what the window remembers."""

from __future__ import annotations

from sqlite3 import Connection

_SQL = """
CREATE TABLE task (
    id TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    phase TEXT NOT NULL,
    priority TEXT NOT NULL,
    category TEXT NOT NULL,
    project TEXT NOT NULL,
    source TEXT NOT NULL,
    description TEXT NOT NULL,
    summary TEXT NOT NULL,
    note TEXT NOT NULL,
    conversation_log TEXT,
    parent_id TEXT,
    depends_on TEXT NOT NULL,
    plan_session_id TEXT,
    exec_session_id TEXT,
    session_ids TEXT NOT NULL,
    needs_attention INTEGER NOT NULL,
    starred INTEGER NOT NULL,
    due_date TEXT,
    tags TEXT NOT NULL,
    cwd TEXT,
    host TEXT,
    position REAL NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    completed_at TEXT,
    ext TEXT NOT NULL
);
CREATE INDEX task_parent ON task (parent_id);
CREATE TABLE session (
    sid TEXT NOT NULL PRIMARY KEY,
    task_id TEXT,
    title TEXT NOT NULL,
    engine TEXT NOT NULL,
    host TEXT,
    cwd TEXT NOT NULL,
    slot TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    error TEXT NOT NULL,
    mode TEXT NOT NULL,
    model TEXT NOT NULL,
    pid INTEGER,
    consumed_offset INTEGER NOT NULL,
    stream_epoch TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    last_active_at TEXT,
    archived INTEGER NOT NULL,
    phase_before TEXT NOT NULL,
    pending TEXT NOT NULL,
    background TEXT NOT NULL,
    cost_usd REAL NOT NULL,
    turns INTEGER NOT NULL,
    retry TEXT NOT NULL,
    ext TEXT NOT NULL,
    fold TEXT
);
CREATE INDEX session_task ON session (task_id);
CREATE INDEX session_status ON session (status);
CREATE TABLE message (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    sid TEXT NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    tries INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    delivered_at TEXT,
    consumed_at TEXT
);
CREATE INDEX message_session ON message (sid, state);
CREATE TABLE notice (
    key TEXT NOT NULL PRIMARY KEY,
    at TEXT NOT NULL
);
CREATE TABLE ui_state (
    key TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);
"""


def up(db: Connection) -> None:
    """Make everything."""
    for statement in _SQL.split(";"):
        if statement.strip():
            db.execute(statement)
