"""P1: folding a 200 MB stream file, against parsing its lines with orjson alone."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import orjson

from tests.bench import streams
from walnut_desktop.transcript.fold import Fold
from walnut_desktop.transcript.lines import LineSplitter, read_lines

SIZE = 200_000_000
CHUNK = 32 * 1024


def _fold(path: Path) -> tuple[float, int]:
    begin = time.perf_counter()
    fold, splitter = Fold(), LineSplitter()
    with path.open("rb") as file:
        while data := file.read(CHUNK):
            for line in read_lines(splitter, data, orjson.loads, skip_deltas=True):
                fold.feed(line)
    return time.perf_counter() - begin, fold.state.results


def _parse(path: Path) -> float:
    begin = time.perf_counter()
    with path.open("rb") as file:
        for raw in file:
            orjson.loads(raw)
    return time.perf_counter() - begin


def run(size: int = SIZE) -> dict[str, Any]:
    """The median ratio of three pairs, each measured back to back."""
    with tempfile.TemporaryDirectory(prefix="walnut-bench-") as folder:
        path = Path(folder) / "stream.jsonl"
        turns = streams.write(path, size, output=3_000)
        pairs = []
        for _ in range(3):
            parse = _parse(path)
            fold, results = _fold(path)
            if results != turns:
                raise AssertionError(f"{results} results of {turns} turns")
            pairs.append((fold / parse, fold, parse))
    ratio, fold, parse = sorted(pairs)[1]
    return {
        "value": round(ratio, 3),
        "unit": "ratio",
        "detail": {
            "fold_s": round(fold, 3),
            "orjson_s": round(parse, 3),
            "bytes": size,
            "turns": turns,
        },
    }
