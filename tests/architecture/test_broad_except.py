"""`except Exception` hides what nobody thought of; it is for the outermost edge of a thing only.

Each file that has some is listed with how many: a loop that must go on, a unit that must roll back,
a Qt override that must not raise.
"""

from __future__ import annotations

import ast

from tests.architecture.source import Module, dotted, modules

MOST: dict[str, int] = {
    "walnut_desktop/daemon/__main__.py": 1,  # the last word before the program ends
    "walnut_desktop/daemon/connection.py": 1,  # one bad request must not end the connection
    "walnut_desktop/gui/guard.py": 1,  # a Qt override must not raise
    "walnut_desktop/runtime/bus.py": 1,  # one bad listener must not silence the others
    "walnut_desktop/sessions/follow.py": 1,  # undo, then raise on
    "walnut_desktop/sessions/start.py": 1,  # undo, then raise on
    "walnut_desktop/sessions/steer.py": 1,  # undo, then raise on
    "walnut_desktop/store/database.py": 1,  # close what was opened, then raise on
    "walnut_desktop/store/worker.py": 1,  # handed to the one who waits for the unit
}

BROAD = frozenset({"Exception", "BaseException"})


def broad_handlers(module: Module) -> list[ast.ExceptHandler]:
    """Handlers without a type, or for everything."""
    found: list[ast.ExceptHandler] = []
    for node in module.nodes():
        if not isinstance(node, ast.ExceptHandler):
            continue
        kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        if any(kind is None or dotted(kind).rpartition(".")[2] in BROAD for kind in kinds):
            found.append(node)
    return found


def test_only_the_edges_catch_everything() -> None:
    over = {
        module.name: [module.at(handler) for handler in handlers]
        for module in modules("walnut_desktop")
        if len(handlers := broad_handlers(module)) > MOST.get(module.name, 0)
    }
    assert over == {}


def test_the_list_names_only_what_is_there() -> None:
    there = {module.name for module in modules("walnut_desktop") if broad_handlers(module)}
    assert set(MOST) - there == set()


def test_every_way_to_catch_everything_is_seen() -> None:
    source = "\n".join(
        f"try: ...\nexcept{kind}: ..."
        for kind in ("", " Exception", " (OSError, BaseException) as e", " builtins.Exception")
    )
    assert len(broad_handlers(Module("x.py", source, ast.parse(source)))) == 4
