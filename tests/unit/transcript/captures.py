"""The captures of the real CLI as a daemon would have stored them: with our own marker lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from walnut_desktop.transcript.lines import Line, LineSplitter, read_lines

ROOT = Path(__file__).parents[2] / "data" / "cli-captures"
NAMES = sorted(path.parent.name for path in ROOT.glob("*/stream.jsonl"))


class Capture(NamedTuple):
    """One capture: its bytes with markers, and the exit codes of its processes."""

    name: str
    data: bytes
    codes: list[int]

    def lines(self, chunk: int = 1 << 20) -> list[Line]:
        """All lines, fed in pieces of `chunk` bytes."""
        splitter = LineSplitter()
        lines: list[Line] = []
        for at in range(0, len(self.data), chunk):
            lines.extend(read_lines(splitter, self.data[at : at + chunk]))
        return lines


def _marker(**fields: Any) -> bytes:
    return json.dumps({"type": "walnut", **fields}).encode() + b"\n"


def load(name: str, *, end: bool = False) -> Capture:
    """The capture with a start marker before each process's first line and, on wish, the last end marker."""
    folder = ROOT / name
    codes = [proc["rc"] for proc in json.loads((folder / "run.json").read_text())["processes"]]
    starts = _starts(folder, len(codes))
    raw = (folder / "stream.jsonl").read_bytes().split(b"\n")
    if raw[-1] == b"":
        raw.pop()
    out = [_marker(subtype="stream", epoch="e1")]
    for number, line in enumerate(raw):
        for proc, first in enumerate(starts):
            if first == number:
                out.append(_marker(subtype="process-start", spawn=f"p{proc + 1}"))
        out.append(line + b"\n")
    for proc, first in enumerate(starts):
        if first >= len(raw):
            out.append(_marker(subtype="process-start", spawn=f"p{proc + 1}"))
    if end:
        out.append(_marker(subtype="process-end", spawn=f"p{len(codes)}", code=codes[-1]))
    return Capture(name, b"".join(out), codes)


def _starts(folder: Path, count: int) -> list[int]:
    """The index of the first line of each process, told by when its predecessor was killed or it was fed."""
    events = [json.loads(line) for line in (folder / "stdin.jsonl").read_text().split("\n") if line]
    times = [float(text) for text in (folder / "stream.times.txt").read_text().split()]
    starts = [0]
    for proc in range(2, count + 1):
        killed = [
            e["t_ms"] for e in events if e["proc"] == proc - 1 and "SIGKILL" in e.get("event", "")
        ]
        fed = [e["t_ms"] for e in events if e["proc"] == proc]
        at = min(killed or fed or [float("inf")])
        starts.append(sum(1 for time in times if time <= at))
    return starts
