"""The state of a session after some of its lines, and its checkpoint (D8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from walnut_desktop.domain.session import BackgroundTask, PendingRequest
from walnut_desktop.transcript.results import TurnResult

VERSION = 1


class Fate(str, Enum):
    """What became of a message, as the agent tells it."""

    WRITTEN = "written"  # our marker: handed to the process
    QUEUED = "queued"  # the agent has read it
    CONSUMED = "consumed"  # the model sees it
    CANCELLED = "cancelled"  # withdrawn before the model saw it


@dataclass
class FoldState:
    """The state of a session after the lines up to `offset`."""

    offset: int = 0
    epoch: str = ""
    lines: int = 0
    unknown: int = 0
    bad: int = 0
    lost_results: int = 0

    spawns: int = 0
    spawn: str = ""
    process: str = "unknown"  # unknown, running, ended
    exit_code: int | None = None
    end_intended: bool = False
    emits_state: bool = False

    session_id: str = ""
    cwd: str = ""
    model: str = ""
    mode: str = ""
    cli_version: str = ""
    title: str = ""

    agent_state: str = ""  # running, requires_action, idle; empty before the first
    began: bool = False  # something has begun that no result has ended yet
    turn_open: bool = False
    turns: int = 0
    settled: bool = True
    results: int = 0
    results_before: int = 0  # at the start of this process
    errors: int = 0
    next_index: int = 0
    last_result: TurnResult | None = None
    last_turn_offset: int = 0
    bad_before_turn: int = 0
    assistant_error: str = ""
    spoke: bool = False  # the model has answered something in this process
    last_text: str = ""

    pending: dict[str, PendingRequest] = field(default_factory=dict)
    background: dict[str, BackgroundTask] = field(default_factory=dict)
    messages: dict[str, Fate] = field(default_factory=dict)
    foreign: tuple[str, ...] = ()
    consumed: int = 0
    retry: str = ""
    compacting: bool = False
    rate_limit: str = ""
    cost_usd: float = 0.0
    process_cost: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """A checkpoint (D8): plain JSON, read back by `from_json`."""
        data = asdict(self)
        data["version"] = VERSION
        data["pending"] = [list(request) for request in self.pending.values()]
        data["background"] = [list(task) for task in self.background.values()]
        data["messages"] = {uuid: fate.value for uuid, fate in self.messages.items()}
        data["last_result"] = None if self.last_result is None else list(self.last_result)
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FoldState | None:
        """The state of a checkpoint, or None when it is of another version or damaged."""
        if data.get("version") != VERSION:
            return None
        try:
            known = {key: data[key] for key in cls.__dataclass_fields__ if key in data}
            state = cls(**known)
            state.pending = {}
            for item in data["pending"]:
                request = PendingRequest(*item)
                state.pending[request.request_id] = request._replace(
                    suggestions=tuple(request.suggestions)
                )
            tasks = [BackgroundTask(*item) for item in data["background"]]
            state.background = {task.task_id: task for task in tasks}
            state.foreign = tuple(data["foreign"])
            state.messages = {uuid: Fate(fate) for uuid, fate in data["messages"].items()}
            last = data["last_result"]
            state.last_result = None if last is None else TurnResult(*last)
            if state.last_result is not None:
                state.last_result = state.last_result._replace(uuids=tuple(state.last_result.uuids))
        except (KeyError, TypeError, ValueError):
            return None
        return state
