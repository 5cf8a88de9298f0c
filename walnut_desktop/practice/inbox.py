"""What comes in: lines on stdin, read by a thread so that a busy agent reads them too, and signals."""

from __future__ import annotations

import json
import os
import queue
import signal
import threading
from typing import Any, NamedTuple, Optional


class Item(NamedTuple):
    """A line (`message`, `control`, `answer`), `eof`, `signal`, or `bad` with the words for stderr."""

    kind: str
    data: dict[str, Any]
    words: str = ""


class Inbox:
    """A queue of items in the order of their arrival."""

    def __init__(self) -> None:
        # A signal may come while the queue is read: only a SimpleQueue can be put into just then.
        self._items: queue.SimpleQueue[Item] = queue.SimpleQueue()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        threading.Thread(target=self._read, daemon=True).start()

    def take(self, timeout: Optional[float]) -> Optional[Item]:
        """The next item, or None when the time is up."""
        try:
            if timeout is not None and timeout <= 0:
                return self._items.get_nowait()
            return self._items.get(timeout=timeout)
        except queue.Empty:
            return None

    def _on_signal(self, number: int, _frame: Any) -> None:
        self._items.put(Item("signal", {"number": number}))

    def _read(self) -> None:
        rest = b""
        while True:
            try:
                data = os.read(0, 1 << 16)
            except OSError:
                data = b""
            if not data:
                if rest.strip():
                    self._put(rest)
                self._items.put(Item("eof", {}))
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._put(line)

    def _put(self, raw: bytes) -> None:
        line = raw.strip(b" \t\r")
        if line:
            item = classify(line)
            if item is not None:
                self._items.put(item)


def classify(raw: bytes) -> Optional[Item]:
    """The item of a line; None for what is ignored (cli-protocol 1.1)."""
    try:
        obj = json.loads(raw)
    except (ValueError, RecursionError) as error:
        words = f"Error parsing streaming input line (type=unknown, {len(raw)} chars): SyntaxError: {error}"
        return Item("bad", {}, words)
    if not isinstance(obj, dict):
        return None
    kind = obj.get("type")
    if kind == "user":
        message = obj.get("message")
        role = message.get("role") if isinstance(message, dict) else None
        if role != "user":
            found = role if role is not None else "undefined"
            return Item("bad", {}, f"Error: Expected message role 'user', got '{found}'")
        return Item("message", obj)
    if kind == "control_request":
        if not isinstance(obj.get("request"), dict):
            return Item("bad", {}, "Error: Missing request on control_request")
        return Item("control", obj)
    if kind == "control_response":
        return Item("answer", obj)
    return None
