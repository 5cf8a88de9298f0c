"""Drives one real CLI process as the product does: stdin is a FIFO that the CLI itself keeps open."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil

Line = dict[str, Any]

PATIENCE = 30.0
"""Seconds until a line that a test waits for must have come."""

END_PATIENCE = 5.0
"""Seconds that each step of ending the CLI may take."""


class CliSession:
    """A CLI process between start and end; usable with `with`, which ends it and all its children."""

    def __init__(
        self,
        claude: Path,
        env: Mapping[str, str],
        cwd: Path,
        *arguments: str,
        resume: str | None = None,
    ) -> None:
        self.id = resume or str(uuid.uuid4())
        self.lines: list[Line] = []
        self.garbage: list[bytes] = []
        self._changed = threading.Condition()
        self._over = False
        fifo = Path(env["HOME"]) / f"stdin-{uuid.uuid4().hex[:8]}"
        os.mkfifo(fifo, 0o600)
        self._stdin = os.open(fifo, os.O_RDWR)
        command = [
            str(claude),
            *("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"),
            *("--permission-prompt-tool", "stdio"),
            *(("--resume", resume) if resume else ("--session-id", self.id)),
            *arguments,
        ]
        self._errors = Path(env["HOME"]) / f"{fifo.name}.stderr"
        with self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                command,
                stdin=self._stdin,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=cwd,
                env=dict(env),
                start_new_session=True,
            )
        self._reader = threading.Thread(target=self._read, name=f"read-{self.id[:8]}", daemon=True)
        self._reader.start()

    def send(self, text: str) -> str:
        """Write a user message; answer its uuid."""
        message_id = str(uuid.uuid4())
        self._write(
            {
                "type": "user",
                "message": {"role": "user", "content": text},
                "uuid": message_id,
                "client_composed": True,
                "origin": {"kind": "human"},
            }
        )
        return message_id

    def control(self, subtype: str, **fields: object) -> Line:
        """Ask the CLI for something and wait for its answer."""
        request_id = uuid.uuid4().hex
        request = {"subtype": subtype, **fields}
        self._write({"type": "control_request", "request_id": request_id, "request": request})
        answer = self.wait_for(
            lambda line: (
                line["type"] == "control_response" and line["response"]["request_id"] == request_id
            )
        )
        response: Line = answer["response"]
        return response

    def allow(self, request: Line) -> None:
        """Let the tool of a `can_use_tool` request run with the input it has."""
        answer = {"behavior": "allow", "updatedInput": request["request"]["input"]}
        response = {"subtype": "success", "request_id": request["request_id"], "response": answer}
        self._write({"type": "control_response", "response": response})

    def wait_for(self, wanted: Callable[[Line], bool], seconds: float = PATIENCE) -> Line:
        """The first line, past or to come, that is wanted; fails with all that came instead."""
        position = 0

        def look() -> bool:
            nonlocal position
            while position < len(self.lines) and not wanted(self.lines[position]):
                position += 1
            return position < len(self.lines) or self._over

        with self._changed:
            in_time = self._changed.wait_for(look, seconds)
            if position < len(self.lines):
                return self.lines[position]
        what = "ended" if in_time else f"wrote no such line within {seconds} s"
        raise AssertionError(f"the CLI {what}: {self.story()}")

    def wait_for_kind(self, kind: str, subtype: str = "", **fields: object) -> Line:
        """The first line with this type, subtype and fields."""
        return self.wait_for(
            lambda line: (
                line["type"] == kind
                and (not subtype or line.get("subtype") == subtype)
                and all(line.get(name) == value for name, value in fields.items())
            )
        )

    def wait_for_request(self) -> Line:
        """The first permission that the CLI asks for."""
        return self.wait_for(
            lambda line: (
                line["type"] == "control_request" and line["request"]["subtype"] == "can_use_tool"
            )
        )

    def wait_for_result_of(self, message_id: str) -> Line:
        """The result of the turn that took this message."""
        return self.wait_for(
            lambda line: (
                line["type"] == "result" and message_id in line.get("user_message_uuids", ())
            )
        )

    def lifecycle(self, message_id: str) -> list[str]:
        """The states of a message so far."""
        with self._changed:
            return [
                str(line["state"])
                for line in self.lines
                if line["type"] == "command_lifecycle" and line["command_uuid"] == message_id
            ]

    def story(self) -> str:
        """What happened, short enough for a failure message."""
        with self._changed:
            kinds = [
                f"{line['type']}/{line.get('subtype') or line.get('state') or ''}"
                for line in self.lines
            ]
        errors = self._errors.read_text(errors="replace")[-500:]
        return f"exit={self.process.poll()} lines={kinds} garbage={self.garbage} stderr={errors!r}"

    def end(self) -> int:
        """Ask the CLI to end, as the product does; answer its exit code."""
        self._write(
            {"type": "control_request", "request_id": "end", "request": {"subtype": "end_session"}}
        )
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        """End the CLI and everything below it, whatever state it is in; once is enough."""
        if self._stdin < 0:
            return
        family = self._family()
        self.process.terminate()
        try:
            self.process.wait(END_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(END_PATIENCE)
        for member in family:
            if member.is_running():
                member.kill()
        psutil.wait_procs(family, END_PATIENCE)
        self._reader.join(END_PATIENCE)
        if self.process.stdout is not None:
            self.process.stdout.close()
        os.close(self._stdin)
        self._stdin = -1

    def _family(self) -> list[psutil.Process]:
        """Listed before the end: a tool leads its own session and outlives a killed CLI."""
        try:
            return psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def _write(self, line: Line) -> None:
        data = json.dumps(line).encode() + b"\n"
        while data:
            data = data[os.write(self._stdin, data) :]

    def _read(self) -> None:
        assert self.process.stdout is not None
        for raw in self.process.stdout:
            try:
                line = json.loads(raw)
            except ValueError:
                line = None
            with self._changed:
                if isinstance(line, dict) and "type" in line:
                    self.lines.append(line)
                else:
                    self.garbage.append(raw)
                self._changed.notify_all()
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
