"""Every override of a Qt method is guarded: an error that leaves it is raised in a stranger's line (D20)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.architecture.source import Module, dotted, modules

GUARD = "never_raises"

OVERRIDES: dict[str, frozenset[str]] = {
    "Model": frozenset(
        {
            "data", "setData", "headerData", "flags", "index", "parent", "rowCount", "columnCount",
            "hasChildren", "canFetchMore", "fetchMore", "mimeData", "mimeTypes", "dropMimeData",
            "canDropMimeData", "supportedDropActions", "roleNames", "sort", "lessThan",
            "filterAcceptsRow",
        }
    ),
    "Delegate": frozenset(
        {
            "paint", "createEditor", "setEditorData", "setModelData", "updateEditorGeometry",
            "editorEvent", "displayText", "helpEvent",
        }
    ),
    "Document": frozenset({"loadResource"}),
    "Highlighter": frozenset({"highlightBlock"}),
    "Validator": frozenset({"validate", "fixup"}),
    "Style": frozenset({"drawControl", "drawPrimitive", "pixelMetric", "styleHint"}),
    "Thread": frozenset({"run"}),
    "Dialog": frozenset({"accept", "reject", "done"}),
    "Accessible": frozenset(
        {
            "isValid", "object", "childCount", "child", "childAt", "indexOfChild", "parent", "role",
            "state", "text", "setText", "rect", "focusChild", "foregroundColor", "backgroundColor",
        }
    ),
    "": frozenset(
        {
            "event", "eventFilter", "notify", "nativeEvent", "viewportEvent", "scrollContentsBy",
            "sizeHint", "minimumSizeHint", "viewportSizeHint", "heightForWidth", "hasHeightForWidth",
            "focusNextPrevChild", "inputMethodQuery", "setVisible",
        }
    ),
}  # fmt: skip
"""What Qt calls, by a word in the name of its class; besides everything that ends in `Event`."""


ALLOWED = {
    # The heart of the loop: every callback has a handler of its own, and a guard would hide the loop's bugs.
    "walnut_desktop/gui/loop.py _Drain.event",
}


def qt_bases(trees: tuple[Module, ...]) -> dict[str, set[str]]:
    """For each class that is Qt's by any number of steps, the classes of Qt that it is built on."""
    bases: dict[str, set[str]] = {}
    for module in trees:
        for node in module.nodes():
            if isinstance(node, ast.ClassDef):
                names = {dotted(base).rpartition(".")[2] for base in node.bases}
                bases.setdefault(node.name, set()).update(names)

    def roots(name: str, seen: frozenset[str]) -> set[str]:
        found: set[str] = set()
        for base in bases.get(name, set()) - seen:
            if re.match("Q[A-Z]", base):
                found.add(base)
            else:
                found |= roots(base, seen | {base})
        return found

    return {name: found for name in bases if (found := roots(name, frozenset({name})))}


def overrides(node: ast.ClassDef, roots: set[str]) -> Iterator[ast.FunctionDef]:
    """The methods of a class that Qt calls."""
    names: set[str] = set()
    for word, methods in OVERRIDES.items():
        if any(word in root for root in roots):
            names |= methods
    for item in node.body:
        if not isinstance(item, ast.FunctionDef) or _is_property(item):
            continue
        if item.name in names or (item.name.endswith("Event") and item.name[0] != "_"):
            yield item


def _is_property(node: ast.FunctionDef) -> bool:
    return any(dotted(item) in ("property", "staticmethod") for item in node.decorator_list)


def is_guarded(node: ast.FunctionDef) -> bool:
    """Whether the outermost decorator is the guard."""
    first = node.decorator_list[0] if node.decorator_list else None
    called = first.func if isinstance(first, ast.Call) else None
    return called is not None and dotted(called).rpartition(".")[2] == GUARD


def unguarded(trees: tuple[Module, ...]) -> list[str]:
    """Where Qt could be handed an error."""
    roots = qt_bases(trees)
    return [
        f"{module.at(method)} {node.name}.{method.name}"
        for module in trees
        for node in module.nodes()
        if isinstance(node, ast.ClassDef) and node.name in roots
        for method in overrides(node, roots[node.name])
        if not is_guarded(method) and f"{module.name} {node.name}.{method.name}" not in ALLOWED
    ]


def test_every_override_is_guarded() -> None:
    assert unguarded(modules("walnut_desktop/gui")) == []


@pytest.mark.parametrize(
    "source",
    [
        "class A(QWidget):\n    def paintEvent(self, e): ...",
        "class A(QtWidgets.QWidget):\n    def event(self, e): ...",
        "class A(QAbstractListModel): ...\nclass B(A):\n    def data(self, i, r): ...",
        "class A(QStyledItemDelegate):\n    def paint(self, p, o, i): ...",
        "class A(QAccessibleInterface):\n    def text(self, t): ...",
        "class A(QTextDocument):\n    def loadResource(self, k, u): ...",
        "class A(QWidget):\n    @Slot()\n    def sizeHint(self): ...",
        "class A(QWidget):\n    @Slot()\n    @never_raises(None)\n    def sizeHint(self): ...",
    ],
)
def test_every_kind_is_seen(source: str) -> None:
    assert unguarded((Module("x.py", source, ast.parse(source)),))


@pytest.mark.parametrize(
    "source",
    [
        "class A(QWidget):\n    @never_raises(None)\n    def paintEvent(self, e): ...",
        "class A:\n    def data(self): ...",
        "class A(QWidget):\n    def _on_event(self): ...\n    def other(self): ...",
        "class A(QWidget):\n    @property\n    def state(self): ...",
        "class A(QObject):\n    def paint(self): ...\n    def text(self): ...",
    ],
)
def test_what_is_fine(source: str) -> None:
    assert unguarded((Module("x.py", source, ast.parse(source)),)) == []
