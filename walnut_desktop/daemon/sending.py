"""Handing lines to an agent (Rules M3, S5.2): under the gate, whole, after the marker."""

from __future__ import annotations

import json
from typing import Any

from walnut_desktop.daemon import stream_file
from walnut_desktop.daemon.fifo import MAX_LINE, Closed, LineTooLong, NotReading, TornWrite
from walnut_desktop.daemon.registry import Owned, Registry
from walnut_desktop.protocol.messages import RemoteError, Send, SendRaw

EMPTY_WAIT_S = 8.0


def encode_line(line: dict[str, Any]) -> bytes:
    """The line as it goes into the pipe: UTF-8, since escapes would make most scripts three times as long.

    U+2028 and U+2029 are escaped all the same: some readers take them for the end of a line.
    """
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return text.encode("utf-8", "replace") + b"\n"


class Sender:
    """Writes to the pipes of the owned sessions."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    async def send(self, request: Send) -> None:
        """A user message with its marker in the stream before the agent can read it."""
        line = request.line
        marker = {
            "type": "user",
            "subtype": "walnut-injected",
            "uuid": request.uuid,
            "message": line.get("message"),
        }
        async with self._registry.gate(request.sid):
            owned = self._living(request.sid)
            await self._write(owned, line, marker)

    async def send_raw(self, request: SendRaw) -> None:
        """A control line. An answer to the agent is marked after it is written: asked twice does no harm."""
        async with self._registry.gate(request.sid):
            owned = self._living(request.sid)
            await self._write(owned, request.line, None)
            if request.answers:
                stream_file.append_marker(
                    owned.files.stream,
                    {"type": "walnut", "subtype": "answered", "request_id": request.answers},
                )

    def _living(self, sid: str) -> Owned:
        owned = self._registry.owned.get(sid)
        if owned is None:
            raise RemoteError("not_running", "The session has no running process.")
        if owned.stopping:
            raise RemoteError("stopping", "The session is being stopped.")
        if owned.torn or owned.fifo is None:
            raise RemoteError("pipe_broken", "The way to the agent's process is broken.")
        return owned

    async def _write(
        self, owned: Owned, line: dict[str, Any], marker: dict[str, Any] | None
    ) -> None:
        data = encode_line(line)
        if len(data) > MAX_LINE or owned.fifo is None:
            raise RemoteError("too_long", "The message is too long to be handed over at once.")
        try:
            await owned.fifo.wait_empty(EMPTY_WAIT_S)
            if owned.ended.is_set():
                raise RemoteError("not_running", "The session has no running process.")
            if marker is not None:
                stream_file.append_marker(owned.files.stream, marker)
            owned.fifo.write_line(data)
        except Closed:
            raise RemoteError("not_running", "The session has no running process.") from None
        except NotReading:
            raise RemoteError("busy", "The agent does not read its input at the moment.") from None
        except LineTooLong:
            raise RemoteError(
                "too_long", "The message is too long to be handed over at once."
            ) from None
        except TornWrite:
            owned.torn = True
            raise RemoteError("pipe_broken", "The way to the agent's process is broken.") from None
        except OSError as error:
            raise RemoteError("disk", f"The message can't be written: {error.strerror}.") from None
