"""Looks at the arguments and imports exactly one role, so that each starts with only what it needs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence

Role = Callable[[Sequence[str]], int]

ROLES = {
    "daemon": "walnut_desktop.daemon.__main__",
    "practice": "walnut_desktop.practice.__main__",
    "tour": "walnut_desktop.gui.tour.__main__",
}

USAGE = """\
usage: walnut-desktop [window options]     open the window
       walnut-desktop daemon [options]     run the helper that keeps agent sessions alive
       walnut-desktop tour [options]       walk through the main job and say what worked
       walnut-desktop practice [options]   run the practice agent (started by the app)

Add --help to any of them for its options. --version prints the version.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the role named by the first argument; answer its exit code.

    Nothing heavy is imported here: the daemon must start without Qt and without the database.
    """
    args = list(sys.argv[1:] if argv is None else argv)
    first = args[0] if args else ""
    if first in ROLES:
        role: Role = importlib.import_module(ROLES[first]).main
        return role(args[1:])
    if first == "--version":
        from walnut_desktop import __version__

        sys.stdout.write(f"walnut-desktop {__version__}\n")
        return 0
    if first in ("-h", "--help", "help"):
        sys.stdout.write(USAGE)
        return 0
    if first and not first.startswith("-"):
        sys.stderr.write(f"walnut-desktop: there is no command {first!r}.\n\n{USAGE}")
        return 2
    window: Role = importlib.import_module("walnut_desktop.gui.__main__").main
    return window(args)
