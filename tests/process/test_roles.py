"""Each role loads only what it needs: the daemon neither Qt nor the database (design 2)."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("PySide6", "shiboken6", "qasync", "peewee", "anthropic", "pygments")


def loaded(program: str) -> set[str]:
    """The top names of all modules that a fresh interpreter has loaded after the program."""
    code = f"{program}\nimport sys\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "program",
    [
        "import walnut_desktop.main",
        "import walnut_desktop.daemon.__main__",
        "import walnut_desktop.daemon.server, walnut_desktop.daemon.starting",
        "import walnut_desktop.practice.__main__",
    ],
)
def test_only_the_window_loads_what_is_heavy(program: str) -> None:
    assert loaded(program).isdisjoint(HEAVY)


def test_the_probe_sees_what_is_heavy() -> None:
    assert "peewee" in loaded("import walnut_desktop.store.worker")


def test_a_living_daemon_has_loaded_neither(tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("d") / "w"
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*sorted({n.split('.')[0] for n in sys.modules})))\n"
        "from walnut_desktop.main import main\n"
        f"sys.exit(main(['daemon', '--home', {str(home)!r}, '--help']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()).isdisjoint(HEAVY)
