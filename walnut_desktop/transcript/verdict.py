"""From a folded state and the fact of a living process to what the app says about a session.

Pure and total: every state has an answer and a reason (Rules S4, S5.3, S5.4, S8).
"""

from __future__ import annotations

from typing import NamedTuple

from walnut_desktop.domain.session import Reason, SessionStatus
from walnut_desktop.transcript.fold import FoldState
from walnut_desktop.transcript.results import sentence


class Verdict(NamedTuple):
    """The status to show, why, and for an error the sentence for the person."""

    status: SessionStatus
    reason: str
    error: str = ""


def died_at_birth(state: FoldState) -> bool:
    """Whether the last process ended with an error before it did anything: a refused start or resume."""
    return (
        state.process == "ended"
        and bool(state.exit_code)
        and not state.began
        and not state.spoke
        and state.results == state.results_before
    )


def _died(state: FoldState) -> Verdict:
    last = state.last_result
    if state.end_intended:
        return Verdict(SessionStatus.STOPPED, Reason.USER_STOPPED.value)
    if died_at_birth(state):
        return Verdict(
            SessionStatus.ERROR,
            Reason.PROCESS_EXITED_NO_RESULT.value,
            f"The agent's process ended before it began (exit code {state.exit_code}).",
        )
    if state.began:
        code = f" (exit code {state.exit_code})" if state.exit_code is not None else ""
        return Verdict(
            SessionStatus.ERROR,
            Reason.PROCESS_EXITED_NO_RESULT.value,
            f"The agent's process ended in the middle of its work{code}. "
            "Send a message to resume the session.",
        )
    if last is not None and last.is_error and not last.interrupted:
        return Verdict(SessionStatus.ERROR, Reason.API_ERROR.value, sentence(last))
    return Verdict(SessionStatus.STOPPED, Reason.NORMAL_COMPLETION.value)


def judge(state: FoldState, alive: bool | None) -> Verdict:
    """The status of a session whose process is alive, dead, or (None) not known.

    An unknown process never turns a running session into a dead one (Rule S6).
    """
    if alive is False:
        return _died(state)
    last = state.last_result
    if state.pending:
        return Verdict(SessionStatus.RUNNING, "waiting_for_person")
    if state.turn_open or not state.settled:
        return Verdict(SessionStatus.RUNNING, Reason.MESSAGE_SENT.value)
    if last is not None and last.is_error and not last.interrupted:
        return Verdict(SessionStatus.ERROR, Reason.API_ERROR.value, sentence(last))
    if state.background:
        return Verdict(SessionStatus.RUNNING, "background_work")
    if last is None:
        return Verdict(SessionStatus.IDLE, Reason.SESSION_STARTED.value)
    reason = Reason.TURN_INTERRUPTED if last.interrupted else Reason.TURN_COMPLETED
    return Verdict(SessionStatus.IDLE, reason.value)
