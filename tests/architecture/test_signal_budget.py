"""Who may end processes: one module of the daemon, and the practice agent for its own children.

A new place that signals is a new way to kill somebody's work. Whoever needs one asks
`daemon/processes.py`, which checks that the process is still the one that was meant.
"""

from __future__ import annotations

import ast
import re
from collections import Counter

import pytest

from tests.architecture.source import Module, modules

BUDGET = {
    # The string asks whether this system has the call at all.
    "walnut_desktop/daemon/processes.py": {"kill": 1, "pidfd_send_signal": 1, "in a string": 1},
}
"""How often each name may occur in each file. Every raise needs a reason in its commit."""

FREE = ("walnut_desktop/practice/",)
"""Ends the children of its own tools, which no daemon knows."""

SIGNALLING = frozenset(
    {"kill", "killpg", "pidfd_send_signal", "send_signal", "terminate", "tgkill", "raise_signal"}
)

_SHELL_KILL = re.compile(r"\b(?:kill\s+-|pkill\b|killall\b)")


def signalling_names(module: Module) -> Counter[str]:
    """Each mention counts, called or only handed on: an alias must not slip through."""
    found: Counter[str] = Counter()
    for node in module.nodes():
        if isinstance(node, ast.Attribute) and node.attr in SIGNALLING:
            found[node.attr] += 1
        elif isinstance(node, ast.ImportFrom) and node.module in ("os", "signal", "psutil"):
            found.update(alias.name for alias in node.names if alias.name in SIGNALLING)
        elif isinstance(node, ast.Constant) and _says_kill(node.value):
            found["in a string"] += 1
    return found


def _says_kill(value: object) -> bool:
    """Whether a text could be looked up as a call or run by a shell."""
    if not isinstance(value, str):
        return False
    return value in SIGNALLING or _SHELL_KILL.search(value) is not None


@pytest.mark.rule("O1")
def test_only_the_daemons_process_module_signals() -> None:
    used = {
        module.name: dict(names)
        for module in modules("walnut_desktop")
        if not module.name.startswith(FREE) and (names := signalling_names(module))
    }
    assert used == BUDGET


@pytest.mark.rule("O1")
@pytest.mark.parametrize(
    "source",
    [
        "import os\nos.kill(1, 2)",
        "import os\nend = os.killpg",
        "from os import kill as gentle",
        "process.terminate()",
        "import signal\nsignal.pidfd_send_signal(fd, 15)",
        "getattr(process, 'send_signal')(15)",
        "run(['kill', '-9', pid])",
        "run('pkill claude')",
        "SCRIPT = 'kill -9 $1'",
    ],
)
def test_every_way_to_signal_is_seen(source: str) -> None:
    assert signalling_names(Module("x.py", source, ast.parse(source)))
