"""Modules stay small and talk through their logger or their return value."""

from __future__ import annotations

import pytest

from tests.architecture.source import calls, modules

MOST_LINES = 400

TALKERS = ("walnut_desktop/practice/",)
"""Programs of their own, whose stdout is their protocol."""


@pytest.mark.parametrize("below", ["walnut_desktop", "tests"])
def test_no_module_is_longer_than_one_idea(below: str) -> None:
    lengths = {module.name: module.text.count("\n") for module in modules(below)}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def test_the_product_does_not_print() -> None:
    found = [
        module.at(call)
        for module in modules("walnut_desktop")
        if not module.name.startswith(TALKERS)
        for name, call in calls(module)
        if name == "print"
    ]
    assert found == []
