"""The practice agent's session: what comes in, at any time, and what becomes of it (cli-protocol 4)."""

from __future__ import annotations

import signal
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional

from walnut_desktop.practice.asking import Asking
from walnut_desktop.practice.background import Background
from walnut_desktop.practice.control import Controls
from walnut_desktop.practice.ending import Ended, Interrupted
from walnut_desktop.practice.files import LiveEntry
from walnut_desktop.practice.inbox import Inbox, Item
from walnut_desktop.practice.messages import Waiting, read
from walnut_desktop.practice.output import Output
from walnut_desktop.practice.plans import Plan
from walnut_desktop.practice.results import Results
from walnut_desktop.practice.rules import Rules
from walnut_desktop.practice.toolbox import Toolbox
from walnut_desktop.practice.transcript import Transcript
from walnut_desktop.practice.turns import Turns

LOOK_S = 0.05
"""How often to look whether a job in the background is over."""


class Options:
    """What the command line said; mode and model may change. No dataclass: it must start at once."""

    def __init__(
        self,
        *,
        sid: str,
        mode: str,
        model: str,
        resume: bool,
        partial: bool,
        asks: bool,
        may_bypass: bool,
        replays: bool,
        allowed: str,
        max_turns: int,
    ) -> None:
        self.sid = sid
        self.mode = mode
        self.model = model
        self.resume = resume
        self.partial = partial
        self.asks = asks
        self.may_bypass = may_bypass
        self.replays = replays
        self.allowed = allowed
        self.max_turns = max_turns
        self.cwd = str(Path.cwd())


class Session:
    """Runs until its input ends, it is told to end, or it is killed."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.output = Output(options.sid)
        self.inbox = Inbox()
        self.transcript = Transcript(options.sid, options.cwd)
        self._known = self.transcript.resume() if options.resume else set()
        self._here: set[str] = set()
        self.queue = Waiting()
        self.live = LiveEntry(options.sid, options.cwd)
        self.results = Results(self.output)
        self.rules = Rules(options.cwd, options.allowed)
        self.plan = Plan()
        self.asking = Asking(self)
        self.background = Background(self)
        self.tools = Toolbox(self)
        self.controls = Controls(self)
        self.turns = Turns(self)
        self.eof = False
        self.interrupt_wanted = False
        self.seen: deque[str] = deque(maxlen=50)
        self.heard_count = 0

    def run(self) -> int:
        """The exit code."""
        self.live.status("idle")
        try:
            self.turns.tell_of_lost(self.background.lost())
            while True:
                if self.queue or self.background.news:
                    self.turns.run()
                elif self.eof and not self.background.running:
                    return 1 if self.results.last_failed else 0
                else:
                    self._take(None)
        except Ended as end:
            self.tools.kill_all()
            self.background.kill_all(told=False)
            return end.code
        finally:
            self.transcript.flush()
            self.live.remove()

    def status(self, word: str) -> None:
        """busy, idle or waiting, for those who look at the registry."""
        self.live.status(word)

    def heard(self, text: str) -> None:
        """Something that the model has seen; `{{re:...}}` looks for it."""
        self.seen.append(text)
        self.heard_count += 1

    # -- time and input -----------------------------------------------------------------------------

    def wait(self, seconds: float) -> None:
        """Let time pass while input is read. Raises when the turn is cut or the process must end."""
        self.wait_until(lambda: False, time.monotonic() + seconds)

    def wait_until(self, test: Callable[[], bool], until: Optional[float] = None) -> None:
        """Read input until the test holds, or the time is up. Raises as `wait` does."""
        while not test():
            rest = None if until is None else max(0.0, until - time.monotonic())
            came = self._take(rest)
            if self.interrupt_wanted:
                self.interrupt_wanted = False
                raise Interrupted
            if not came and rest == 0.0:
                return

    def _take(self, timeout: Optional[float]) -> bool:
        """Do one thing that came in, if one comes in that time; False when none did."""
        limits = [timeout, self.transcript.rest(), LOOK_S if self.background.running else None]
        known = [limit for limit in limits if limit is not None]
        item = self.inbox.take(min(known) if known else None)
        self.transcript.flush_due()
        self.background.notice()
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
            self.asking.answered(item.data)
        elif item.kind == "eof":
            self.eof = True
            self.asking.input_ended()
        elif item.kind == "bad":
            sys.stderr.write(item.words + "\n")
            raise Ended(1)
        elif item.kind == "signal":
            self._signal(item.data["number"])

    def _signal(self, number: int) -> None:
        if number == signal.SIGINT:
            if self.turns.running:
                self.turns.aborted(in_tool=self.tools.running)
            raise Ended(0)
        self.tools.killed()
        raise Ended(128 + number)

    def _arrived(self, line: dict[str, Any]) -> None:
        """A message: a known uuid is not taken twice (cli-protocol 4.3)."""
        message = read(line)
        if message.uuid and message.uuid in self._known:
            self.output.lifecycle(message.uuid, "completed")
            self.output.state("idle")
            return
        if message.uuid and message.uuid in self._here:
            if not self.turns.running:
                self.output.state("idle")
            return
        if message.uuid:
            self._here.add(message.uuid)
        if not self.turns.running and not self.queue:
            self.output.state("running")
        self.output.lifecycle(message.uuid, "queued")
        fields = {"content": message.content} if isinstance(message.content, str) else {}
        self.transcript.queue("enqueue", **fields)
        self.queue.append(message)

    def end_in_turn(self) -> None:
        """`end_session` in a turn: it is cut, and says so, before the process ends."""
        self.turns.aborted(in_tool=self.tools.running)
        self.output.state("idle")
