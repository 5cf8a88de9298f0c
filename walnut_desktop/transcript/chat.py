"""From stream lines to the blocks of a chat, one change at a time.

The same lines give the same blocks with the same keys (keys are byte offsets), so a window that was closed
and opened again shows the same chat. A message of the person stands where the agent took it up, not where it
was written. Streamed text grows in one block, which the finished line then settles: never shown twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Optional

from walnut_desktop.domain.session import PendingRequest
from walnut_desktop.transcript.blocks import (
    Block,
    Change,
    Level,
    NoticeBlock,
    TextBlock,
    ThinkingBlock,
    ToolBlock,
    ToolState,
    TurnBlock,
    UserBlock,
)
from walnut_desktop.transcript.content import content_text, count_images, notice_of, user_notice
from walnut_desktop.transcript.lines import Line
from walnut_desktop.transcript.results import read_result, sentence


class ChatBuilder:
    """Feeds on lines; `feed` answers with the changes that they make. `blocks` is the whole chat so far.

    It may begin in the middle of a file: `orphans` then holds results whose calls lie before, and
    `settle` gives them to the blocks of the earlier part when that is loaded (see `join_older`).
    """

    def __init__(self) -> None:
        self.blocks: dict[str, Block] = {}
        self.orphans: dict[str, ToolBlock] = {}
        self._written: dict[str, UserBlock] = {}
        self._shown: set[str] = set()
        self._tools: dict[str, str] = {}  # tool_use_id -> key
        self._open_tools: dict[str, None] = {}  # keys of those whose result is not there
        self._streams: dict[int, str] = {}  # content index of the streamed message -> key
        self._inputs: dict[str, list[str]] = {}  # key -> pieces of a tool's input
        self._unsettled: dict[
            str, list[str]
        ] = {}  # message id -> keys of its streamed blocks, in order
        self._message_id = ""
        self._changes: dict[str, bool] = {}
        self._error = ""
        self._bad = 0
        self._handlers: dict[str, Callable[[dict[str, Any], int], None]] = {
            "assistant": self._assistant,
            "user": self._user,
            "result": self._result,
            "stream_event": self._stream_event,
            "command_lifecycle": self._lifecycle,
            "control_request": self._control_request,
            "control_cancel_request": self._nothing,
            "system": self._system,
            "conversation_reset": self._reset,
            "rate_limit_event": self._system,
            "walnut": self._walnut,
        }

    def feed(self, lines: Iterable[Line]) -> list[Change]:
        """Take whole lines in order; answer each touched block once, in order of first touch."""
        self._changes = {}
        for line in lines:
            if line.obj is None or line.torn:
                self._unreadable(line.start)
            if line.obj is None:
                continue
            handler = self._handlers.get(str(line.obj.get("type")))
            if handler is None:
                continue
            try:
                handler(line.obj, line.start)
            except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
                self._unreadable(line.start)
        return [Change(self.blocks[key], is_new) for key, is_new in self._changes.items()]

    def unread_messages(self) -> Sequence[UserBlock]:
        """Messages that were written to the agent and that it has not taken up yet."""
        return tuple(self._written.values())

    def settle(self, results: Mapping[str, ToolBlock], shown: Iterable[str]) -> None:
        """Give tool calls of this part the results that a later part has found for them."""
        for tool_use_id, result in results.items():
            key = self._tools.get(tool_use_id)
            if key is not None:
                block = self.blocks[key]
                if isinstance(block, ToolBlock):
                    self.blocks[key] = replace(
                        block, state=result.state, result=result.result, images=result.images
                    )
        for uuid in shown:
            self._written.pop(uuid, None)

    @property
    def shown_uuids(self) -> frozenset[str]:
        """The messages of the person that stand in this part."""
        return frozenset(self._shown)

    # -- writing blocks ---------------------------------------------------------------------------

    def _put(self, block: Block) -> None:
        is_new = block.key not in self.blocks
        self.blocks[block.key] = block
        self._changes[block.key] = self._changes.get(block.key, False) or is_new

    def _tool(self, tool_use_id: str) -> Optional[ToolBlock]:
        block = self.blocks.get(self._tools.get(tool_use_id, ""))
        return block if isinstance(block, ToolBlock) else None

    def _unreadable(self, start: int) -> None:
        self._bad += 1
        text = "A line of the agent's output could not be read."
        previous = next(reversed(self.blocks.values()), None)
        if isinstance(previous, NoticeBlock) and previous.key.startswith("bad"):
            count = int(previous.key.split(".")[1]) if "." in previous.key else 1
            text = f"{self._bad} lines of the agent's output could not be read."
            self._put(replace(previous, text=text)) if count else None
            return
        self._put(NoticeBlock(f"bad{start}", text, Level.WARNING))

    # -- the person -------------------------------------------------------------------------------

    def _lifecycle(self, obj: dict[str, Any], start: int) -> None:
        uuid = str(obj.get("command_uuid") or "")
        if obj.get("state") in ("started", "completed"):
            self._take_up(uuid, start)
        elif obj.get("state") == "cancelled":
            self._written.pop(uuid, None)

    def _take_up(self, uuid: str, start: int) -> None:
        written = self._written.pop(uuid, None)
        if written is not None and uuid not in self._shown:
            self._shown.add(uuid)
            self._put(replace(written, key=f"u{uuid}"))
        else:
            self._shown.add(uuid)

    def _user(self, obj: dict[str, Any], start: int) -> None:
        content = obj["message"].get("content")
        if obj.get("subtype") == "walnut-injected":
            uuid = str(obj.get("uuid") or f"o{start}")
            if uuid not in self._shown:
                self._written[uuid] = UserBlock(
                    key=f"u{uuid}",
                    text=content_text(content),
                    uuid=uuid,
                    at=str(obj.get("at") or ""),
                    images=count_images(content),
                )
            return
        if isinstance(content, list):
            for block in content:
                if block.get("type") == "tool_result":
                    self._tool_result(block)
        notice = user_notice(obj, content)
        if notice is not None:
            self._put(replace(notice, key=f"o{start}"))

    def _tool_result(self, block: Mapping[str, Any]) -> None:
        tool_use_id = str(block.get("tool_use_id") or "")
        content = block.get("content")
        text = content_text(content)
        failed = block.get("is_error") is True
        state = ToolState.FAILED if failed else ToolState.DONE
        if failed and text.startswith("The user doesn't want to proceed"):
            state, text = ToolState.INTERRUPTED, ""
        tool = self._tool(tool_use_id)
        if tool is None:
            self.orphans[tool_use_id] = ToolBlock(
                "", tool_use_id, "", state=state, result=text, images=count_images(content)
            )
            return
        self._open_tools.pop(tool.key, None)
        self._put(replace(tool, state=state, result=text, images=count_images(content)))

    # -- the agent --------------------------------------------------------------------------------

    def _assistant(self, obj: dict[str, Any], start: int) -> None:
        message = obj["message"]
        parent = str(obj.get("parent_tool_use_id") or "")
        self._error = str(obj.get("error") or "")
        if self._error:
            self._unsettled.clear()
            return  # the failed turn's end says it in a sentence
        waiting = self._unsettled.get(str(message.get("id")), []) if not parent else []
        for number, content in enumerate(message.get("content") or []):
            block = self._content_block(content, f"o{start}.{number}", parent)
            if block is None:
                continue
            key = self._settled_key(block, waiting)
            if key:
                self._put(replace(block, key=key))
            else:
                self._put(block)
            if isinstance(block, ToolBlock):
                self._tools[block.tool_use_id] = key or block.key
                self._open_tools[key or block.key] = None

    def _settled_key(self, block: Block, waiting: list[str]) -> str:
        """The key of the streamed block that this finished one settles, or empty."""
        for key in waiting:
            if type(self.blocks[key]) is type(block):
                waiting.remove(key)
                return key
        return ""

    def _content_block(self, content: Mapping[str, Any], key: str, parent: str) -> Optional[Block]:
        kind = content.get("type")
        if kind == "text":
            text = str(content.get("text") or "")
            return TextBlock(key, text, parent=parent) if text.strip() else None
        if kind == "thinking":
            text = str(content.get("thinking") or "")
            return ThinkingBlock(key, text, parent=parent) if text.strip() else None
        if kind == "tool_use":
            tool_input = content.get("input")
            return ToolBlock(
                key=key,
                tool_use_id=str(content.get("id") or ""),
                name=str(content.get("name") or "Tool"),
                tool_input=tool_input if isinstance(tool_input, dict) else {},
                parent=parent,
            )
        return None

    def _stream_event(self, obj: dict[str, Any], start: int) -> None:
        if obj.get("parent_tool_use_id"):
            return
        event = obj["event"]
        kind = event.get("type")
        if kind == "message_start":
            self._message_id = str(event["message"].get("id") or "")
            self._streams = {}
            self._unsettled = {self._message_id: []}
        elif kind == "content_block_start":
            self._stream_start(event, start)
        elif kind == "content_block_delta":
            key = self._streams.get(event.get("index"))
            if key is not None:
                self._stream_delta(key, event.get("delta") or {})

    def _stream_start(self, event: Mapping[str, Any], start: int) -> None:
        content = event.get("content_block") or {}
        key = f"s{start}"
        block: Block
        if content.get("type") == "text":
            block = TextBlock(key, str(content.get("text") or ""), streaming=True)
        elif content.get("type") == "thinking":
            block = ThinkingBlock(key, str(content.get("thinking") or ""), streaming=True)
        elif content.get("type") == "tool_use":
            tool_use_id = str(content.get("id") or "")
            block = ToolBlock(
                key, tool_use_id, str(content.get("name") or "Tool"), state=ToolState.WRITING
            )
            self._tools[tool_use_id] = key
            self._open_tools[key] = None
        else:
            return
        self._streams[int(event["index"])] = key
        self._unsettled.setdefault(self._message_id, []).append(key)
        self._put(block)

    def _stream_delta(self, key: str, delta: Mapping[str, Any]) -> None:
        block = self.blocks[key]
        if isinstance(block, TextBlock) and block.streaming:
            self._put(replace(block, text=block.text + str(delta.get("text") or "")))
        elif isinstance(block, ThinkingBlock) and block.streaming:
            self._put(replace(block, text=block.text + str(delta.get("thinking") or "")))
        elif isinstance(block, ToolBlock) and block.state is ToolState.WRITING:
            pieces = self._inputs.setdefault(key, [])
            pieces.append(str(delta.get("partial_json") or ""))
            try:
                tool_input = (
                    json.loads("".join(pieces)) if pieces[-1].rstrip()[-1:] == "}" else None
                )
            except ValueError:
                tool_input = None
            if isinstance(tool_input, dict):
                self._inputs.pop(key, None)
                self._put(replace(block, tool_input=tool_input))

    def _control_request(self, obj: dict[str, Any], _start: int) -> None:
        tool = self._tool(str(obj["request"].get("tool_use_id") or ""))
        if tool is not None:
            self._put(replace(tool, state=ToolState.WAITING))

    # -- the session ------------------------------------------------------------------------------

    def _system(self, obj: dict[str, Any], start: int) -> None:
        if obj.get("subtype") == "session_state_changed":
            if obj.get("state") == "running":
                self._answered()
            return
        notice = notice_of(obj)
        if notice is not None:
            self._put(replace(notice, key=f"o{start}"))

    def _answered(self) -> None:
        for key in self._open_tools:
            block = self.blocks.get(key)
            if isinstance(block, ToolBlock) and block.state is ToolState.WAITING:
                self._put(replace(block, state=ToolState.RUNNING))

    def _result(self, obj: dict[str, Any], start: int) -> None:
        result = read_result(obj, 0, self._error)
        self._error = ""
        self._end_of_turn()
        if obj.get("num_turns") == 0 and not result.is_error:
            return
        since = obj.get("model_usage_since_last_result")
        prices = [item.get("costUSD") for item in since.values()] if isinstance(since, dict) else []
        cost = sum(price for price in prices if isinstance(price, (int, float)))
        self._put(
            TurnBlock(
                key=f"o{start}",
                ok=not result.is_error,
                duration_ms=result.duration_ms,
                cost_usd=cost,
                text=sentence(result),
            )
        )

    def _end_of_turn(self) -> None:
        """What is still open when a turn or a process ends will not go on.

        Its result may still come, from an agent in the background: the tools stay known.
        """
        for key in [*self._open_tools, *(k for keys in self._unsettled.values() for k in keys)]:
            block = self.blocks.get(key)
            if isinstance(block, ToolBlock) and block.state in (
                ToolState.WRITING,
                ToolState.RUNNING,
                ToolState.WAITING,
            ):
                self._put(replace(block, state=ToolState.INTERRUPTED))
            elif isinstance(block, (TextBlock, ThinkingBlock)) and block.streaming:
                self._put(replace(block, streaming=False))
        self._open_tools = {}
        self._streams = {}
        self._unsettled = {}
        self._inputs = {}

    def _reset(self, _obj: dict[str, Any], start: int) -> None:
        self._put(NoticeBlock(f"o{start}", "Conversation cleared: the agent starts afresh."))

    def _walnut(self, obj: dict[str, Any], start: int) -> None:
        if obj.get("subtype") == "answered":
            return
        if obj.get("subtype") not in ("process-start", "process-end"):
            return
        open_turn = bool(self._unsettled) or any(
            isinstance(block, ToolBlock)
            and block.state in (ToolState.RUNNING, ToolState.WAITING, ToolState.WRITING)
            for block in (self.blocks.get(key) for key in self._tools.values())
        )
        self._end_of_turn()
        if obj.get("subtype") == "process-end" and not obj.get("intended") and open_turn:
            self._put(
                NoticeBlock(
                    f"o{start}",
                    "The agent's process ended here. Send a message to resume the session.",
                    Level.ERROR,
                )
            )

    def _nothing(self, _obj: dict[str, Any], _start: int) -> None:
        """Known, and not shown."""


def join_older(older: ChatBuilder, newer: ChatBuilder) -> list[Block]:
    """The blocks of an earlier part of the file, completed by what the later part knows about them."""
    older.settle(newer.orphans, newer.shown_uuids)
    return list(older.blocks.values())


def waiting_tools(pending: Mapping[str, PendingRequest]) -> frozenset[str]:
    """The tool calls that wait for the person."""
    return frozenset(request.tool_use_id for request in pending.values())
