"""`program.py MANNER …`: an agent for tests that knows nothing of models. See `MANNERS`.

Each says `{"type": "ready", …}` first. Those that listen end at `end_session`, at the end of their input, and
with the code of a message `{"exit": n}`.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any


def say(**fields: Any) -> None:
    """One line of output."""
    os.write(1, json.dumps(fields).encode() + b"\n")


def listen(echo: bool = True) -> None:
    """Answer every line with itself."""
    for line in sys.stdin:
        told = json.loads(line)
        if told.get("request", {}).get("subtype") == "end_session":
            return
        if "exit" in told:
            sys.exit(int(told["exit"]))
        if echo:
            say(type="echo", told=told)


def echo() -> None:
    """Answers."""
    say(type="ready", pid=os.getpid())
    listen()


def counts() -> None:
    """Tells the length of what it is sent; what is no line ends it, as it ends the real one."""
    say(type="ready")
    for line in sys.stdin:
        told = json.loads(line)
        if told.get("request", {}).get("subtype") == "end_session":
            return
        say(type="count", n=told.get("n"), length=len(told.get("t", "")))


def dies() -> None:
    """Ends at once, and says why on stderr."""
    sys.stderr.write("x" * 10_000 + "\nno luck today\n")
    sys.exit(7)


def floods() -> None:
    """Writes as many megabytes as told, then listens."""
    line = json.dumps({"type": "flood", "text": "y" * 1000}).encode() + b"\n"
    block = line * (1_000_000 // len(line))
    for _ in range(int(sys.argv[2])):
        os.write(1, block)
    say(type="ready")
    listen()


def garbles() -> None:
    """Writes what is no text, and a line that never ends."""
    os.write(1, b'{"type":"ready"}\n\xff\xfe\x00 no text\n{"type":"after"}\n{"type":"to')
    listen(echo=False)


def deaf() -> None:
    """Never reads."""
    say(type="ready")
    while True:
        signal.pause()


def stubborn() -> None:
    """Reads nothing, ignores every request to end, and has a tool in a session of its own that does, too."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    tool = subprocess.Popen(["sleep", "300"], start_new_session=True)
    say(type="ready", tool=tool.pid)
    while True:
        signal.pause()


def leaves_tools() -> None:
    """Has a tool in a session of its own and one that is nobody's child any more; then listens."""
    tool = subprocess.Popen(["sleep", "300"], start_new_session=True)
    shell = "setsid sleep 300 </dev/null >/dev/null 2>&1 & echo $!"
    told = subprocess.run(["/bin/sh", "-c", shell], stdout=subprocess.PIPE, check=True).stdout
    say(type="ready", tool=tool.pid, orphan=int(told))
    listen()


def ticks() -> None:
    """Writes numbered lines until its input says enough."""
    say(type="ready")
    number = 0
    while not select.select([0], [], [], 0.0005)[0]:
        say(type="tick", number=number)
        number += 1


def looks_around() -> None:
    """Tells what it has inherited."""
    mask = os.umask(0)
    status = Path("/proc/self/status").read_text(encoding="ascii").split("\n")
    ignored = next(line.split()[1] for line in status if line.startswith("SigIgn"))
    links = {}
    for entry in Path("/proc/self/fd").iterdir():
        try:
            links[entry.name] = str(entry.readlink())
        except OSError:
            continue  # the listing's own descriptor
    say(
        type="ready",
        umask=mask,
        ignored=[n for n in range(1, 65) if int(ignored, 16) >> (n - 1) & 1],
        descriptors=links,
        files=resource.getrlimit(resource.RLIMIT_NOFILE),
        cwd=str(Path.cwd()),
        environment=dict(os.environ),
    )
    listen()


MANNERS = {
    "echo": echo,
    "counts": counts,
    "dies": dies,
    "floods": floods,
    "garbles": garbles,
    "deaf": deaf,
    "stubborn": stubborn,
    "leaves-tools": leaves_tools,
    "ticks": ticks,
    "looks-around": looks_around,
}

if __name__ == "__main__":
    try:
        MANNERS[sys.argv[1]]()
    except KeyboardInterrupt:
        sys.exit(130)
