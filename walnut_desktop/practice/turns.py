"""Turns: from the messages that open one to its result (cli-protocol 5)."""

from __future__ import annotations

import uuid
from collections import deque
from typing import TYPE_CHECKING, Any, Optional

from walnut_desktop.practice import persona, script
from walnut_desktop.practice.ending import Interrupted
from walnut_desktop.practice.faults import Faults
from walnut_desktop.practice.messages import Message
from walnut_desktop.practice.model import Call, Speech
from walnut_desktop.practice.output import now
from walnut_desktop.practice.results import CUT_SHORT, Failure
from walnut_desktop.practice.rules import ASK
from walnut_desktop.practice.script import Round, Step
from walnut_desktop.practice.substitution import fill

if TYPE_CHECKING:
    from walnut_desktop.practice.session import Session

_STOPPED = "Background shell command didn't finish before the previous session ended"


class Turns:
    """Runs one turn after the other for a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._faults = Faults(session)
        self._speech = Speech(
            session.output, partial=session.options.partial, wait=session.wait, act=self._faults.act
        )
        self.running = False
        self.begun = False
        """Whether there was any turn yet."""
        self._opening: list[str] = []
        self._absorbed: list[str] = []

    def run(self) -> None:
        """One turn after the other without an idle between, until nothing waits."""
        session = self._session
        self.running = self.begun = True
        session.status("busy")
        if not session.queue:
            session.output.state("running")
        try:
            while session.queue or session.background.news:
                if session.background.news:
                    self._follow_up()
                else:
                    self._turn(session.queue.next_turn())
        finally:
            self.running = False
        session.output.state("idle")
        session.status("idle")

    def _begin(self, opening: list[str]) -> None:
        session, options = self._session, self._session.options
        self._opening, self._absorbed = opening, []
        session.results.begin()
        session.output.init(options.cwd, options.mode, options.model, asks=options.asks)
        if opening:
            self._speech.extra = {"user_message_uuid": opening[-1], "user_message_uuids": opening}

    def names(self) -> dict[str, Any]:
        """The messages that the first assistant line of a turn answers; nothing for the others."""
        names, self._speech.extra = self._speech.extra, {}
        return names

    def _turn(self, messages: list[Message]) -> None:
        session, output = self._session, self._session.output
        uuids = [message.uuid for message in messages if message.uuid]
        for message in messages[:-1]:
            self._replay(message.text, message.uuid)
        for name in uuids:
            output.lifecycle(name, "started")
        self._begin(uuids)
        prompt = "\n".join(message.text for message in messages)
        self._record(messages, uuids, prompt)
        try:
            self._speech.first = lambda: self._replay(prompt, messages[-1].uuid)
            failure = self._rounds(prompt)
        except Interrupted as cut:
            self.aborted(in_tool=cut.in_tool or session.tools.running)
            return
        good = failure is None or failure.word == "max_turns"
        for name in self._absorbed:
            output.lifecycle(name, "completed")
        waiting = sum(message.human for message in session.queue)
        session.results.end(uuids, self._absorbed, failure, waiting)
        for name in uuids:
            output.lifecycle(name, "completed" if good else "cancelled")

    def _follow_up(self) -> None:
        """The agent speaks by itself: a command in the background is over."""
        session = self._session
        news = session.background.take_news()
        for note in news:
            session.transcript.queue("enqueue", content=note)
            session.transcript.queue("dequeue")
        origin = {"kind": "task-notification"}
        session.transcript.message(
            "user", "\n".join(news), origin=origin, turnOrigin="task_notification"
        )
        self._begin([])
        try:
            self._say([Step("say", persona.AFTER_A_JOB)])
        except Interrupted:
            self.aborted(in_tool=False)
            return
        session.results.self_started(persona.AFTER_A_JOB, silent=False)

    def tell_of_lost(self, jobs: list[dict[str, Any]]) -> None:
        """A resumed process speaks first of the jobs that died with the one before it (cli-protocol 5.3)."""
        session, output = self._session, self._session.output
        if not jobs or not session.options.resume:
            return
        for job in jobs:
            output.system(
                "task_notification",
                task_id=job.get("task_id"),
                tool_use_id=job.get("tool_use_id"),
                status="stopped",
                output_file="",
                summary=_STOPPED,
            )
        output.state("running")
        self._begin([])
        session.results.self_started("", silent=True)
        output.state("idle")

    def _record(self, messages: list[Message], uuids: list[str], prompt: str) -> None:
        session = self._session
        session.transcript.close_calls()
        for _ in messages:
            session.transcript.queue("dequeue")
        fields: dict[str, Any] = {"uuid": uuids[-1]} if uuids else {}
        if len(uuids) > 1:
            fields["mergedSendUuids"] = uuids[:-1]
        content = messages[0].content if len(messages) == 1 else prompt
        mode = session.options.mode
        session.transcript.message(
            "user", content, **fields, permissionMode=mode, promptSource="sdk", turnOrigin="sdk"
        )
        session.heard(prompt)
        if mode == "plan":
            path = session.plan.path(prompt)
            session.transcript.add(
                {"type": "attachment", "attachment": {"type": "plan_mode", "planFilePath": path}}
            )
            session.heard(f"Write the plan to {path}")

    def _replay(self, text: str, name: str) -> None:
        """The person's own line once more, for a host that wants it."""
        if self._session.options.replays:
            self.note(text, name)

    def note(self, text: str, name: str = "") -> None:
        """A user line that the model does not answer."""
        common = {**self._session.output.common(), "uuid": name or str(uuid.uuid4())}
        message = {"role": "user", "content": text}
        line = {"type": "user", "message": message, "parent_tool_use_id": None, "timestamp": now()}
        self._session.output.line({**line, **common, "isReplay": True})

    # -- rounds -------------------------------------------------------------------------------------

    def _rounds(self, prompt: str) -> Optional[Failure]:
        """Speak round after round; answers why the turn did not end well."""
        session = self._session
        steps = script.parse(prompt)
        rounds = deque(script.rounds(steps) if steps else self._improvise(prompt))
        joined: list[str] = []
        while True:
            words = "Done." + (f" [{' | '.join(joined)}]" if joined else "")
            current = rounds.popleft() if rounds else [Step("say", words)]
            if session.options.partial:
                names = self._speech.extra.get("user_message_uuids")
                more = {"user_message_uuids": names} if names else {}
                session.output.system("status", status="requesting", **more)
            failure = self._faults.before(current)
            if failure is not None:
                return failure
            calls = self._say(current)
            if not calls:
                return None
            denied = session.tools.call_all(calls)
            session.wait(0)
            limit = session.options.max_turns
            if limit and session.results.rounds >= limit:
                return session.results.max_turns()
            if any(message.priority == "now" for message in session.queue):
                return CUT_SHORT
            if denied and not steps:
                rounds = deque([persona.refused()])
            for message in self._absorb():
                joined.append(message.text)
                extra = script.parse(message.text)
                if extra:
                    rounds = deque(script.rounds(extra))
            if joined and rounds and not steps:
                rounds[-1].append(persona.joined(joined))
                joined = []

    def _improvise(self, prompt: str) -> list[Round]:
        """A person has just written something."""
        session = self._session
        mode = session.options.mode
        verdict = session.rules.verdict("Write", {"file_path": persona.FILE}, mode)
        plan = session.plan.path(prompt) if mode == "plan" and session.options.asks else ""
        first = session.heard_count <= (2 if mode == "plan" else 1)
        return persona.improvise(prompt, first=first, asks=verdict == ASK, plan=plan)

    def _say(self, current: Round) -> list[Call]:
        """One answer of the model; the calls that it asks for."""
        session = self._session
        filled = [
            step._replace(words=fill(step.words, self._seen()), data=fill(step.data, self._seen()))
            if step.name in ("say", "tool")
            else step
            for step in current
        ]
        calls = []
        for block in self._speech.speak(filled, session.options.model):
            content = block
            if isinstance(block, Call):
                calls.append(block)
                content = {"type": "tool_use", "id": block.tool_use_id, "name": block.name}
                content["input"] = block.data
            else:
                session.results.said(block)
            session.transcript.message("assistant", [content], model=session.options.model)
        session.results.rounds += 1
        return calls

    def _seen(self) -> str:
        return "\n".join(self._session.seen)

    def _absorb(self) -> list[Message]:
        """Messages that wait at a tool's end join the running turn (cli-protocol 4.1)."""
        session = self._session
        taken = session.queue.for_this_turn()
        for message in taken:
            self._replay(message.text, message.uuid)
            session.output.lifecycle(message.uuid, "started")
            if message.uuid:
                self._absorbed.append(message.uuid)
            self._attach(message.content, message.text, message.uuid)
            session.heard(message.text)
        for note in session.background.take_news():
            self._attach(note, note, "")
        return taken

    def _attach(self, content: Any, text: str, name: str) -> None:
        delivery = str(uuid.uuid4())
        attachment = {"type": "queued_command", "prompt": content, "delivery_id": delivery}
        removed = {"content": text, "reason": "absorbed_mid_turn", "deliveryId": delivery}
        if name:
            attachment["source_uuid"] = removed["commandUuid"] = name
        self._session.transcript.queue("remove", **removed)
        self._session.transcript.add({"type": "attachment", "attachment": attachment})

    def aborted(self, *, in_tool: bool) -> None:
        """The turn was cut: what was said stands, and everybody is told."""
        session, output = self._session, self._session.output
        self._speech.cut()
        words = f"[Request interrupted by user{' for tool use' if in_tool else ''}]"
        session.tools.close_open()
        content = [{"type": "text", "text": words}]
        line = {
            "type": "user",
            "message": {"role": "user", "content": content},
            "parent_tool_use_id": None,
            "timestamp": now(),
            **output.common(),
        }
        output.line(line)
        session.results.user_lines += 1
        session.transcript.message("user", content, uuid=line["uuid"])
        terminal = "aborted_tools" if in_tool else "aborted_streaming"
        session.results.abort(terminal, self._opening, self._absorbed)
        for name in (*self._absorbed, *self._opening):
            output.lifecycle(name, "cancelled")
