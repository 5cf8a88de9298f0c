"""Answers requests as their script says: one thread that listens on loopback, one per connection."""

from __future__ import annotations

import json
import select
import socket
import uuid
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.fakes.messages_api.blocks import Block, Json, make_block
from tests.fakes.messages_api.conversation import Reading, all_text, read
from tests.fakes.messages_api.script import CALLS, CONTENT, TYPE_OF_ERROR, Directive
from tests.fakes.messages_api.state import Request, Shared

COUNT_TOKENS = "/v1/messages/count_tokens"
MESSAGES = "/v1/messages"
OPEN_GATE = "/open-gate/"


class _Gone(Exception):
    """The client or the server ended the exchange."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, port: int, shared: Shared) -> None:
        self.shared = shared
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away in the middle is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "ScriptedMessagesApi"
    disable_nagle_algorithm = True
    server: Server

    def setup(self) -> None:
        super().setup()
        with self.server.shared.changed:
            self.server.shared.connections.add(self.connection)

    def finish(self) -> None:
        with self.server.shared.changed:
            self.server.shared.connections.discard(self.connection)
        super().finish()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: the log is `MessagesApi.requests`."""

    def do_HEAD(self) -> None:
        self._json({})

    def do_GET(self) -> None:
        self._json({})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = None
        if not isinstance(body, dict):
            self._error(400, "invalid_request_error", "the body is no JSON object", {})
            return
        path = self.path.partition("?")[0]
        try:
            if path == COUNT_TOKENS:
                self._json({"input_tokens": max(1, len(raw) // 4)})
            elif path == MESSAGES:
                self._answer(body)
            else:
                if path.startswith(OPEN_GATE):
                    self.server.shared.open_gate(path.removeprefix(OPEN_GATE))
                self._json({})
        except (_Gone, ConnectionError):
            self.close_connection = True

    def _answer(self, body: Json) -> None:
        shared = self.server.shared
        reading = read(body, shared.default_script)
        shared.log(Request(body, reading))
        headers: dict[str, str] = {}
        for directive in reading.round:
            if directive.name == "delay":
                shared.pause(directive.number())
            elif directive.name == "header":
                name, _, value = directive.text.partition(" ")
                headers[name] = value.strip()
        for index, directive in enumerate(reading.round):
            if directive.name == "status" and not self._is_over(reading, index, 1):
                self._scripted_error(reading.round, directive, headers)
                return
        steps = [
            directive
            for index, directive in enumerate(reading.round)
            if directive.name in CONTENT | {"sleep", "gate", "hang", "sseerror"}
            or (directive.name == "drop" and not self._is_over(reading, index, 0))
        ]
        if not any(step.name in CONTENT | {"hang", "sseerror", "drop"} for step in steps):
            steps.append(Directive("say", "Done."))
        message = self._new_message(body, reading.round)
        conversation = all_text(body.get("messages")) if "{{re:" in repr(steps) else ""
        if body.get("stream"):
            self._stream(message, reading.round, steps, conversation, headers)
        else:
            blocks = [make_block(step, conversation) for step in steps if step.name in CONTENT]
            message["content"] = [block.whole for block in blocks]
            message["stop_reason"] = stop_reason(reading.round)
            message["usage"] = usage(message, reading.round, blocks)
            self._json(message, headers=headers)

    def _is_over(self, reading: Reading, index: int, word: int) -> bool:
        """Whether a failure that happens N times only has happened that often; `word` holds the N."""
        words = reading.round[index].words()
        times = int(words[word]) if len(words) > word else 0
        return times > 0 and self.server.shared.used_up(f"{reading.key}:{index}", times)

    def _scripted_error(
        self, round_: Sequence[Directive], directive: Directive, headers: dict[str, str]
    ) -> None:
        words = directive.text.split(None, 3)
        code = int(words[0])
        kind = words[2] if len(words) > 2 else TYPE_OF_ERROR.get(code, "api_error")
        text = words[3] if len(words) > 3 else f"scripted {code}"
        after = [item.text.strip() for item in round_ if item.name == "retryafter"]
        if after:
            headers = {**headers, "retry-after": after[-1]}
        self._error(code, kind, text, headers)

    def _new_message(self, body: Json, round_: Sequence[Directive]) -> Json:
        tokens: Json = {
            "input_tokens": max(1, len(json.dumps(body.get("messages"))) // 4),
            "output_tokens": 1,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        }
        return {
            "id": f"msg_{uuid.uuid4().hex[:22]}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {**tokens, **_given_usage(round_)},
        }

    def _stream(
        self,
        message: Json,
        round_: Sequence[Directive],
        steps: Sequence[Directive],
        conversation: str,
        headers: dict[str, str],
    ) -> None:
        self.send_response(200)
        self._send_headers(
            {"content-type": "text/event-stream", "transfer-encoding": "chunked", **headers}
        )
        self._event("message_start", {"message": message})
        blocks: list[Block] = []
        for step in steps:
            if step.name in CONTENT:
                blocks.append(make_block(step, conversation))
                self._stream_block(len(blocks) - 1, blocks[-1])
            elif not self._stream_step(step):
                return
        delta = {"stop_reason": stop_reason(round_), "stop_sequence": None}
        self._event("message_delta", {"delta": delta, "usage": usage(message, round_, blocks)})
        self._event("message_stop", {})
        self.wfile.write(b"0\r\n\r\n")

    def _stream_step(self, step: Directive) -> bool:
        """Do what isn't content; False when the stream is over with it."""
        if step.name == "sleep":
            self.server.shared.pause(step.number())
        elif step.name == "gate":
            self.server.shared.pause(None, step.text.strip())
        elif step.name == "hang":
            self._hang()
        elif step.name == "drop":
            self.connection.shutdown(socket.SHUT_RDWR)
            raise _Gone
        else:
            kind = (step.words() or ["overloaded_error"])[0]
            self._event("error", {"error": {"type": kind, "message": f"scripted {kind}"}})
            self.wfile.write(b"0\r\n\r\n")
            return False
        return True

    def _stream_block(self, index: int, block: Block) -> None:
        self._event("content_block_start", {"index": index, "content_block": block.opening})
        for delta in block.deltas:
            self._event("content_block_delta", {"index": index, "delta": delta})
            if block.pause:
                self.server.shared.pause(block.pause)
        self._event("content_block_stop", {"index": index})

    def _hang(self) -> None:
        """Keep the connection without a word until one end closes it."""
        select.select([self.connection], [], [])
        raise _Gone

    def _event(self, kind: str, content: Json) -> None:
        if self.server.shared.closing:
            raise _Gone
        data = f"event: {kind}\ndata: {json.dumps({'type': kind, **content})}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _error(self, code: int, kind: str, text: str, headers: dict[str, str]) -> None:
        self._json({"type": "error", "error": {"type": kind, "message": text}}, code, headers)

    def _json(self, content: Json, code: int = 200, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(content).encode()
        self.send_response(code)
        self._send_headers(
            {
                "content-type": "application/json",
                "content-length": str(len(data)),
                **(headers or {}),
            }
        )
        if self.command != "HEAD":
            self.wfile.write(data)

    def _send_headers(self, headers: dict[str, str]) -> None:
        for name, value in {"request-id": f"req_{uuid.uuid4().hex[:24]}", **headers}.items():
            self.send_header(name, value)
        self.end_headers()


def stop_reason(round_: Sequence[Directive]) -> str:
    """As asked for, else what the content says."""
    asked = [directive.text.strip() for directive in round_ if directive.name == "stop"]
    if asked:
        return asked[-1]
    return "tool_use" if any(directive.name in CALLS for directive in round_) else "end_turn"


def usage(message: Json, round_: Sequence[Directive], blocks: Sequence[Block]) -> Json:
    """The usage at the end of an answer."""
    began = message["usage"]
    made: Json = {"output_tokens": max(1, sum(block.size for block in blocks) // 4)}
    return {**(began if isinstance(began, dict) else {}), **made, **_given_usage(round_)}


def _given_usage(round_: Sequence[Directive]) -> Json:
    given: Json = {}
    for directive in round_:
        if directive.name == "usage" and isinstance(directive.value, dict):
            given.update(directive.value)
    return given
