"""The one fold (Rule S10): stream lines in, the state of a session out.

Live view, restart, reconcile and the daemon use this same code. It accepts unknown lines, torn lines and
garbage without losing what follows, and is a plain function of the lines: feeding the same file in any
pieces gives the same state. Standard library only, no clock, no IO.

What the lines mean is measured in cli-protocol 3 to 7: `init` begins a turn, `result` ends it, `idle` after
a result settles it; background work is a level, not a pair of events; everything resets with the process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from walnut_desktop.domain.session import BackgroundTask, PendingRequest
from walnut_desktop.transcript.lines import Line
from walnut_desktop.transcript.results import read_result
from walnut_desktop.transcript.state import Fate, FoldState

RECENT_MESSAGES = 256
RECENT_FOREIGN = 31


class Fold:
    """Feeds lines into a state and remembers which messages changed since it was last asked."""

    def __init__(self, state: FoldState | None = None) -> None:
        self.state = state if state is not None else FoldState()
        self._changed: dict[str, Fate] = {}
        self._handlers: dict[str, Callable[[dict[str, Any], int], None]] = {
            "system": self._system,
            "assistant": self._assistant,
            "user": self._user,
            "result": self._result,
            "stream_event": self._stream_event,
            "command_lifecycle": self._lifecycle,
            "control_request": self._control_request,
            "control_response": self._nothing,
            "control_cancel_request": self._control_cancel,
            "conversation_reset": self._nothing,
            "rate_limit_event": self._rate_limit,
            "tool_progress": self._nothing,
            "keep_alive": self._nothing,
            "walnut": self._walnut,
        }

    def feed(self, line: Line) -> None:
        """Take one line. Never raises: a line of an unexpected shape is counted and skipped."""
        state = self.state
        state.offset = line.end
        state.lines += 1
        if line.torn or line.obj is None:
            state.bad += 1
        if line.obj is None:
            return
        handler = self._handlers.get(_text(line.obj.get("type")))
        if handler is None:
            state.unknown += 1
            return
        try:
            handler(line.obj, line.end)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
            state.bad += 1

    def take_changes(self) -> dict[str, Fate]:
        """The messages whose fate changed since the last call."""
        changed, self._changed = self._changed, {}
        return changed

    # -- lines of the daemon ---------------------------------------------------------------------

    def _walnut(self, obj: dict[str, Any], _end: int) -> None:
        state = self.state
        subtype = obj.get("subtype")
        if subtype == "stream":
            state.epoch = _text(obj.get("epoch"))
        elif subtype == "process-start":
            self._process_start(obj)
        elif subtype == "process-end":
            if obj.get("spawn", state.spawn) != state.spawn:
                return  # the end of an earlier process, told late
            code = obj.get("code")
            state.process = "ended"
            state.exit_code = code if isinstance(code, int) else None
            state.end_intended = bool(obj.get("intended"))
            state.pending.clear()
            state.background.clear()
            state.retry = ""
            state.compacting = False
        elif subtype == "answered":
            state.pending.pop(_text(obj.get("request_id")), None)
        else:
            state.unknown += 1

    def _process_start(self, obj: dict[str, Any]) -> None:
        state = self.state
        state.spawns += 1
        state.spawn = _text(obj.get("spawn"))
        state.process = "running"
        state.exit_code = None
        state.end_intended = False
        state.emits_state = False
        state.agent_state = ""
        state.turn_open = False
        state.began = False
        state.settled = True
        state.next_index = 0
        state.results_before = state.results
        state.spoke = False
        state.assistant_error = ""
        state.retry = ""
        state.compacting = False
        state.process_cost = 0.0
        state.pending.clear()
        state.background.clear()

    # -- lines of the agent ----------------------------------------------------------------------

    def _system(self, obj: dict[str, Any], end: int) -> None:
        state = self.state
        subtype = obj.get("subtype")
        if subtype == "session_state_changed":
            self._state_changed(_text(obj.get("state")))
        elif subtype == "init":
            self._init(obj, end)
        elif subtype == "background_tasks_changed":
            tasks = [_background(item) for item in obj.get("tasks") or []]
            state.background = {task.task_id: task for task in tasks}
        elif subtype == "status":
            if obj.get("permissionMode"):
                state.mode = _text(obj.get("permissionMode"))
            state.compacting = obj.get("status") == "compacting"
        elif subtype == "api_retry":
            attempt, most = obj.get("attempt"), obj.get("max_retries")
            state.retry = f"{_text(obj.get('error')) or 'no connection'} ({attempt} of {most})"
        elif subtype == "session_title_changed":
            state.title = _text(obj.get("title"))
        elif subtype == "session_writes_lost":
            state.lost_results += 1

    def _state_changed(self, word: str) -> None:
        state = self.state
        state.emits_state = True
        state.agent_state = word
        if word == "running":
            # The agent goes on: whatever it asked has been answered (cli-protocol 6.2).
            state.pending.clear()
            state.settled = False
            state.began = True
        elif word == "idle":
            if state.turn_open and state.bad > state.bad_before_turn:
                # The result was in a line that could not be read: the turn is over all the same.
                state.turn_open = False
                state.lost_results += 1
            if not state.turn_open:
                state.settled = True
                state.began = False

    def _init(self, obj: dict[str, Any], end: int) -> None:
        state = self.state
        state.session_id = _text(obj.get("session_id")) or state.session_id
        state.cwd = _text(obj.get("cwd")) or state.cwd
        state.model = _text(obj.get("model")) or state.model
        state.mode = _text(obj.get("permissionMode")) or state.mode
        state.cli_version = _text(obj.get("claude_code_version")) or state.cli_version
        state.process = "running"
        if not state.turn_open:
            state.turns += 1
            state.bad_before_turn = state.bad
        state.turn_open = True
        state.began = True
        state.settled = False
        state.last_turn_offset = end
        state.assistant_error = ""
        state.last_text = ""

    def _assistant(self, obj: dict[str, Any], _end: int) -> None:
        state = self.state
        for uuid in obj.get("user_message_uuids") or []:
            self._fate(uuid, Fate.CONSUMED)
        if obj.get("parent_tool_use_id"):
            return
        state.retry = ""
        if obj.get("error"):
            state.assistant_error = _text(obj.get("error"))
        else:
            state.spoke = True
        for block in obj["message"].get("content") or []:
            if block.get("type") == "text":
                state.last_text = _text(block.get("text"))[-4000:]

    def _user(self, obj: dict[str, Any], _end: int) -> None:
        if obj.get("subtype") == "walnut-injected":
            self._fate(obj.get("uuid"), Fate.WRITTEN)
            return
        content = obj["message"].get("content")
        if not self.state.pending or not isinstance(content, list):
            return
        done = {block.get("tool_use_id") for block in content if block.get("type") == "tool_result"}
        for request in list(self.state.pending.values()):
            if request.tool_use_id in done:
                del self.state.pending[request.request_id]

    def _stream_event(self, obj: dict[str, Any], _end: int) -> None:
        self.state.retry = ""
        if not obj.get("parent_tool_use_id"):
            self.state.spoke = True

    def _result(self, obj: dict[str, Any], end: int) -> None:
        state = self.state
        result = read_result(obj, end, state.assistant_error)
        state.results += 1
        state.errors += result.is_error
        index = obj.get("result_index")
        if isinstance(index, int):
            if index > state.next_index:
                state.lost_results += index - state.next_index
            state.next_index = index + 1
        for uuid in result.uuids:
            self._fate(uuid, Fate.CONSUMED)
        state.cost_usd += _cost(obj, state.process_cost)
        total = obj.get("total_cost_usd")
        if isinstance(total, (int, float)):
            state.process_cost = float(total)
        state.last_result = result
        state.turn_open = False
        state.began = False
        state.retry = ""
        state.compacting = False
        if not state.emits_state or state.agent_state == "idle":
            state.settled = True

    def _lifecycle(self, obj: dict[str, Any], _end: int) -> None:
        uuid, word = obj.get("command_uuid"), obj.get("state")
        if not isinstance(uuid, str):
            return
        if word == "started" and uuid not in self.state.messages:
            # Nobody has sent it: a schedule fired, or an interrupted turn was taken up again.
            self.state.foreign = (*self.state.foreign[-RECENT_FOREIGN:], uuid)
        if uuid in self.state.foreign:
            return
        if word == "queued":
            self._fate(uuid, Fate.QUEUED)
        elif word in ("started", "completed"):
            self._fate(uuid, Fate.CONSUMED)
        elif word == "cancelled":
            self._fate(uuid, Fate.CANCELLED)

    def _fate(self, uuid: Any, fate: Fate) -> None:
        if not isinstance(uuid, str) or not uuid:
            return
        messages = self.state.messages
        old = messages.get(uuid)
        if old is Fate.CONSUMED or old is fate:
            return  # an interrupted turn says “cancelled” of what the model has already seen
        if fate is Fate.WRITTEN and old is Fate.QUEUED:
            return
        messages.pop(uuid, None)
        messages[uuid] = fate
        self._changed[uuid] = fate
        if fate is Fate.CONSUMED:
            self.state.consumed += 1
        if len(messages) > RECENT_MESSAGES:
            for name in list(messages):
                if messages[name] in (Fate.CONSUMED, Fate.CANCELLED):
                    del messages[name]
                    break

    def _control_request(self, obj: dict[str, Any], _end: int) -> None:
        request = obj["request"]
        if request.get("subtype") != "can_use_tool":
            self.state.unknown += 1
            return
        request_id = _text(obj.get("request_id"))
        tool_input = request.get("input")
        self.state.pending[request_id] = PendingRequest(
            request_id=request_id,
            tool_name=_text(request.get("tool_name")),
            tool_input=tool_input if isinstance(tool_input, dict) else {},
            tool_use_id=_text(request.get("tool_use_id")),
            description=_text(request.get("description")),
            suggestions=tuple(
                item
                for item in request.get("permission_suggestions") or []
                if isinstance(item, dict)
            ),
            agent_id=_text(request.get("agent_id")),
        )

    def _control_cancel(self, obj: dict[str, Any], _end: int) -> None:
        self.state.pending.pop(_text(obj.get("request_id")), None)

    def _rate_limit(self, obj: dict[str, Any], _end: int) -> None:
        self.state.rate_limit = _text(obj["rate_limit_info"].get("status"))

    def _nothing(self, _obj: dict[str, Any], _end: int) -> None:
        """Known, and without meaning for the state."""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _background(item: Mapping[str, Any]) -> BackgroundTask:
    return BackgroundTask(
        _text(item.get("task_id")), _text(item.get("task_type")), _text(item.get("description"))
    )


def _cost(obj: Mapping[str, Any], before: float) -> float:
    """What the turn cost in USD: the difference that the agent states, else that of its running totals.

    Running totals are never added up (they once showed a bill 13 times too high).
    """
    since = obj.get("model_usage_since_last_result")
    if isinstance(since, dict):
        prices = [item.get("costUSD") for item in since.values() if isinstance(item, dict)]
        return float(sum(price for price in prices if isinstance(price, (int, float))))
    total = obj.get("total_cost_usd")
    return max(0.0, float(total) - before) if isinstance(total, (int, float)) else 0.0


__all__ = ["Fate", "Fold", "FoldState"]
