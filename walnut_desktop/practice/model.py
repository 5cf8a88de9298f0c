"""The pretended model: one round of directives becomes stream events and assistant lines."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Optional

from walnut_desktop.practice.output import Output, now
from walnut_desktop.practice.script import Round, Step, numbers

WORD_S = 0.018


class Call(NamedTuple):
    """A tool call that the round asks for."""

    tool_use_id: str
    name: str
    data: dict[str, Any]
    bad: str = ""
    """The raw input, when it is no JSON."""


class Speech:
    """Speaks rounds. `wait` lets time pass while input is read; `act` does what is no speech.

    Both raise when the turn is cut.
    """

    def __init__(
        self,
        output: Output,
        *,
        partial: bool,
        wait: Callable[[float], None],
        act: Callable[[Step], None],
    ) -> None:
        self._output = output
        self._partial = partial
        self._wait = wait
        self._act = act
        self._fast = os.environ.get("WALNUT_PRACTICE_FAST") == "1"
        self._unsaid = ""
        self._message: dict[str, Any] = {}
        self._request = ""
        self.extra: dict[str, Any] = {}
        self.first: Optional[Callable[[], None]] = None
        """Called once, before the next assistant line."""

    def speak(self, script: Round, model: str) -> Iterator[Any]:
        """Say a round; yields each finished content block, tool calls as `Call`."""
        self._message = {
            "id": f"msg_{uuid.uuid4().hex[:22]}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 1},
        }
        self._request = f"req_{uuid.uuid4().hex[:24]}"
        calls = any(step.name in ("tool", "toolout", "badtool") for step in script)
        self._event({"type": "message_start", "message": self._message}, ttft_ms=1, **self.extra)
        index = 0
        for step in script:
            block = self._block(step)
            if block is None:
                self._act(step)
                continue
            self._stream(index, block, step)
            yield self._finish(index, block, step)
            index += 1
        stops = [step.words.strip() for step in script if step.name == "stop"]
        reason = stops[-1] if stops else "tool_use" if calls else "end_turn"
        delta = {"stop_reason": reason, "stop_sequence": None}
        usage = {"input_tokens": 100, "output_tokens": 20}
        self._event({"type": "message_delta", "delta": delta, "usage": usage})
        self._event({"type": "message_stop"})

    def _finish(self, index: int, block: dict[str, Any], step: Step) -> Any:
        self.assistant([block])
        self._event({"type": "content_block_stop", "index": index})
        if block["type"] != "tool_use":
            return block
        bad = step.words.partition(" ")[2] if step.name == "badtool" else ""
        return Call(block["id"], block["name"], block["input"], bad)

    def assistant(self, content: list[dict[str, Any]], **fields: Any) -> None:
        """One assistant line; the first of a turn names the messages that it answers."""
        if self.first is not None:
            first, self.first = self.first, None
            first()
        self._output.line(
            {
                "type": "assistant",
                "message": {**self._message, "content": content},
                "parent_tool_use_id": None,
                "timestamp": now(),
                "request_id": self._request,
                **self._output.common(),
                **self.extra,
                **fields,
            }
        )
        self.extra = {}
        self._unsaid = ""

    def cut(self) -> None:
        """The stream was cut: what was said so far stands, marked as aborted."""
        if self._unsaid:
            self.assistant([{"type": "text", "text": self._unsaid}], aborted=True)

    def _block(self, step: Step) -> dict[str, Any] | None:
        tool_use_id = f"toolu_{uuid.uuid4().hex[:22]}"
        if step.name == "say":
            return {"type": "text", "text": step.words}
        if step.name == "think":
            return {"type": "thinking", "thinking": step.words, "signature": "cHJhY3RpY2U="}
        if step.name == "long":
            size = int(numbers(step.words, 1000)[0])
            rows = "".join(
                f"line {number:07} of the long answer\n" for number in range(size // 31 + 1)
            )
            return {"type": "text", "text": rows[:size]}
        if step.name == "slow":
            count = int(numbers(step.words, 10, 20)[0])
            return {"type": "text", "text": " ".join(f"w{number}" for number in range(count))}
        if step.name == "tool":
            return {
                "type": "tool_use",
                "id": tool_use_id,
                "name": step.words,
                "input": step.data or {},
            }
        if step.name == "toolout":
            data = {"bytes": int(numbers(step.words, 1000)[0])}
            return {"type": "tool_use", "id": tool_use_id, "name": "Practice", "input": data}
        if step.name == "badtool":
            name = step.words.split(None, 1)[0] if step.words.split() else "Nothing"
            return {"type": "tool_use", "id": tool_use_id, "name": name, "input": {}}
        return None

    def _stream(self, index: int, block: dict[str, Any], step: Step) -> None:
        """The block as it grows; what is cut meanwhile is remembered for `cut`."""
        kind = block["type"]
        empty = {"tool_use": {**block, "input": {}}, "text": {"type": "text", "text": ""}}
        start = empty.get(kind, {"type": "thinking", "thinking": "", "signature": ""})
        self._event({"type": "content_block_start", "index": index, "content_block": start})
        if kind == "tool_use":
            bad = step.words.partition(" ")[2] if step.name == "badtool" else ""
            text = bad or json.dumps(block["input"], ensure_ascii=False)
            self._delta(index, {"type": "input_json_delta", "partial_json": text})
            return
        key = "text" if kind == "text" else "thinking"
        pause = 0.0 if self._fast else WORD_S
        if step.name == "slow":
            pause = numbers(step.words, 10, 20)[1] / 1000
        tokens = 0
        for piece in _pieces(block[key]) if step.name != "long" else [block[key]]:
            if kind == "thinking":
                tokens += 1
                self._output.system(
                    "thinking_tokens", estimated_tokens=tokens, estimated_tokens_delta=1
                )
            self._delta(index, {"type": f"{key}_delta", key: piece})
            if kind == "text":
                self._unsaid += piece
            if pause:
                self._wait(pause)
        if kind == "thinking":
            self._delta(index, {"type": "signature_delta", "signature": block["signature"]})

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        self._event({"type": "content_block_delta", "index": index, "delta": delta})

    def _event(self, event: dict[str, Any], **more: Any) -> None:
        if self._partial:
            line = {"type": "stream_event", "event": event, "parent_tool_use_id": None}
            self._output.line(
                {**line, **self._output.common(), "api_message_id": self._message["id"], **more}
            )


def _pieces(text: str) -> list[str]:
    """Words with what follows them."""
    pieces, start = [], 0
    for at in range(1, len(text)):
        if text[at - 1].isspace() and not text[at].isspace():
            pieces.append(text[start:at])
            start = at
    return [*pieces, text[start:]] if text else []
