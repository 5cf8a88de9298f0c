"""The practice agent's session: messages, turns, and what may come in between (cli-protocol 4 and 5)."""

from __future__ import annotations

import os
import signal
import sys
import time
import uuid
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Optional

from walnut_desktop.practice import persona, script
from walnut_desktop.practice.background import Background
from walnut_desktop.practice.control import Controls
from walnut_desktop.practice.ending import Ended, Interrupted
from walnut_desktop.practice.faults import Faults
from walnut_desktop.practice.files import LiveEntry
from walnut_desktop.practice.inbox import Inbox, Item
from walnut_desktop.practice.model import Call, Speech
from walnut_desktop.practice.output import Output
from walnut_desktop.practice.results import Failure, Results
from walnut_desktop.practice.toolbox import Toolbox
from walnut_desktop.practice.transcript import Transcript


@dataclass
class Message:
    """One message of the person."""

    text: str
    uuid: str
    content: Any
    later: bool = False
    literal: bool = False

    @property
    def alone(self) -> bool:
        """A slash command is neither absorbed nor merged; text that is taken literally is none."""
        return self.text.startswith("/") and not self.literal


@dataclass
class Options:
    """What the command line said."""

    sid: str
    resume: bool = False
    mode: str = "default"
    model: str = "practice"
    partial: bool = False
    asks: bool = False
    max_turns: int = 0
    cwd: str = field(default_factory=os.getcwd)


class Session:
    """Runs until its input ends, it is told to end, or it is killed."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.output = Output(options.sid)
        self.inbox = Inbox()
        self.transcript = Transcript(options.sid, options.cwd)
        self._known = self.transcript.resume() if options.resume else set()
        self._here: set[str] = set()
        self.queue: deque[Message] = deque()
        self.live: Optional[LiveEntry] = None
        self.results = Results(self.output)
        self.in_turn = False
        self.eof = False
        self.interrupt_wanted = False
        self._opening: list[str] = []
        self._absorbed: list[str] = []
        self.faults = Faults(self)
        self.speech = Speech(
            self.output, partial=options.partial, wait=self.wait, act=self.faults.act
        )
        self.background = Background(self)
        self.tools = Toolbox(self)
        self.controls = Controls(self)

    # -- the loop -----------------------------------------------------------------------------------

    def run(self) -> int:
        """The exit code."""
        self.live = LiveEntry(self.options.sid, self.options.cwd)
        try:
            self.background.tell_of_lost()
            while True:
                while self.queue:
                    self._turns()
                if self.background.report():
                    continue
                if self.eof and not self.background.running:
                    return 1 if self.results.last_failed else 0
                self._take(0.05 if self.background.running else None)
        except Ended as end:
            self.tools.kill_all()
            self.background.kill_all()
            return end.code
        finally:
            self.transcript.flush()
            self.live.remove()

    def wait(self, seconds: float) -> None:
        """Let time pass while input is read. Raises when the turn is cut or the process must end."""
        until = time.monotonic() + seconds
        while True:
            rest = until - time.monotonic()
            if not self._take(max(0.0, rest)) and rest <= 0:
                break
        self.check_cut()

    def check_cut(self) -> None:
        """Raises when somebody wants the turn to be cut."""
        if self.interrupt_wanted:
            self.interrupt_wanted = False
            raise Interrupted

    def _take(self, timeout: Optional[float]) -> bool:
        rest = self.transcript.rest()
        if rest is not None:
            timeout = rest if timeout is None else min(timeout, rest)
        item = self.inbox.take(timeout)
        self.transcript.flush_due()
        if item is None:
            return False
        self._handle(item)
        return True

    def _handle(self, item: Item) -> None:
        if item.kind == "message":
            self._arrived(item.data)
        elif item.kind == "control":
            self.controls.handle(item.data)
        elif item.kind == "answer":
            self.tools.answered(item.data)
        elif item.kind == "eof":
            self.eof = True
            self.tools.input_ended()
        elif item.kind == "bad":
            sys.stderr.write(item.words + "\n")
            raise Ended(1)
        elif item.kind == "signal":
            self._signal(item.data["number"])

    def _signal(self, number: int) -> None:
        if number == signal.SIGINT:
            if self.in_turn:
                self.tools.kill_all()
                self._aborted(in_tool=self.tools.running)
            raise Ended(0)
        if self.in_turn:
            self.tools.killed()
        raise Ended(128 + number)

    def _arrived(self, line: dict[str, Any]) -> None:
        content = line["message"].get("content")
        message_uuid = line.get("uuid")
        message_uuid = message_uuid if isinstance(message_uuid, str) else ""
        if message_uuid and message_uuid in self._known:
            self.output.lifecycle(message_uuid, "completed")
            self.output.state("idle")
            return
        if message_uuid and message_uuid in self._here:
            if not self.in_turn:
                self.output.state("idle")
            return
        if message_uuid:
            self._here.add(message_uuid)
        text = _text(content)
        if not self.in_turn and not self.queue:
            self.output.state("running")
        self.output.lifecycle(message_uuid, "queued")
        self.transcript.queue("enqueue", **({"content": text} if isinstance(content, str) else {}))
        later, literal = line.get("priority") == "later", line.get("client_composed") is True
        self.queue.append(Message(text, message_uuid, content, later, literal))

    # -- turns --------------------------------------------------------------------------------------

    def _turns(self) -> None:
        """One turn after the other without an idle between, until nothing waits."""
        self.in_turn = True
        if self.live is not None:
            self.live.status("busy")
        try:
            while self.queue:
                self._turn(self._next_messages())
        finally:
            self.in_turn = False
        self.output.state("idle")
        if self.live is not None:
            self.live.status("idle")

    def _next_messages(self) -> list[Message]:
        """Everything that waits becomes one turn; a slash command is alone."""
        messages = [self.queue.popleft()]
        while self.queue and not messages[0].alone and not self.queue[0].alone:
            messages.append(self.queue.popleft())
        return messages

    def _turn(self, messages: list[Message]) -> None:
        uuids = [message.uuid for message in messages if message.uuid]
        for message_uuid in uuids:
            self.output.lifecycle(message_uuid, "started")
        options = self.options
        self.output.init(options.cwd, options.mode, options.model, asks=options.asks)
        self._record(messages, uuids)
        if uuids:
            self.speech.extra = {"user_message_uuid": uuids[-1], "user_message_uuids": uuids}
        absorbed: list[str] = []
        self._opening, self._absorbed = uuids, absorbed
        prompt = "\n".join(message.text for message in messages)
        self.results.begin()
        try:
            failure = self._rounds(prompt, absorbed)
        except Interrupted as cut:
            self._aborted(in_tool=cut.in_tool or self.tools.running)
            return
        for message_uuid in absorbed:
            self.output.lifecycle(message_uuid, "completed")
        self.results.end(uuids, absorbed, failure)
        failed = failure is not None and failure.word != "max_turns"
        for message_uuid in uuids:
            self.output.lifecycle(message_uuid, "cancelled" if failed else "completed")

    def _record(self, messages: list[Message], uuids: list[str]) -> None:
        self.transcript.close_calls()
        for _ in messages:
            self.transcript.queue("dequeue")
        content: Any = "\n".join(message.text for message in messages)
        if len(messages) == 1:
            content = messages[0].content
        fields: dict[str, Any] = {"uuid": uuids[-1]} if uuids else {}
        if len(uuids) > 1:
            fields["mergedSendUuids"] = uuids
        mode = self.options.mode
        self.transcript.message(
            "user", content, **fields, permissionMode=mode, promptSource="sdk", turnOrigin="sdk"
        )

    def _rounds(self, prompt: str, absorbed: list[str]) -> Optional[Failure]:
        """Speak round after round; answers the error word and text of a failed request."""
        steps = script.parse(prompt)
        scripted = bool(steps)
        rounds = deque(script.rounds(steps) if steps else persona.improvise(prompt))
        texts: list[str] = []
        while True:
            if rounds:
                current = rounds.popleft()
            else:
                words = "Done." + (f" [{' | '.join(texts)}]" if texts else "")
                current = [script.Step("say", words)]
            if self.options.partial:
                self.output.system("status", status="requesting")
            failure = self.faults.before(current)
            if failure is not None:
                return failure
            calls = []
            for block in self.speech.speak(current, self.options.model):
                if isinstance(block, Call):
                    calls.append(block)
                else:
                    self.results.said(block)
                self._record_assistant(block)
            self.results.rounds += 1
            if not calls:
                return None
            denied = [self.tools.call(call) for call in calls]
            if self.options.max_turns and self.results.rounds >= self.options.max_turns:
                return self.results.max_turns()
            if any(denied) and not scripted:
                rounds = deque([persona.refused()])
            for message in self._absorb(absorbed):
                texts.append(message.text)
                extra = script.parse(message.text)
                if extra:
                    rounds = deque(script.rounds(extra))

    def _record_assistant(self, block: Any) -> None:
        content = (
            {"type": "tool_use", "id": block.tool_use_id, "name": block.name, "input": block.data}
            if isinstance(block, Call)
            else block
        )
        self.transcript.message("assistant", [content])

    def _absorb(self, absorbed: list[str]) -> list[Message]:
        """Messages that wait at a tool's end join the running turn (cli-protocol 4.1)."""
        self.wait(0)
        taken: list[Message] = []
        kept: deque[Message] = deque()
        while self.queue:
            message = self.queue.popleft()
            (kept if message.later or message.alone else taken).append(message)
        self.queue = kept
        for message in taken:
            self.output.lifecycle(message.uuid, "started")
            if message.uuid:
                absorbed.append(message.uuid)
            delivery = str(uuid.uuid4())
            attachment = {"type": "queued_command", "prompt": message.content}
            removed = {"content": message.text, "reason": "absorbed_mid_turn"}
            if message.uuid:
                attachment["source_uuid"] = removed["commandUuid"] = message.uuid
            attachment["delivery_id"] = removed["deliveryId"] = delivery
            self.transcript.queue("remove", **removed)
            self.transcript.add({"type": "attachment", "attachment": attachment})
        return taken

    def end_in_turn(self) -> None:
        """`end_session` in a turn: it is cut, and says so, before the process ends."""
        self.tools.kill_all()
        self._aborted(in_tool=self.tools.running)
        self.output.state("idle")

    def _aborted(self, *, in_tool: bool) -> None:
        self.speech.cut()
        words = f"[Request interrupted by user{' for tool use' if in_tool else ''}]"
        self.tools.close_open()
        self.output.line(
            {
                "type": "user",
                "message": {"role": "user", "content": [{"type": "text", "text": words}]},
                "parent_tool_use_id": None,
                **self.output.common(),
            }
        )
        terminal = "aborted_tools" if in_tool else "aborted_streaming"
        self.results.abort(terminal, self._opening, self._absorbed)
        for message_uuid in (*self._absorbed, *self._opening):
            self.output.lifecycle(message_uuid, "cancelled")


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(
        str(block.get("text") or "")
        for block in content
        if isinstance(block, dict) and block.get("type") == "text"
    )
