"""The server as tests use it: start, look into the log, open a gate, close."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from tests.fakes.messages_api.conversation import DefaultScript
from tests.fakes.messages_api.server import Server
from tests.fakes.messages_api.state import Request, Shared


class MessagesApi:
    """A scripted Messages API on loopback, running between `with` and its end."""

    def __init__(self, *, port: int = 0, default_script: DefaultScript = None) -> None:
        self._shared = Shared(default_script)
        self._server = Server(port, self._shared)
        self._thread = threading.Thread(target=self._serve, name="messages-api", daemon=True)

    @property
    def url(self) -> str:
        """What ANTHROPIC_BASE_URL shall be."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def requests(self) -> list[Request]:
        """All requests for an answer so far."""
        with self._shared.changed:
            return list(self._shared.requests)

    def wait_for(self, wanted: Callable[[Request], bool], seconds: float = 20.0) -> Request:
        """The first request, past or to come, that is wanted."""
        found: list[Request] = []

        def look() -> bool:
            found.extend(request for request in self._shared.requests if wanted(request))
            return bool(found)

        with self._shared.changed:
            if not self._shared.changed.wait_for(look, seconds):
                seen = [request.reading.last_prompt[:80] for request in self._shared.requests]
                raise TimeoutError(f"no such request within {seconds} s; seen: {seen}")
        return found[0]

    def open_gate(self, name: str) -> None:
        """Let go what waits at `[[gate NAME]]`, now and later."""
        self._shared.open_gate(name)

    def serve_forever(self) -> None:
        """Serve on this thread, for the program of its own."""
        self._serve()

    def start(self) -> Self:
        """Serve on a thread of its own."""
        self._thread.start()
        return self

    def close(self) -> None:
        """End at once: whoever waits is let go, every connection is closed."""
        with self._shared.changed:
            self._shared.closing = True
            self._shared.changed.notify_all()
            connections = list(self._shared.connections)
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _serve(self) -> None:
        self._server.serve_forever(poll_interval=0.02)
