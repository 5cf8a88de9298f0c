"""`python -m tests.bench [P1 …] [--json] [--quick]`: the numbers of the design, as ratios in one run."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from tests.bench import p1_fold, p2_open, p3_frames, p4_start, p5_memory

LIMITS = {"P1": 2.0, "P2": 1.5, "P3": 16.0, "P4": 4.0, "P5": 2.5}
RUNS: dict[str, Callable[..., dict[str, Any]]] = {
    "P1": p1_fold.run,
    "P2": p2_open.run,
    "P3": p3_frames.run,
    "P4": p4_start.run,
    "P5": p5_memory.run,
}
QUICK: dict[str, tuple[int, ...]] = {
    "P1": (20_000_000,),
    "P2": (50_000_000,),
    "P3": (2_000,),
    "P4": (500, 50),
    "P5": (2_000,),
}


def machine() -> dict[str, Any]:
    """What the numbers were taken on."""
    from PySide6 import __version__

    return {
        "system": platform.platform(),
        "python": platform.python_version(),
        "pyside": __version__,
        "cores": os.cpu_count(),
    }


def main() -> int:
    """Print a table or JSON; exit code 1 when a number is over its limit."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("names", nargs="*", metavar="P1", help="which (default: all)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, for a first look")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in RUNS]
    if unknown:
        parser.error(f"no such number: {', '.join(unknown)}")
    results: dict[str, Any] = {}
    for name in options.names or list(RUNS):
        result = RUNS[name](*QUICK[name]) if options.quick else RUNS[name]()
        results[name] = {**result, "limit": LIMITS[name]}
        if not options.json:
            print(
                f"{name}: {result['value']} {result['unit']} (at most {LIMITS[name]})  {result['detail']}"
            )
            sys.stdout.flush()
    if options.json:
        print(json.dumps({"machine": machine(), "results": results}, indent=2))
    return 1 if any(result["value"] > result["limit"] for result in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
