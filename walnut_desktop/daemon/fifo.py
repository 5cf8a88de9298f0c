"""The pipe to an agent: one writer, whole lines, a fresh pipe for every spawn (D3, D3a).

A torn line kills the agent in the middle of its work. A line that fits into the empty pipe goes out in one
write, which a kill of this process can't tear (measured: 0 of 5,000). A longer one enlarges the pipe just
for the time it is in it: pipes that stay large use up what the kernel grants to all programs of the user.
"""

from __future__ import annotations

import array
import asyncio
import errno
import fcntl
import os
import sys
import termios
from pathlib import Path

PIPE_SIZE = 65536
MAX_LINE = 1024 * 1024
_SETPIPE_SZ = 1031
_POLL_S = 0.005


class NotReading(Exception):
    """The agent has not read what is in the pipe within the time given; nothing was written."""


class Closed(Exception):
    """The agent has ended and the pipe with it; nothing was written."""


class LineTooLong(Exception):
    """The line is longer than a pipe can be made; nothing was written."""


class TornWrite(Exception):
    """Only a part of the line went into the pipe: nothing more may be written to it."""


def make(path: Path) -> None:
    """A new pipe at `path`; an old one is replaced, so that nothing left in it is ever read."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.unlink(missing_ok=True)
    os.mkfifo(path, 0o600)


class Fifo:
    """Our end of the pipe."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._enlarged = False

    def close(self) -> None:
        """Give our end up; the agent keeps its own."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def waiting(self) -> int:
        """Bytes in the pipe that the agent has not read. Raises Closed."""
        if self._fd < 0:
            raise Closed
        count = array.array("i", [0])
        fcntl.ioctl(self._fd, termios.FIONREAD, count)
        return count[0]

    async def wait_empty(self, timeout: float) -> None:
        """Until the agent has read everything; raises NotReading, or Closed when it ends meanwhile."""
        loop = asyncio.get_running_loop()
        until = loop.time() + timeout
        while self.waiting():
            if loop.time() >= until:
                raise NotReading
            await asyncio.sleep(_POLL_S)
        self._shrink()

    def write_line(self, line: bytes) -> None:
        """One whole line into the EMPTY pipe, in one write."""
        if len(line) > MAX_LINE:
            raise LineTooLong
        if len(line) > PIPE_SIZE:
            self._enlarge()
        try:
            written = os.write(self._fd, line)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EWOULDBLOCK):
                raise NotReading from None
            raise
        if written != len(line):
            raise TornWrite

    def _enlarge(self) -> None:
        if not sys.platform.startswith("linux"):
            raise LineTooLong
        try:
            fcntl.fcntl(self._fd, _SETPIPE_SZ, MAX_LINE)
        except OSError:
            raise LineTooLong from None
        self._enlarged = True

    def _shrink(self) -> None:
        if self._enlarged:
            try:
                fcntl.fcntl(self._fd, _SETPIPE_SZ, PIPE_SIZE)
            except OSError:
                return  # not empty any more: the next wait tries again
            self._enlarged = False
