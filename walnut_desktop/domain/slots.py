"""The two session slots of a task (Rule T10): compare-and-set, and which one a mode takes."""

from __future__ import annotations

from dataclasses import replace

from walnut_desktop.domain.errors import SlotTakenError
from walnut_desktop.domain.ids import Sid
from walnut_desktop.domain.task import Task


def slot_for_mode(mode: str) -> str:
    """plan for plan mode, exec for every other."""
    return "plan" if mode == "plan" else "exec"


def holder(task: Task, slot: str) -> Sid | None:
    """The session that holds the slot."""
    return task.plan_session_id if slot == "plan" else task.exec_session_id


def reserve(task: Task, slot: str, sid: Sid) -> Task:
    """The task with the slot given to `sid`; raises SlotTakenError when another session holds it."""
    held = holder(task, slot)
    if held is not None and held != sid:
        raise SlotTakenError(slot, held)
    history = task.session_ids if sid in task.session_ids else (*task.session_ids, sid)
    if slot == "plan":
        return replace(task, plan_session_id=sid, session_ids=history)
    return replace(task, exec_session_id=sid, session_ids=history)


def release(task: Task, sid: Sid) -> Task:
    """The task without `sid` in any slot; slots of other sessions stay."""
    return replace(
        task,
        plan_session_id=None if task.plan_session_id == sid else task.plan_session_id,
        exec_session_id=None if task.exec_session_id == sid else task.exec_session_id,
    )


def forget(task: Task, sid: Sid) -> Task:
    """As if the session had never been: out of the slots and out of the history (a start that failed)."""
    freed = release(task, sid)
    return replace(freed, session_ids=tuple(other for other in freed.session_ids if other != sid))
