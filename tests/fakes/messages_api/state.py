"""What the threads of the server share: the log, the counters, the gates."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from dataclasses import dataclass, field

from tests.fakes.messages_api.blocks import Json
from tests.fakes.messages_api.conversation import DefaultScript, Reading


@dataclass(frozen=True, slots=True)
class Request:
    """One request for an answer, as the log keeps it."""

    body: Json
    reading: Reading

    @property
    def model(self) -> str:
        """The model asked for."""
        return str(self.body.get("model", ""))


@dataclass(slots=True)
class Shared:
    """What the connection threads share; everything under one condition."""

    default_script: DefaultScript
    changed: threading.Condition = field(default_factory=threading.Condition)
    requests: list[Request] = field(default_factory=list)
    uses: Counter[str] = field(default_factory=Counter)
    open_gates: set[str] = field(default_factory=set)
    connections: set[socket.socket] = field(default_factory=set)
    closing: bool = False

    def log(self, request: Request) -> None:
        with self.changed:
            self.requests.append(request)
            self.changed.notify_all()

    def used_up(self, key: str, times: int) -> bool:
        """Count one more use; True when it was used often enough before."""
        with self.changed:
            self.uses[key] += 1
            return self.uses[key] > times

    def pause(self, seconds: float | None, gate: str | None = None) -> None:
        """Wait; ends early when the server closes or the gate opens."""
        with self.changed:
            self.changed.wait_for(lambda: self.closing or gate in self.open_gates, seconds)

    def open_gate(self, name: str) -> None:
        with self.changed:
            self.open_gates.add(name)
            self.changed.notify_all()
