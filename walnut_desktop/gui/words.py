"""States in words for a person. Pure, so that every word can be tested."""

from __future__ import annotations

from walnut_desktop.domain import phase as phases
from walnut_desktop.domain.message import Message, MessageState
from walnut_desktop.domain.session import Session, SessionStatus
from walnut_desktop.domain.tree import Row

_STATUS = {
    SessionStatus.STARTING: "Starting…",
    SessionStatus.RUNNING: "Working",
    SessionStatus.IDLE: "Ready",
    SessionStatus.STOPPED: "Stopped",
    SessionStatus.ERROR: "Error",
}

_ASKS = {
    "permission": "Asks for permission",
    "question": "Has a question",
    "plan": "Has a plan for you",
}


def session_state(session: Session | None) -> str:
    """One or two words for the state of a session; empty for none."""
    if session is None:
        return ""
    if session.pending:
        return _ASKS[session.pending[0].kind]
    if session.retry:
        return "Retrying"
    if session.reason == "background_work":
        return "Background work"
    return _STATUS[session.status]


def busy_line(session: Session | None) -> str:
    """The line below the transcript while something goes on; empty when nothing does."""
    if session is None or not session.is_busy:
        return ""
    if session.pending:
        return "Waiting for your answer"
    if session.retry:
        return f"The model service does not answer, trying again: {session.retry}"
    if session.status is SessionStatus.STARTING:
        return "Starting the agent…"
    if session.reason == "background_work":
        count = len(session.background)
        return f"{count} background task{'s' if count != 1 else ''} running"
    return "Working…"


def task_sentence(row: Row, session: Session | None) -> str:
    """A row of the task list for a screen reader: the whole of what the eye sees."""
    task = row.task
    parts = [task.title]
    if row.depth:
        parts.append("subtask")
    parts.append("needs you" if task.needs_attention else phases.label(task.phase).lower())
    state = session_state(session)
    if state:
        parts.append(f"session: {state.lower()}")
    if row.children:
        parts.append(f"{row.children} subtask{'s' if row.children != 1 else ''}")
    return ", ".join(parts)


def message_state(message: Message) -> str:
    """The word under which a message that is on its way is shown (queued → delivered → consumed)."""
    words = {
        MessageState.PENDING: "queued",
        MessageState.PROCESSING: "sending",
        MessageState.DELIVERED: "delivered",
        MessageState.FAILED: "failed",
        MessageState.PARKED: "parked",
    }
    return words.get(message.state, "")


def counts_line(waiting: int, working: int) -> str:
    """How many tasks need the person and how many sessions work, for the tray and the title."""
    parts = []
    if waiting:
        parts.append(f"{waiting} need{'s' if waiting == 1 else ''} you")
    if working:
        parts.append(f"{working} working")
    return ", ".join(parts) or "Nothing needs you"
