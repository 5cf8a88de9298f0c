"""The session record: what Walnut knows about one agent session, and the words for its states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, NamedTuple

from walnut_desktop.domain.ids import Sid, TaskId


class SessionStatus(str, Enum):
    """The one axis of a session's state (the task's phase is the other)."""

    STARTING = "starting"  # the slot is reserved, no line of the agent yet
    RUNNING = "running"  # a turn or background work is in flight
    IDLE = "idle"  # the process lives and waits for input
    STOPPED = "stopped"  # no process
    ERROR = "error"  # the last turn or the process failed; the process may still live


class Reason(str, Enum):
    """Why a session is in its state (the words of the original, kept for imported data)."""

    AWAITING_SPAWN = "awaiting_spawn"
    SESSION_STARTED = "session_started"
    MESSAGE_SENT = "message_sent"
    TURN_COMPLETED = "turn_completed"
    TURN_INTERRUPTED = "turn_interrupted"
    API_ERROR = "api_error"
    NORMAL_COMPLETION = "normal_completion"
    PROCESS_EXITED_NO_RESULT = "process_exited_no_result"
    USER_STOPPED = "user_stopped"
    USER_TERMINATED = "user_terminated"
    REMOTE_UNREACHABLE = "remote_unreachable"
    RECONCILED = "reconciled_authoritative"


class PendingRequest(NamedTuple):
    """Something the agent waits for: a permission, a question or a plan (Rule G10).

    `suggestions` are the agent's own proposals for “always allow”, kept as it sent them.
    """

    request_id: str
    tool_name: str
    tool_input: Mapping[str, Any]
    tool_use_id: str = ""
    description: str = ""
    suggestions: tuple[Mapping[str, Any], ...] = ()
    agent_id: str = ""

    @property
    def kind(self) -> str:
        """permission, question or plan."""
        return {"AskUserQuestion": "question", "ExitPlanMode": "plan"}.get(
            self.tool_name, "permission"
        )


class BackgroundTask(NamedTuple):
    """Work that goes on beside or after a turn (Rule S8)."""

    task_id: str
    task_type: str
    description: str


@dataclass(frozen=True)
class Session:
    """One agent session. `consumed_offset` is the byte offset in the stream file of the last applied state.

    `pid` is set while a process is believed to live, and cleared only when its death is confirmed (S5.4).
    """

    sid: Sid
    task_id: TaskId | None
    title: str
    engine: str
    created_at: datetime
    updated_at: datetime
    host: str | None = None
    cwd: str = ""
    slot: str = "exec"
    status: SessionStatus = SessionStatus.STARTING
    reason: str = Reason.AWAITING_SPAWN.value
    error: str = ""
    mode: str = "default"
    model: str = ""
    pid: int | None = None
    consumed_offset: int = 0
    stream_epoch: str = ""
    last_active_at: datetime | None = None
    archived: bool = False
    phase_before: str = ""
    pending: tuple[PendingRequest, ...] = ()
    background: tuple[BackgroundTask, ...] = ()
    cost_usd: float = 0.0
    turns: int = 0
    retry: str = ""
    ext: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_alive(self) -> bool:
        """Whether a process is believed to be there."""
        return self.pid is not None

    @property
    def is_busy(self) -> bool:
        """Whether something is going on that the person would see as work."""
        return self.status in (SessionStatus.STARTING, SessionStatus.RUNNING)

    @property
    def holds_slot(self) -> bool:
        """A slot is held while the session is starting, running or idle (Rules T10, S5.5)."""
        return self.status in (SessionStatus.STARTING, SessionStatus.RUNNING, SessionStatus.IDLE)
