"""Commands that run on beside the turns (cli-protocol 7): a level, and a turn of their own at the end."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional

from walnut_desktop.practice.files import folder
from walnut_desktop.practice.model import Call
from walnut_desktop.practice.script import Step
from walnut_desktop.practice.tools import Command, Outcome

if TYPE_CHECKING:
    from walnut_desktop.practice.session import Session


@dataclass
class Job:
    """One command in the background."""

    task_id: str
    description: str
    tool_use_id: str
    command: Command
    stopped: bool = False

    def line(self) -> dict[str, Any]:
        """As the level line lists it."""
        return {"task_id": self.task_id, "task_type": "local_bash", "description": self.description}


class Background:
    """The jobs of this process. They die with it; the next one tells of them (34)."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._jobs: dict[str, Job] = {}
        self._lost = folder() / "background" / f"{session.options.sid}.json"

    @property
    def running(self) -> bool:
        """Whether any job runs."""
        return bool(self._jobs)

    def start(self, tool_input: dict[str, Any], call: Optional[Call]) -> Outcome:
        """Start one; the tool answers at once."""
        task_id = f"b{secrets.token_hex(4)}"
        description = str(tool_input.get("description") or tool_input.get("command") or "")
        command = Command(str(tool_input.get("command") or ""), self._session.options.cwd)
        job = Job(task_id, description, call.tool_use_id if call else "", command)
        self._jobs[task_id] = job
        self.tell()
        self._session.output.system(
            "task_started", is_backgrounded=True, tool_use_id=job.tool_use_id, **job.line()
        )
        self._save()
        return Outcome(f"Command running in background with ID: {task_id}.")

    def tell(self) -> None:
        """The level: all that run now."""
        jobs = [job.line() for job in self._jobs.values()]
        self._session.output.system("background_tasks_changed", tasks=jobs)

    def report(self) -> bool:
        """A job is over while nobody speaks: the agent speaks by itself. False when none is."""
        done = next((job for job in self._jobs.values() if job.command.done()), None)
        if done is None:
            return False
        session = self._session
        self._over(done, "completed")
        session.output.state("running")
        options = session.options
        session.output.init(options.cwd, options.mode, options.model, asks=options.asks)
        session.results.begin()
        text = f"The background command “{done.description}” is done."
        for _ in session.speech.speak([Step("say", text)], options.model):
            session.results.rounds += 1
        session.results.self_started(text, silent=False)
        session.output.state("idle")
        return True

    def _over(self, job: Job, status: str) -> None:
        output = self._session.output
        del self._jobs[job.task_id]
        patch = {"status": "killed" if status == "stopped" else status}
        output.system("task_updated", task_id=job.task_id, patch=patch)
        output.system(
            "task_notification",
            task_id=job.task_id,
            tool_use_id=job.tool_use_id,
            status=status,
            output_file=str(folder() / "background" / f"{job.task_id}.output"),
            summary=f'Background command "{job.description}" {status}',
        )
        self.tell()
        self._save()

    def stop(self, task_id: str) -> None:
        """End one; an unknown one is no error."""
        job = self._jobs.get(task_id)
        if job is not None:
            job.command.kill()
            self._over(job, "stopped")
            if not self._session.in_turn:
                self._session.output.state("idle")

    def kill_all(self) -> None:
        """The process ends, and its jobs with it."""
        for job in self._jobs.values():
            job.command.kill()
        self._jobs.clear()
        self._save()

    def tell_of_lost(self) -> None:
        """A resumed process speaks first of the jobs that died with the one before it (cli-protocol 5.3)."""
        try:
            lost = json.loads(self._lost.read_text())
        except (OSError, ValueError):
            return
        self._save()
        session = self._session
        if not lost or not session.options.resume:
            return
        for line in lost:
            session.output.system(
                "task_notification",
                task_id=line.get("task_id"),
                status="stopped",
                output_file="",
                summary="Background shell command didn't finish before the previous session ended",
            )
        session.output.state("running")
        options = session.options
        session.output.init(options.cwd, options.mode, options.model, asks=options.asks)
        session.results.begin()
        session.results.self_started("", silent=True)
        session.output.state("idle")

    def _save(self) -> None:
        """What would be lost with this process."""
        try:
            if self._jobs:
                self._lost.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._lost.write_text(json.dumps([job.line() for job in self._jobs.values()]))
            else:
                self._lost.unlink(missing_ok=True)
        except OSError:
            return
