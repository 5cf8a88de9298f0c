"""Starting a session (Rule S1), the one way for everybody; and bringing an ended one back (D2).

The slot is reserved and everything is on disk before a process exists; a start that fails takes all of it
back, so that the task is as it was.
"""

from __future__ import annotations

import asyncio
import logging
import uuid as uuids
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from walnut_desktop.domain import slots, workdir
from walnut_desktop.domain.errors import (
    Conflict,
    HostUnreachable,
    InvalidInput,
    NotFound,
    StartFailed,
    WalnutError,
)
from walnut_desktop.domain.events import (
    MessageChanged,
    SessionChanged,
    SessionDeleted,
    TaskChanged,
)
from walnut_desktop.domain.ids import MessageId, Sid
from walnut_desktop.domain.message import Message, MessageState, clean_text
from walnut_desktop.domain.phase import PhaseEvent, step
from walnut_desktop.domain.session import Reason, Session, SessionStatus
from walnut_desktop.engines import start_failure
from walnut_desktop.engines.base import Engine, LaunchSpec
from walnut_desktop.engines.registry import Engines
from walnut_desktop.hosts.host import Host
from walnut_desktop.protocol.messages import Lookup, RemoteError, Start, Status, Stop
from walnut_desktop.runtime.paths import Paths
from walnut_desktop.sessions.follow import Follower
from walnut_desktop.sessions.live import LiveSession
from walnut_desktop.sessions.pump import Pump
from walnut_desktop.store.worker import Store, Unit

log = logging.getLogger(__name__)

THINKING_GRACE_S = 1.5  # after the turn has begun: a refusal to log in comes within it


@dataclass(frozen=True)
class StartRequest:
    """What the person wants to be started."""

    task_id: str
    text: str
    engine: str
    cwd: str | None = None
    mode: str = "default"
    model: str = ""


class Starter:
    """Starts and resumes sessions."""

    def __init__(
        self,
        store: Store,
        host: Host,
        engines: Engines,
        paths: Paths,
        follower: Follower,
        pump: Pump,
    ) -> None:
        self._store = store
        self._host = host
        self._engines = engines
        self._paths = paths
        self._follower = follower
        self._pump = pump
        self.timeout_s = 30.0
        pump.resume = self.resume
        pump.config_dir = self.config_dir
        pump.why_not = self.why_not

    async def start(self, request: StartRequest) -> Session:
        """The running session. Raises StartFailed, SlotTakenError, InvalidInput …; then nothing is left."""
        text = clean_text(request.text)
        engine = self._engine(request.engine)
        sid = Sid(str(uuids.uuid4()))
        session = await self._store.run(lambda unit: self._reserve(unit, sid, request, text))
        try:
            await self._launch(session, engine, resume=False)
            await self._wait_ready(sid, engine)
        except asyncio.CancelledError:
            # The app closes: the agent may have begun, so it runs on, and the next app looks into it.
            log.info("start left alone sid=%s", sid)
            raise
        except BaseException as error:
            log.info("start failed sid=%s: %s", sid, type(error).__name__)
            unsent = await self._take_back(session)
            if isinstance(error, WalnutError):
                error.unsent = unsent
            raise
        return await self._store.run(lambda unit: unit.sessions.get(sid) or session)

    def _engine(self, engine_id: str) -> Engine:
        engine = self._engines.get(engine_id)
        if engine is None:
            raise InvalidInput(f"This app knows no agent “{engine_id}”.")
        return engine

    def _reserve(self, unit: Unit, sid: Sid, request: StartRequest, text: str) -> Session:
        tasks = unit.tasks.all()
        task = next((it for it in tasks.values() if it.id == request.task_id), None)
        if task is None:
            raise NotFound(f"There is no task “{request.task_id}”.")
        if task.is_done:
            raise Conflict("This task is done.", "Open it again first.")
        place = workdir.choose(request.cwd, task, tasks, None, str(self._paths.home))
        if place is None:
            raise InvalidInput(
                "There is no folder to work in.", "Set a working folder for the task."
            )
        if place.step == "memory":
            Path(place.path).mkdir(parents=True, exist_ok=True)
        slot = slots.slot_for_mode(request.mode)
        holder = slots.holder(task, slot)
        held_by = unit.sessions.get(holder) if holder else None
        if holder and (held_by is None or not held_by.holds_slot):
            task = slots.release(task, holder)  # nobody is there any more
        reserved = slots.reserve(task, slot, sid)
        move = step(reserved.phase, PhaseEvent.INPUT)
        reserved = replace(
            reserved,
            phase=move.phase or reserved.phase,
            needs_attention=False,
            updated_at=unit.now,
        )
        session = Session(
            sid=sid,
            task_id=task.id,
            title=task.title,
            engine=request.engine,
            created_at=unit.now,
            updated_at=unit.now,
            cwd=place.path,
            slot=slot,
            mode=request.mode,
            model=request.model,
            phase_before=task.phase,
        )
        unit.tasks.save(reserved)
        unit.sessions.add(session)
        message = Message(MessageId(str(uuids.uuid4())), sid, text, unit.now)
        stored = unit.messages.add(message)
        unit.emit(TaskChanged(reserved))
        unit.emit(SessionChanged(session))
        unit.emit(MessageChanged(stored))
        return session

    async def _launch(self, session: Session, engine: Engine, *, resume: bool) -> LiveSession:
        known = resume and await self._has_conversation(session.sid)
        launch = engine.launch(
            LaunchSpec(session.sid, known, mode=session.mode, model=session.model)
        )
        live = await self._follower.follow(session.sid)
        live.starting = True
        live.stopping = False
        try:
            answer = await self._host.request(
                "start",
                Start(
                    sid=session.sid,
                    argv=launch.argv,
                    cwd=session.cwd,
                    home=str(self._paths.home),
                    resume=resume,
                    env=launch.env,
                    config_dir=launch.config_dir,
                    task=session.task_id or "",
                ),
            )
        except RemoteError as error:
            live.starting = False
            if error.error == "already_running":
                await self._note_running(session.sid)
                return live
            told = start_failure.by_word(error.error, engine.label, str(error))
            raise StartFailed(told.message, told.hint, reason=told.reason) from None
        except HostUnreachable:
            live.starting = False
            raise
        live.started(answer["session"])
        await self._set_pid(session.sid, answer["session"].get("pid"))
        return live

    async def _has_conversation(self, sid: Sid) -> bool:
        """Whether the agent can resume it: killed before it first wrote, it has to begin again."""
        try:
            answer = await self._host.request("lookup", Lookup(sid, [], await self.config_dir(sid)))
        except RemoteError as error:
            log.warning("look-up failed sid=%s: %s", sid, error)
            return True
        return bool(answer.get("transcript", True))

    async def _note_running(self, sid: Sid) -> None:
        answer = await self._host.request("status", Status(sid))
        live = await self._follower.follow(sid)
        live.started(answer["session"])
        await self._set_pid(sid, answer["session"].get("pid"))

    async def _set_pid(self, sid: Sid, pid: int | None) -> None:
        def unit_of_work(unit: Unit) -> None:
            session = unit.sessions.get(sid)
            if session is not None:
                unit.sessions.save(replace(session, pid=pid, updated_at=unit.now))

        await self._store.run(unit_of_work)

    async def _wait_ready(self, sid: Sid, engine: Engine) -> None:
        """Deliver the first message and wait until the agent has truly begun, or say why it has not."""
        live = await self._follower.follow(sid)
        live.first_start = True  # a process that ends now is not resumed but explained
        live.starting = False
        self._pump.ask(sid)
        begun = await live.wait_for(
            lambda it: it.state.turns > 0 or it.is_alive() is False, self.timeout_s
        )
        if begun and live.is_alive():
            await live.wait_for(_answered, THINKING_GRACE_S)
        problem = await self._problem(live, engine, begun=begun)
        if problem is not None:
            raise StartFailed(problem.message, problem.hint, reason=problem.reason)
        live.first_start = False
        self._pump.ask(sid)
        await self._follower.settle(sid)

    async def _problem(
        self, live: LiveSession, engine: Engine, *, begun: bool
    ) -> start_failure.Explanation | None:
        state = live.state
        last = state.last_result
        if last is not None and last.kind == "authentication_failed":
            return start_failure.by_word("not_logged_in", engine.label)
        if live.is_alive() is False and not state.spoke:
            answer = await self._host.request("status", Status(live.sid))
            said = str(answer["session"].get("stderr") or "") or (last.text if last else "")
            return start_failure.by_output(said, state.exit_code, engine.label)
        if not begun:
            return start_failure.by_word("timeout", engine.label)
        return None

    async def _take_back(self, session: Session) -> tuple[str, ...]:
        """End what was started and make everything as it was before. Answers the messages it had."""
        live = self._follower.get(session.sid)
        if live is not None:
            live.starting = True  # nothing of it may be applied any more
        try:
            await self._host.request(
                "stop", Stop(session.sid, str(self._paths.home), reason="maintenance")
            )
            await self._host.request("discard", Status(session.sid))
        except (HostUnreachable, RemoteError) as error:
            log.warning("clean-up of a failed start sid=%s: %s", session.sid, error)
        self._follower.forget(session.sid)

        def unit_of_work(unit: Unit) -> tuple[str, ...]:
            task = unit.tasks.get(session.task_id) if session.task_id else None
            if task is not None:
                freed = replace(
                    slots.forget(task, session.sid),
                    phase=session.phase_before or task.phase,
                    needs_attention=False,
                    updated_at=unit.now,
                )
                unit.tasks.save(freed)
                unit.emit(TaskChanged(freed))
            texts = tuple(
                message.text for message in unit.messages.in_states(session.sid, MessageState)
            )
            unit.messages.delete_of(session.sid)
            unit.sessions.delete(session.sid)
            unit.emit(SessionDeleted(session.sid))
            return texts

        return await self._store.run(unit_of_work)

    async def resume(self, sid: Sid) -> None:
        """A fresh process for a session whose own has ended. Its lines then say how it stands."""
        session = await self._store.run(lambda unit: unit.sessions.get(sid))
        if session is None:
            raise NotFound("This session is not known any more.")
        engine = self._engine(session.engine)
        try:
            live = await self._launch(session, engine, resume=True)
        except (StartFailed, HostUnreachable) as error:
            await self._resume_failed(session, error.sentence())
            raise
        live.starting = False
        live.check()

    async def _resume_failed(self, before: Session, sentence: str) -> None:
        def unit_of_work(unit: Unit) -> None:
            task = unit.tasks.get(before.task_id) if before.task_id else None
            if task is not None:
                freed = slots.release(task, before.sid)
                move = step(freed.phase, PhaseEvent.FAILED)
                freed = replace(
                    freed,
                    phase=move.phase or freed.phase,
                    needs_attention=True,
                    updated_at=unit.now,
                )
                unit.tasks.save(freed)
                unit.emit(TaskChanged(freed))
            failed = replace(
                before,
                status=SessionStatus.ERROR,
                reason=Reason.API_ERROR.value,
                error=sentence,
                pid=None,
                updated_at=unit.now,
            )
            unit.sessions.save(failed)
            unit.emit(SessionChanged(failed))

        await self._store.run(unit_of_work)

    async def config_dir(self, sid: Sid) -> str:
        """Where the session's agent keeps its own files."""
        session = await self._store.run(lambda unit: unit.sessions.get(sid))
        engine = self._engines.get(session.engine) if session is not None else None
        return engine.launch(LaunchSpec(sid)).config_dir if engine is not None else "~/.claude"

    async def why_not(self, sid: Sid) -> str:
        """Why the session's last process ended before it began, as a sentence."""
        session = await self._store.run(lambda unit: unit.sessions.get(sid))
        engine = self._engines.get(session.engine) if session is not None else None
        label = engine.label if engine is not None else "The agent"
        answer = await self._host.request("status", Status(sid))
        told = answer["session"]
        output = str(told.get("stderr") or "")
        why = start_failure.by_output(output, told.get("code"), label)
        return f"{why.message} {why.hint}".strip()

    async def take_back_unborn(self, unborn: Iterable[Session]) -> None:
        """On start: sessions that were still starting when the app ended, and whose process never was."""
        for session in unborn:
            live = self._follower.get(session.sid)
            if live is not None and live.is_alive() is False and not live.state.turns:
                await self._take_back(session)
            elif live is not None:
                live.check()


def _answered(live: LiveSession) -> bool:
    state = live.state
    return (
        state.spoke
        or bool(state.pending)
        or bool(state.retry)
        or state.results > 0
        or live.is_alive() is False
    )
