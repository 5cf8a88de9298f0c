"""Tests through the real window: one loop for Qt and asyncio, and a rig per home (model-codebases 4.17)."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from tests.gui.rig import Rig
from tests.real_cli.conftest import claude_env, claude_path, messages_api
from walnut_desktop.gui import guard
from walnut_desktop.gui.application import Application
from walnut_desktop.gui.loop import Loop

__all__ = ["claude_env", "claude_path", "messages_api"]

LIMIT_S = 60.0


@pytest.fixture(scope="session")
def qapp_cls() -> type[Application]:
    """Our own application class."""
    return Application


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run coroutine tests that use Qt on our own loop; what goes wrong beside them fails them, too."""
    function = pyfuncitem.obj
    if not inspect.iscoroutinefunction(function) or "qapp" not in pyfuncitem.fixturenames:
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(function).parameters}
    app = cast("Application", pyfuncitem.funcargs["qapp"])
    run(app, lambda: function(**arguments))
    return True


def run(app: Application, test: Callable[[], Awaitable[None]]) -> None:
    """Run one coroutine on a fresh loop and fail on lost errors and left tasks."""
    problems: list[str] = []
    guard.set_reporter(lambda error, where: problems.append(f"{where}: {error!r}"))

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: problems.append(str(context)))
        await asyncio.wait_for(test(), LIMIT_S)
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        problems.extend(f"task left: {task.get_name()}" for task in left if not task.done())

    try:
        with asyncio.Runner(loop_factory=lambda: Loop(app)) as runner:
            runner.run(main())
    finally:
        guard.set_reporter(None)
    assert not problems, "\n".join(problems)


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of its own."""
    return tmp_path_factory.mktemp("h") / "w"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that the agent works in."""
    path = tmp_path / "project"
    path.mkdir()
    return path


@pytest.fixture(params=["practice", pytest.param("claude", marks=pytest.mark.real_cli)])
def engine(request: pytest.FixtureRequest) -> str:
    """Both agents: the practice agent and the real CLI."""
    return str(request.param)


MakeRig = Callable[..., Any]


@pytest.fixture
def rig_of(
    qapp: Application, home: Path, folder: Path, request: pytest.FixtureRequest
) -> Iterator[MakeRig]:
    """`async with rig_of(engine) as rig`: everything that it starts is ended."""
    before = dict(os.environ)

    @asynccontextmanager
    async def make(engine: str) -> AsyncIterator[Rig]:
        rig = Rig(qapp, home, folder, engine)
        if engine == "claude":
            os.environ.update(request.getfixturevalue("claude_env"))
            rig.settings(claude_program=str(request.getfixturevalue("claude_path")))
        else:
            os.environ["WALNUT_PRACTICE_FAST"] = "1"
        try:
            yield rig
        finally:
            await rig.end()

    yield make
    os.environ.clear()
    os.environ.update(before)
