"""Small programs in an agent's place, each bad in its own way."""

from __future__ import annotations

import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("program.py")


def command(manner: str, *words: str) -> list[str]:
    """The command line of an agent with this manner."""
    return [sys.executable, "-S", "-E", str(PROGRAM), manner, *words]
