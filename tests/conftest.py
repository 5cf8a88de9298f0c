"""What holds for every test: no test touches the person's own files, and none leaves a process behind.

The guard runs when this file is imported, before any test or product module is, because a module
could read the environment while it is imported.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from hypothesis import HealthCheck, settings

RUN_VARIABLE = "WALNUT_TEST_RUN"
"""In the environment of everything that tests start, so that a detached process is found too."""

GRACE_SECONDS = 3.0
"""How long a process that a test has already ended may take to be gone."""

QT_FIXTURES = frozenset({"qtbot", "qapp", "qapp_cls", "qtlog", "qtmodeltester"})

_SCRUBBED_PREFIXES = ("CLAUDE", "ANTHROPIC_", "WALNUT_", "GIT_")
_SCRUBBED_NAMES = ("AI_AGENT",)
_KEPT_PREFIXES = ("WALNUT_TEST_", "WALNUT_DEV_")


def _guard_environment() -> Path:
    """Point every home-like variable into a fresh folder; answer the folder.

    The folder's path is short: Unix socket paths may have 107 bytes only.
    """
    scratch = Path(tempfile.mkdtemp(prefix="wt-"))
    for name in list(os.environ):
        scrubbed = name.startswith(_SCRUBBED_PREFIXES) or name in _SCRUBBED_NAMES
        if scrubbed and not name.startswith(_KEPT_PREFIXES):
            del os.environ[name]
    homes = {
        "HOME": "home",
        "WALNUT_HOME": "walnut",
        "XDG_CONFIG_HOME": "home/.config",
        "XDG_DATA_HOME": "home/.local/share",
        "XDG_STATE_HOME": "home/.local/state",
        "XDG_CACHE_HOME": "home/.cache",
        "XDG_RUNTIME_DIR": "run",
    }
    for name, place in homes.items():
        folder = scratch / place
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.environ[name] = str(folder)
    # No notification of a test may reach the person's desktop; tests of the bus start their own.
    os.environ["DBUS_SESSION_BUS_ADDRESS"] = "disabled:"
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ[RUN_VARIABLE] = uuid.uuid4().hex
    return scratch


def _remove(folder: Path, owner: int) -> None:
    """Remove the scratch folder, but not from a forked child that ends."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


SCRATCH = _guard_environment()
atexit.register(_remove, SCRATCH, os.getpid())

settings.register_profile("ci", derandomize=True, deadline=None, database=None, print_blob=True)
settings.register_profile("dev", deadline=None, database=None)
settings.register_profile(
    "thorough",
    deadline=None,
    database=None,
    max_examples=2000,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev")
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs Qt, before `-m` selects."""
    for item in items:
        if QT_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.gui)


@pytest.fixture(autouse=True, scope="session")
def no_process_left_behind() -> Iterator[None]:
    """Fail the run when something that a test started is still alive at its end; then end it."""
    yield
    left = started_by_tests()
    if left:
        psutil.wait_procs(left, timeout=GRACE_SECONDS)
        left = [process for process in left if _is_alive(process)]
    if not left:
        return
    names = [describe(process) for process in left]
    for process in left:
        _end(process)
    pytest.fail(
        f"{len(names)} processes started by tests were still alive:\n" + "\n".join(names),
        pytrace=False,
    )


def started_by_tests() -> list[psutil.Process]:
    """Processes below this one, and detached ones that carry this run's mark."""
    own = psutil.Process()
    found = {process.pid: process for process in own.children(recursive=True)}
    mark = os.environ[RUN_VARIABLE]
    for process in psutil.process_iter():
        if process.pid != own.pid and environment_of(process).get(RUN_VARIABLE) == mark:
            found[process.pid] = process
    return [process for process in found.values() if _is_alive(process) and not _is_helper(process)]


def environment_of(process: psutil.Process) -> dict[str, str]:
    """The environment a process was started with; empty when it can't be read."""
    try:
        return process.environ()
    except (psutil.Error, OSError):
        return {}


def describe(process: psutil.Process) -> str:
    """One line that lets a person find the test to blame."""
    try:
        command = " ".join(process.cmdline()) or process.name()
    except (psutil.Error, OSError):
        command = "gone meanwhile"
    test = environment_of(process).get("PYTEST_CURRENT_TEST", "an unknown test")
    return f"  pid {process.pid}, started in {test}: {command[:300]}"


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, OSError):
        return False


def _is_helper(process: psutil.Process) -> bool:
    """Python's own helpers of multiprocessing end with this process."""
    try:
        command = " ".join(process.cmdline())
    except (psutil.Error, OSError):
        return False
    return "multiprocessing.resource_tracker" in command or "multiprocessing.forkserver" in command


def _end(process: psutil.Process) -> None:
    try:
        process.kill()
        process.wait(GRACE_SECONDS)
    except (psutil.Error, OSError) as error:
        sys.stderr.write(f"could not end {process.pid}: {error}\n")
