"""Tests wait for what they want to see, never for time: a fixed wait is too short or too long."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.source import Module, calls, modules

LONGEST_SECONDS = 0.05
LONGEST_MILLISECONDS = 50

NEVER = frozenset({"time.sleep", "QTest.qSleep", "QtTest.QTest.qSleep"})
SECONDS = frozenset({"asyncio.sleep"})
MILLISECONDS = frozenset({"qtbot.wait", "QTest.qWait", "QtTest.QTest.qWait"})


def fixed_waits(module: Module) -> list[str]:
    """Calls that wait for time to pass."""
    imported = [
        module.at(node)
        for node in module.nodes()
        if isinstance(node, ast.ImportFrom)
        and node.module in ("time", "asyncio")
        and any(alias.name == "sleep" for alias in node.names)
    ]
    return imported + [
        f"{module.at(call)} {name}"
        for name, call in calls(module)
        if name in NEVER
        or (name in SECONDS and not _is_at_most(call, LONGEST_SECONDS))
        or (name in MILLISECONDS and not _is_at_most(call, LONGEST_MILLISECONDS))
    ]


def _is_at_most(call: ast.Call, most: float) -> bool:
    """Whether the wait is written down as a number, and short."""
    argument = call.args[0] if call.args else None
    if not isinstance(argument, ast.Constant) or not isinstance(argument.value, int | float):
        return False
    return argument.value <= most


def test_tests_wait_for_what_they_want_to_see() -> None:
    assert [wait for module in modules("tests") for wait in fixed_waits(module)] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import time\ntime.sleep(0)", True),
        ("from time import sleep", True),
        ("await asyncio.sleep(0.2)", True),
        ("await asyncio.sleep(LONG)", True),
        ("await asyncio.sleep(0)", False),
        ("await asyncio.sleep(0.05)", False),
        ("qtbot.wait(500)", True),
        ("qtbot.waitUntil(lambda: True)", False),
    ],
)
def test_fixed_waits_are_seen(source: str, found: bool) -> None:
    assert bool(fixed_waits(Module("x.py", source, ast.parse(source)))) is found
