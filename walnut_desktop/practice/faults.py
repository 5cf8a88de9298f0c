"""Directives that are no speech: pauses, failures of the service, and faults for tests."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Optional

from walnut_desktop.practice.ending import Ended
from walnut_desktop.practice.results import Failure
from walnut_desktop.practice.script import Round, Step, numbers
from walnut_desktop.practice.service import Service

if TYPE_CHECKING:
    from walnut_desktop.practice.session import Session


class Faults:
    """Does what a directive says, at its place in the stream."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._service = Service(session)

    def before(self, current: Round) -> Optional[Failure]:
        """What happens before a word of the round is said; answers why none will be."""
        session = self._session
        self._service.limits(current)
        for step in current:
            if step.name == "delay":
                session.wait(numbers(step.words, 1)[0])
            elif step.name == "status":
                failure = self._service.status(step.words, current)
                if failure is not None:
                    return failure
            elif step.name == "login":
                return self._service.not_logged_in()
        if os.environ.get("WALNUT_PRACTICE_LOGGED_OUT") == "1":
            return self._service.not_logged_in()
        return None

    def act(self, step: Step) -> None:
        """One directive between two blocks of speech; those that are none of ours do nothing."""
        session, output = self._session, self._session.output
        if step.name == "sleep":
            session.wait(numbers(step.words, 1)[0])
        elif step.name == "hang":
            while True:
                session.wait(3600)
        elif step.name == "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        elif step.name == "exit":
            raise Ended(int(numbers(step.words, 1)[0]) & 0xFF)
        elif step.name == "garbage":
            output.raw(step.words.encode("utf-8", "replace") + b"\n")
        elif step.name == "torn":
            output.raw(step.words.encode("utf-8", "replace"))
        elif step.name == "raw":
            output.line(step.data or {})
