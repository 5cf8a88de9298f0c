"""Runs the practice agent as a process and replays what was written to the real CLI."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

CAPTURES = Path(__file__).parents[2] / "data" / "cli-captures"
LIMIT_S = 10.0
SPEAKING = {"19-interrupt-streaming"}
"""Interrupted in the middle of a text, of which no whole line tells."""
_SKIPPED = {"stream_event", "rate_limit_event", "tool_progress"}
_SKIPPED_SYSTEM = {
    "thinking_tokens",
    "hook_started",
    "hook_response",
    "task_started",
    "task_notification",
}


class Agent:
    """A running practice agent; its lines are collected as they come."""

    def __init__(self, arguments: list[str], env: dict[str, str], cwd: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "walnut_desktop.practice", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            cwd=cwd,
        )
        self.lines: list[dict[str, Any]] = []
        self.stderr = ""
        self._news = threading.Condition()
        self._threads = [
            threading.Thread(target=self._read),
            threading.Thread(target=self._read_errors),
        ]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for raw in self.process.stdout:
            with self._news:
                try:
                    self.lines.append(json.loads(raw))
                except ValueError:
                    self.lines.append({"type": "unreadable", "raw": raw})
                self._news.notify_all()
        with self._news:
            self._news.notify_all()

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.stderr = self.process.stderr.read().decode()

    def send(self, line: dict[str, Any] | bytes) -> None:
        """Write one line."""
        assert self.process.stdin is not None
        data = line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError:
            return

    def close(self) -> None:
        """No more input."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def wait_for(self, test: Callable[[], bool], limit: float = LIMIT_S) -> bool:
        """Wait until the test holds for the lines so far."""
        end = time.monotonic() + limit
        with self._news:
            while not test():
                rest = end - time.monotonic()
                if rest <= 0:
                    return False
                self._news.wait(min(rest, 0.05))
            return True

    def signal(self, name: str) -> None:
        """Send it a signal by name."""
        self.process.send_signal(getattr(signal, name))

    def finish(self) -> int:
        """Wait for its end; the exit code as a shell counts signals."""
        code = self.process.wait(LIMIT_S)
        for thread in self._threads:
            thread.join(LIMIT_S)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue
        return code


def environment(home: Path, *, states: bool = True) -> dict[str, str]:
    """Its own home, no pauses between words."""
    env = {
        **os.environ,
        "WALNUT_PRACTICE_HOME": str(home),
        "WALNUT_PRACTICE_FAST": "1",
        "IS_SANDBOX": "1",
    }
    if states:
        env["CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"] = "1"
    return env


@contextmanager
def running(arguments: list[str], env: dict[str, str], cwd: Path) -> Iterator[Agent]:
    """An agent that is ended in any case."""
    agent = Agent(arguments, env, cwd)
    try:
        yield agent
    finally:
        if agent.process.poll() is None:
            agent.process.kill()
        agent.finish()


def word(line: dict[str, Any]) -> str:
    """A line as one word: what it is, without ids, times and texts. Empty for what is not compared."""
    kind = str(line.get("type"))
    if kind in _SKIPPED or (kind == "system" and line.get("subtype") in _SKIPPED_SYSTEM):
        return ""
    if kind == "system" and line.get("status") == "requesting":
        return ""
    if kind == "system":
        more = line.get("state") or line.get("permissionMode") or ""
        return f"system:{line.get('subtype')}:{more}".rstrip(":")
    if kind == "command_lifecycle":
        return f"lifecycle:{str(line.get('command_uuid'))[:4]}:{line.get('state')}"
    if kind == "assistant":
        block = line["message"]["content"][0]
        marks = (
            ("error:" + str(line["error"])) if line.get("error") else str(block.get("name") or "")
        )
        return (
            f"assistant:{block['type']}:{marks}{':aborted' if line.get('aborted') else ''}".rstrip(
                ":"
            )
        )
    if kind == "user":
        content = line["message"]["content"]
        if isinstance(content, str):
            return "user:text"
        failed = ":error" if content[0].get("is_error") else ""
        meta = (line.get("tool_result_meta") or [{}])[0]
        decision = meta.get("permission_decision") or {}
        why = f"{meta.get('non_execution_kind', '')}:{decision.get('source', '')}"
        return f"user:{content[0]['type']}{failed}:{why}".rstrip(":")
    if kind == "result":
        uuids = [str(item)[:4] for item in line.get("user_message_uuids") or []]
        ending = f"{line.get('subtype')}:{line.get('is_error')}:{line.get('terminal_reason')}"
        denials = [str(denial["tool_name"]) for denial in line.get("permission_denials") or []]
        counts = f"{line.get('num_turns')}:{line.get('queued_turn_count')}:{'+'.join(denials)}"
        first = str(line.get("user_message_uuid") or "")[:4]
        origin = str((line.get("origin") or {}).get("kind") or "")
        return f"result:{line.get('result_index')}:{ending}:{counts}:{origin}:{first}:{'+'.join(uuids)}"
    if kind == "control_request":
        return f"ask:{line['request'].get('tool_name')}"
    if kind == "control_response":
        return f"control_response:{line['response'].get('subtype')}"
    return kind


def words(lines: list[dict[str, Any]]) -> list[str]:
    """The words of lines, those that are not compared left out."""
    return [text for line in lines if (text := word(line))]


class Event(NamedTuple):
    """Something done to the real CLI: after so many of its lines, by which process."""

    proc: int
    after: int
    line: dict[str, Any] | None
    raw: str | None
    event: str


def shorter(text: str) -> str:
    """The same prompt with shorter pauses: the order counts, not the time."""
    return re.sub(r"sleep \d+(?:\.\d+)?", "sleep 0.5", text)


def load(name: str) -> tuple[list[dict[str, Any]], list[Event], list[str]]:
    """The processes of a capture, what was done, and the words of its stdout."""
    folder = CAPTURES / name
    procs = json.loads((folder / "run.json").read_text())["processes"]
    raw = [line for line in (folder / "stream.jsonl").read_text().split("\n") if line]
    lines = [json.loads(line) for line in raw]
    times = [float(text) for text in (folder / "stream.times.txt").read_text().split()]
    events = []
    for text in (folder / "stdin.jsonl").read_text().split("\n"):
        if text:
            data = json.loads(shorter(text))
            after = len(
                words([line for line, at in zip(lines, times, strict=False) if at <= data["t_ms"]])
            )
            events.append(
                Event(data["proc"], after, data.get("line"), data.get("raw"), data.get("event", ""))
            )
    return procs, events, words(lines)


def replay(name: str, home: Path, cwd: Path) -> tuple[list[str], list[int], str]:
    """Do to the practice agent what was done to the real CLI: its words, exit codes, and stderr."""
    procs, events, _ = load(name)
    seen: list[str] = []
    codes: list[int] = []
    errors = ""
    for number, proc in enumerate(procs, 1):
        states = (proc.get("env") or {}).get(
            "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1"
        ) is not None
        # Deltas are not compared, but tell when the agent has begun to speak.
        arguments = [*proc["args"], "--include-partial-messages"]
        with running(arguments, environment(home, states=states), cwd) as agent:
            asked = 0
            for event in (item for item in events if item.proc == number):
                wanted = event.after - len(seen)
                agent.wait_for(lambda n=wanted, a=agent: len(words(a.lines)) >= n, 4.0)  # type: ignore[misc]
                if event.event == "signal SIGKILL":
                    # The real one had been at work for longer than a batch's time.
                    agent.wait_for(lambda: any(home.glob("projects/*/*.jsonl")))
                asked = _do(agent, event, asked, name)
            if not any(item.event for item in events if item.proc == number):
                agent.close()
            codes.append(agent.finish())
            seen += words(agent.lines)
            errors += agent.stderr
    return seen, codes, errors


def _do(agent: Agent, event: Event, asked: int, name: str) -> int:
    """One thing; answers how many requests are answered by now."""
    if event.event.startswith("signal"):
        agent.signal(event.event.split()[1])
    elif "EOF" in event.event:
        agent.close()
    elif event.raw is not None:
        agent.send(event.raw.encode() + (b"" if event.raw.endswith("\n") else b"\n"))
    elif event.line is not None:
        line = event.line
        if line.get("type") == "control_response":
            agent.wait_for(lambda: len(_requests(agent)) > asked)
            requests = _requests(agent)
            if len(requests) > asked:
                line["response"]["request_id"] = requests[asked]
            asked += 1
        if line.get("request", {}).get("subtype") == "stop_task":
            line["request"]["task_id"] = next(task for task in map(_task, agent.lines) if task)
        if line.get("request", {}).get("subtype") == "interrupt" and name in SPEAKING:
            agent.wait_for(lambda: any(_is_delta(item) for item in agent.lines))
        agent.send(line)
    return asked


def _task(line: dict[str, Any]) -> str:
    tasks = line.get("tasks") or [{}]
    return str(tasks[0].get("task_id") or "")


def _is_delta(line: dict[str, Any]) -> bool:
    return bool(line["type"] == "stream_event" and line["event"]["type"] == "content_block_delta")


def _requests(agent: Agent) -> list[str]:
    return [line["request_id"] for line in agent.lines if line.get("type") == "control_request"]
