"""Ending a session's process (Rules O4, O7, D7): asked first, then told, then forced.

The end is marked as intended before anything else, on disk too, so that it can't be taken for a crash.
Tools of an agent lead sessions of their own: they are listed before and swept after.
"""

from __future__ import annotations

import asyncio
import json
import logging
import signal
from typing import Any, NamedTuple

from walnut_desktop.daemon.fifo import Closed, NotReading, TornWrite
from walnut_desktop.daemon.identity import Identity, descendants, is_alive
from walnut_desktop.daemon.journal import Journal
from walnut_desktop.daemon.processes import send_signal
from walnut_desktop.daemon.registry import Owned, Registry
from walnut_desktop.daemon.stopping import owner_refusal
from walnut_desktop.protocol.messages import Stop

log = logging.getLogger(__name__)


class Waits(NamedTuple):
    """Seconds that each step is given before the next."""

    asked: float = 3.0
    interrupted: float = 2.0
    terminated: float = 5.0
    killed: float = 2.0


class Ender:
    """Ends owned sessions on request."""

    def __init__(self, registry: Registry, journal: Journal, waits: Waits | None = None) -> None:
        self._registry = registry
        self._journal = journal
        self._waits = waits or Waits()

    async def stop(self, request: Stop) -> dict[str, Any]:
        """`{stopped: true, code}` or `{stopped: false, reason, detail}`."""
        async with self._registry.gate(request.sid):
            refusal = owner_refusal(request, self._journal.first(request.sid))
            if refusal is not None:
                log.warning("stop refused sid=%s %s", request.sid, refusal)
                return {"stopped": False, "reason": refusal.reason, "detail": refusal.detail}
            owned = self._registry.owned.get(request.sid)
            if owned is None:
                return {"stopped": False, "reason": "not_running", "detail": "no_process"}
            if request.expect_pid is not None and request.expect_pid != owned.agent.pid:
                return {"stopped": False, "reason": "not_owned", "detail": "pid_mismatch"}
            owned.stopping = request.reason
            self._note(owned)
            tools = descendants(owned.agent, self._registry.boot)
            await self._end(owned)
            if not owned.ended.is_set():
                return {"stopped": False, "reason": "still_running", "detail": "ignored_sigkill"}
            await self._sweep(owned, tools)
        code = self._registry.exits.get(request.sid, {}).get("code")
        return {"stopped": True, "code": code}

    def _note(self, owned: Owned) -> None:
        """On disk, so that the next daemon knows that the end was meant. A full disk must not stop a stop."""
        try:
            owned.save()
        except OSError as error:
            log.warning("can't note the end of sid=%s: %s", owned.sid, error)

    async def _end(self, owned: Owned) -> None:
        if self._ask(owned) and await self._ended(owned, self._waits.asked):
            return
        for number, wait in (
            (signal.SIGINT, self._waits.interrupted),
            (signal.SIGTERM, self._waits.terminated),
            (signal.SIGKILL, self._waits.killed),
        ):
            send_signal(owned.agent, self._registry.boot, number)
            if await self._ended(owned, wait):
                return

    def _ask(self, owned: Owned) -> bool:
        line = {
            "type": "control_request",
            "request_id": f"walnut-end-{owned.spawn}",
            "request": {"subtype": "end_session"},
        }
        try:
            if owned.fifo is None or owned.torn or owned.fifo.waiting():
                return False
            owned.fifo.write_line(json.dumps(line).encode() + b"\n")
        except (OSError, Closed, NotReading, TornWrite):
            return False
        return True

    async def _ended(self, owned: Owned, wait: float) -> bool:
        try:
            await asyncio.wait_for(owned.ended.wait(), wait)
        except TimeoutError:
            return False
        return True

    async def _sweep(self, owned: Owned, tools: list[Identity]) -> None:
        """End what the agent has left running, each only if it is still the very process seen before."""
        boot = self._registry.boot
        left = {who for who in tools if is_alive(who, boot)}
        if owned.shim is not None:
            left |= set(descendants(owned.shim, boot))
        if not left:
            return
        log.info("sweeping sid=%s tools=%s", owned.sid, len(left))
        for who in left:
            send_signal(who, boot, signal.SIGTERM)
        loop = asyncio.get_running_loop()
        until = loop.time() + self._waits.interrupted
        while any(is_alive(who, boot) for who in left) and loop.time() < until:
            await asyncio.sleep(0.02)
        for who in left:
            send_signal(who, boot, signal.SIGKILL)
