"""`walnut-desktop tour`: the main job through the real window, with the time of every step.

Without a display it runs offscreen. Its home and folder are made for it and removed afterwards, unless a home
is given. Exit code 0 only if every step worked.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from walnut_desktop.domain.errors import WalnutError
from walnut_desktop.gui.__main__ import display_missing
from walnut_desktop.gui.tour.report import Report, StepResult

if TYPE_CHECKING:
    from walnut_desktop.gui.tour.steps import Steps


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tour."""
    parser = argparse.ArgumentParser(
        prog="walnut-desktop tour",
        description="Walk through the main job in the real window and say what worked.",
    )
    parser.add_argument(
        "--engine",
        choices=["practice", "claude"],
        default="practice",
        help="which agent does the work (default: practice, which needs no account)",
    )
    parser.add_argument("--home", help="data directory to use and keep (default: a temporary one)")
    parser.add_argument(
        "--screenshots", metavar="DIR", help="save pictures in light and dark there"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    options = parser.parse_args(argv)
    if display_missing():
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    with contextlib.ExitStack() as stack:
        work = Path(tempfile.mkdtemp(prefix="walnut-tour-"))
        stack.callback(shutil.rmtree, work, ignore_errors=True)
        home = Path(options.home).expanduser().resolve() if options.home else work / "home"
        folder = work / "project"
        folder.mkdir()
        return _run(home, folder, options)


def _run(home: Path, folder: Path, options: argparse.Namespace) -> int:
    from walnut_desktop.gui import application
    from walnut_desktop.gui.tour.camera import Camera
    from walnut_desktop.gui.tour.steps import Steps

    app = application.Application([sys.argv[0]])
    application.log_qt_messages()
    report = Report()
    camera = Camera(Path(options.screenshots)) if options.screenshots else None

    async def work(stopping: application.Stopping) -> int:
        steps = Steps(app, home, folder, options.engine)
        try:
            for number, (name, step) in enumerate(steps.in_order(), 1):
                result = await _one(name, step)
                report.steps.append(result)
                if not options.json:
                    sys.stdout.write(report.line(result) + "\n")
                    sys.stdout.flush()
                if camera is not None and steps.desktop is not None:
                    camera.shoot(steps.desktop, number, name)
                if not result.ok:
                    break
        finally:
            await _clean_up(steps, home)
        return 0 if report.ok else 1

    code = application.run(app, work)
    if options.json:
        sys.stdout.write(report.to_json() + "\n")
    return code


async def _one(name: str, step: Callable[[], Awaitable[str]]) -> StepResult:
    from walnut_desktop.gui.tour.steps import StepFailed

    begin = time.monotonic()
    try:
        detail, ok = await step(), True
    except StepFailed as error:
        detail, ok = str(error), False
    except WalnutError as error:
        detail, ok = error.sentence(), False
    return StepResult(name, ok, round(time.monotonic() - begin, 3), detail)


async def _clean_up(steps: Steps, home: Path) -> None:
    """End the tour's own session and helper; nothing is left behind."""
    from walnut_desktop.app.core import Core
    from walnut_desktop.runtime.paths import Paths

    core = steps.core
    try:
        if core is None:
            core = Core(Paths(home))
            await core.start()
        await core.shut_helper_down()
    except WalnutError as error:
        logging.getLogger(__name__).warning("clean-up: %s", error)
    if steps.core is not None:
        await steps.shut_down()
    elif core is not None:
        await core.stop()


if __name__ == "__main__":
    sys.exit(main())
