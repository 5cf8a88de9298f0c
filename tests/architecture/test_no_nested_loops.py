"""The window never runs an event loop inside the event loop.

A nested loop lets another task run in the middle of this one and quietly kills it: dialogs are opened
with `open()` and answer by a signal.
"""

from __future__ import annotations

import ast
import fnmatch

import pytest

from tests.architecture.source import Module, calls, modules

BANNED = (
    "*.exec",
    "*.exec_",
    "exec",
    "*QMessageBox.about",
    "*QMessageBox.aboutQt",
    "*QMessageBox.critical",
    "*QMessageBox.information",
    "*QMessageBox.question",
    "*QMessageBox.warning",
    "*QFileDialog.get*",
    "*QInputDialog.get*",
    "*QColorDialog.getColor",
    "*QFontDialog.getFont",
    "*.processEvents",
    "*.waitForFinished",
    "*.waitForReadyRead",
    "*.waitForConnected",
)

ALLOWED: dict[str, set[str]] = {}
"""Per file, the calls that are all right there, with a reason beside them."""


def nested_loops(module: Module) -> list[str]:
    """The calls of a module that run or block the loop."""
    allowed = ALLOWED.get(module.name, set())
    return [
        f"{module.at(call)} {name}"
        for name, call in calls(module)
        if name not in allowed and any(fnmatch.fnmatchcase(name, pattern) for pattern in BANNED)
    ]


def test_the_window_has_no_nested_loop() -> None:
    assert [
        found for module in modules("walnut_desktop/gui") for found in nested_loops(module)
    ] == []


@pytest.mark.parametrize(
    "source",
    [
        "QDialog(self).exec()",
        "menu.exec(position)",
        "menu.exec_()",
        "QtWidgets.QMessageBox.question(self, 'a', 'b')",
        "QFileDialog.getOpenFileName(self)",
        "QInputDialog.getText(self)",
        "QApplication.processEvents()",
    ],
)
def test_every_kind_is_seen(source: str) -> None:
    assert nested_loops(Module("x.py", source, ast.parse(source)))


def test_opening_is_fine() -> None:
    source = "dialog.open()\nmenu.popup(position)\nexecutor.execute()"
    assert nested_loops(Module("x.py", source, ast.parse(source))) == []
