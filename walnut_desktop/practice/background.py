"""Commands that run on beside the turns: a level, and news that the agent acts on (cli-protocol 7)."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from walnut_desktop.practice.files import folder
from walnut_desktop.practice.tools import Command, Outcome, shell_detail

if TYPE_CHECKING:
    from walnut_desktop.practice.session import Session

TAIL_BYTES = 8192


class Job(NamedTuple):
    """One command in the background."""

    task_id: str
    run_id: str
    description: str
    tool_use_id: str
    command: Command
    file: Path

    def line(self) -> dict[str, Any]:
        """As the level line lists it."""
        return {
            "task_id": self.task_id,
            "run_id": self.run_id,
            "task_type": "local_bash",
            "description": self.description,
        }


class Background:
    """The jobs of this process. They die with it; the next one tells of them (34)."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._jobs: dict[str, Job] = {}
        self._tasks = folder() / "tasks" / session.options.sid
        self._list = self._tasks / "running.json"
        self.news: list[str] = []

    @property
    def running(self) -> bool:
        """Whether any job runs."""
        return bool(self._jobs)

    def start(self, tool_input: dict[str, Any], tool_use_id: str) -> Outcome:
        """Start one; the tool answers at once."""
        task_id = f"b{os.urandom(4).hex()}"
        command = str(tool_input["command"])
        file = self._tasks / f"{task_id}.output"
        try:
            process = Command(command, self._session.options.cwd, file)
        except (OSError, ValueError) as error:
            words = str(error)
            return Outcome(words, is_error=True, detail=f"Error: {words}")
        description = str(tool_input.get("description") or command)
        job = Job(task_id, os.urandom(6).hex(), description, tool_use_id, process, file)
        self._jobs[task_id] = job
        self.tell()
        self._session.output.system(
            "task_started", tool_use_id=tool_use_id, is_backgrounded=True, **job.line()
        )
        self._save()
        words = (
            f"Command running in background with ID: {task_id}. Output is being written to: {file}. "
            "You will be notified when it completes."
        )
        return Outcome(words, detail=shell_detail("", backgroundTaskId=task_id))

    def tell(self) -> None:
        """The level: all that run now."""
        jobs = [job.line() for job in self._jobs.values()]
        self._session.output.system("background_tasks_changed", tasks=jobs)

    def notice(self) -> None:
        """Jobs that have ended since the last look: told now, and kept as news for the model."""
        for job in [job for job in self._jobs.values() if job.command.done()]:
            code = job.command.exit_code
            status = "failed" if code else "completed"
            summary = f'Background command "{job.description}" {status} (exit code {code})'
            self._over(job, status, status, summary)
            self.news.append(_note(job, status, summary))

    def take_news(self) -> list[str]:
        """What the model has not been told yet."""
        news, self.news = self.news, []
        return news

    def _over(self, job: Job, patch: str, status: str, summary: str) -> None:
        output = self._session.output
        del self._jobs[job.task_id]
        ids = {"task_id": job.task_id, "run_id": job.run_id}
        output.system(
            "task_updated", **ids, patch={"status": patch, "end_time": int(time.time() * 1000)}
        )
        output.system(
            "task_notification",
            **ids,
            tool_use_id=job.tool_use_id,
            status=status,
            output_file=str(job.file),
            summary=summary,
        )
        self.tell()
        self._save()

    def stop(self, task_id: str) -> bool:
        """End one; an unknown one is no error. True when there was one."""
        job = self._jobs.get(task_id)
        if job is None:
            return False
        job.command.kill()
        self._over(job, "killed", "stopped", job.description)
        summary = f'Task "{job.description}" was stopped by the user or by the app connected to this session'
        self._session.transcript.queue("enqueue", content=_note(job, "killed", summary))
        self._session.transcript.queue("dequeue")
        return True

    def output(self, task_id: str) -> Optional[dict[str, Any]]:
        """The end of what one has written; None for an unknown one."""
        file = self._tasks / f"{task_id}.output"
        if not task_id.isalnum() or not file.is_file():
            return None
        data = file.read_bytes()
        text = data[-TAIL_BYTES:].decode("utf-8", "replace")
        return {"output": text, "total_bytes": len(data), "truncated": len(data) > TAIL_BYTES}

    def kill_all(self, *, told: bool) -> None:
        """The process ends, and its jobs with it."""
        for job in list(self._jobs.values()):
            job.command.kill()
            if told:
                self._over(job, "killed", "stopped", job.description)
        self._jobs.clear()
        self._save()

    def lost(self) -> list[dict[str, Any]]:
        """The jobs that died with the process before this one; each is told of once."""
        try:
            jobs = json.loads(self._list.read_text())
            self._list.unlink()
        except (OSError, ValueError):
            return []
        return [job for job in jobs if isinstance(job, dict)] if isinstance(jobs, list) else []

    def _save(self) -> None:
        """What would be lost with this process."""
        lines = [{**job.line(), "tool_use_id": job.tool_use_id} for job in self._jobs.values()]
        try:
            if lines:
                self._list.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._list.write_text(json.dumps(lines))
            else:
                self._list.unlink(missing_ok=True)
        except OSError:
            return


def _note(job: Job, status: str, summary: str) -> str:
    """What the model is told."""
    return (
        f"<task-notification>\n<task-id>{job.task_id}</task-id>\n"
        f"<tool-use-id>{job.tool_use_id}</tool-use-id>\n<output-file>{job.file}</output-file>\n"
        f"<status>{status}</status>\n<summary>{summary}</summary>\n</task-notification>"
    )
