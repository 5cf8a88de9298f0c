"""A daemon is killed while it hands a long message over: the line is whole or absent, never torn (D3a)."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from tests.fakes.loop import on_loop
from tests.process.agents import Desk, gone, home
from walnut_desktop.daemon import fifo
from walnut_desktop.domain.errors import HostUnreachable
from walnut_desktop.protocol.messages import Send

__all__ = ["home"]

LENGTH = 900_000

WRITER = """
import sys
sys.path.insert(0, sys.argv[1])
from walnut_desktop.daemon.fifo import Fifo
pipe, line = Fifo(sys.argv[2]), b"x" * (int(sys.argv[3]) - 1) + b"\\n"
print("ready", flush=True)
pipe.write_line(line)
print("written", flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
@pytest.mark.rule("M1")
def test_a_kill_at_any_moment_of_the_write_tears_nothing(tmp_path: Path) -> None:
    chance = random.Random(4711)
    found: Counter[int] = Counter()
    for number in range(30):
        path = tmp_path / f"{number}.pipe"
        fifo.make(path)
        agent = fifo.Fifo(path)
        argv = [sys.executable, "-c", WRITER, str(ROOT), str(path), str(LENGTH)]
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
            if not number:
                assert writer.stdout.readline() == b"written\n", "this one is left in peace"
            until = time.perf_counter() + chance.random() * 0.002
            while time.perf_counter() < until:
                pass
            writer.kill()
        found[agent.waiting()] += 1
        agent.close()
    assert set(found) <= {0, LENGTH}, f"torn: {found}"
    assert found[LENGTH] >= 1


@pytest.mark.slow
@pytest.mark.rule("M1")
@on_loop
async def test_an_agent_lives_on_through_kills_of_its_daemon(home: Path, tmp_path: Path) -> None:
    chance = random.Random(4711)
    it = Desk(home, tmp_path)
    sid = await it.agent("counts")
    await it.hear(sid, "ready")
    text = "x" * LENGTH
    answered = cut = 0
    for number in range(6):
        helper = (await it.hello())["pid"]
        line = {"type": "user", "n": number, "t": text}
        sending = asyncio.ensure_future(it.host.request("send", Send(sid, f"u{number}", line)))
        until = time.monotonic() + chance.random() * 0.02
        while time.monotonic() < until and not sending.done():
            await asyncio.sleep(0)
        os.kill(helper, signal.SIGKILL)
        try:
            await sending
            answered += 1
        except HostUnreachable:
            cut += 1
        await gone(helper)
        assert (await it.status(sid))["alive"], "a torn line would have ended the agent"
    await it.hand_over(sid, {"type": "user", "n": "last", "t": ""})
    heard = await it.hear_if(sid, lambda told: told.get("type") == "count" and told["n"] == "last")
    assert heard
    counts = await it.hear(sid, "count")
    assert all(told["length"] == LENGTH for told in counts if told["n"] != "last")
    numbers = [told["n"] for told in counts]
    assert len(numbers) == len(set(numbers))
    assert cut + answered == 6
    assert len(numbers) >= answered + 1, "what was answered has arrived"
    markers = [one["uuid"] for one in it.said(sid) if one.get("subtype") == "walnut-injected"]
    arrived = {f"u{number}" for number in numbers if number != "last"}
    assert arrived <= set(markers), "nothing arrives without its marker"
    await it.end()
