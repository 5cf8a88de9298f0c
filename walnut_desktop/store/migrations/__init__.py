"""The steps from one schema to the next, in plain SQL, each frozen once it has shipped (Rule T16).

A step never imports the tables: it must go on working when they change.
"""

from __future__ import annotations

from collections.abc import Callable
from sqlite3 import Connection

from walnut_desktop.store.migrations import m0001_first

Step = Callable[[Connection], None]

STEPS: tuple[Step, ...] = (m0001_first.up,)
LATEST = len(STEPS)
