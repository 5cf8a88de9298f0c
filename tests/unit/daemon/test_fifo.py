"""The pipe to an agent: whole lines only, one write each, never an enlarged pipe for long (D3, D3a)."""

from __future__ import annotations

import asyncio
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.loop import on_loop
from walnut_desktop.daemon.fifo import (
    MAX_LINE,
    PIPE_SIZE,
    Closed,
    Fifo,
    LineTooLong,
    NotReading,
    TornWrite,
    make,
)

F_GETPIPE_SZ = 1032


class Agent:
    """The other end: reads when it is told to."""

    def __init__(self, path: Path) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    def read_all(self) -> bytes:
        """Everything in the pipe."""
        got = b""
        while True:
            try:
                got += os.read(self.fd, 1 << 20)
            except BlockingIOError:
                return got

    def size(self) -> int:
        """How large the pipe is now."""
        return fcntl.fcntl(self.fd, F_GETPIPE_SZ)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A fresh pipe."""
    path = tmp_path / "streams" / "a.pipe"
    make(path)
    return path


@pytest.fixture
def fifo(path: Path) -> Iterator[Fifo]:
    """Our end."""
    fifo = Fifo(path)
    yield fifo
    fifo.close()


@pytest.fixture
def agent(path: Path) -> Iterator[Agent]:
    """Its end."""
    agent = Agent(path)
    yield agent
    os.close(agent.fd)


@pytest.mark.rule("O2")
def test_a_pipe_is_fresh_and_for_its_owner_only(path: Path) -> None:
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    old = Fifo(path)
    old.write_line(b"left behind\n")
    make(path)
    new = Fifo(path)
    assert new.waiting() == 0, "what was left in the old one is never read"
    new.close()
    old.close()
    old.close()


@pytest.mark.parametrize("length", [2, 4097, PIPE_SIZE, PIPE_SIZE + 1, 900_000, MAX_LINE])
@on_loop
async def test_a_line_goes_out_whole_and_the_pipe_is_small_again(path: Path, length: int) -> None:
    fifo, agent = Fifo(path), Agent(path)
    try:
        line = b"x" * (length - 1) + b"\n"
        fifo.write_line(line)
        assert fifo.waiting() == length
        assert agent.read_all() == line
        await fifo.wait_empty(1)
        assert agent.size() == PIPE_SIZE
    finally:
        fifo.close()
        os.close(agent.fd)


def test_a_longer_line_is_refused_and_nothing_is_written(fifo: Fifo, agent: Agent) -> None:
    with pytest.raises(LineTooLong):
        fifo.write_line(b"x" * (MAX_LINE + 1))
    assert agent.read_all() == b""


@on_loop
async def test_an_agent_that_does_not_read_is_waited_for_but_not_for_ever(path: Path) -> None:
    fifo, agent = Fifo(path), Agent(path)
    try:
        fifo.write_line(b"first\n")
        with pytest.raises(NotReading):
            await fifo.wait_empty(0.02)
        waiting = asyncio.ensure_future(fifo.wait_empty(10))
        await asyncio.sleep(0.02)
        assert not waiting.done()
        assert agent.read_all() == b"first\n"
        await waiting
    finally:
        fifo.close()
        os.close(agent.fd)


def test_a_full_pipe_takes_nothing_rather_than_a_part(fifo: Fifo, agent: Agent) -> None:
    fifo.write_line(b"x" * PIPE_SIZE)
    with pytest.raises(NotReading):
        fifo.write_line(b"second\n")
    assert agent.read_all() == b"x" * PIPE_SIZE


def test_a_part_that_was_written_is_told_as_torn(fifo: Fifo, agent: Agent) -> None:
    os.write(agent.fd, b"y" * 4096)  # somebody else wrote: the pipe is not empty as it should be
    with pytest.raises(TornWrite):
        fifo.write_line(b"x" * PIPE_SIZE)


def test_where_pipes_can_not_grow_a_long_line_is_refused(
    fifo: Fifo, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object) -> int:
        raise PermissionError("the user has too many large pipes")

    monkeypatch.setattr(fcntl, "fcntl", refuse)
    with pytest.raises(LineTooLong):
        fifo.write_line(b"x" * (PIPE_SIZE + 1))
    fifo.write_line(b"short\n")
    monkeypatch.undo()
    assert agent.read_all() == b"short\n"


@on_loop
async def test_a_pipe_that_is_closed_while_it_is_waited_for_is_told(path: Path) -> None:
    """The agent ends while a message waits for it: that is no unexpected error."""
    fifo = Fifo(path)
    fifo.write_line(b"first\n")
    waiting = asyncio.ensure_future(fifo.wait_empty(10))
    await asyncio.sleep(0.02)
    fifo.close()
    with pytest.raises(Closed):
        await waiting
