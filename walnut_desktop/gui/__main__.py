"""`walnut-desktop`: open the window, or show the one that is open already."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from walnut_desktop import __version__
from walnut_desktop.gui.quick_start import without_collection
from walnut_desktop.runtime.paths import Paths

NO_DISPLAY = (
    "walnut-desktop: there is no display to open a window on. "
    "`walnut-desktop tour` shows the app without one.\n"
)


def display_missing() -> bool:
    """Whether a window can't be opened: asked before Qt, which would abort the process."""
    if not sys.platform.startswith("linux") or os.environ.get("QT_QPA_PLATFORM"):
        return False
    if os.environ.get("WAYLAND_DISPLAY"):
        return False
    display = os.environ.get("DISPLAY", "")
    if not display:
        return True
    host, _, number = display.partition(":")
    if host not in ("", "unix"):
        return False  # somewhere else: Qt will tell
    path = f"/tmp/.X11-unix/X{number.partition('.')[0]}"  # noqa: S108 - where X servers listen
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        for address in (path, "\0" + path):
            try:
                probe.connect(address)
            except OSError:
                continue
            return False
    return True


def main(argv: Sequence[str] | None = None) -> int:
    """Run the app; answers the exit code."""
    parser = argparse.ArgumentParser(
        prog="walnut-desktop", description="Run coding agents on many tasks at once."
    )
    parser.add_argument("--home", help="data directory (default: $WALNUT_HOME or ~/.open-walnut)")
    parser.add_argument("--hidden", action="store_true", help="start in the tray")
    parser.add_argument("--version", action="version", version=f"walnut-desktop {__version__}")
    options = parser.parse_args(argv)
    if display_missing():
        sys.stderr.write(NO_DISPLAY)
        return 1
    paths = Paths.choose(options.home)
    try:
        paths.make()
    except OSError as error:
        sys.stderr.write(f"walnut-desktop: {paths.home} can't be used: {error.strerror}.\n")
        return 1
    return _run(paths, hidden=options.hidden)


def _run(paths: Paths, *, hidden: bool) -> int:
    starting = ExitStack()
    starting.enter_context(without_collection())
    from walnut_desktop.app.core import AlreadyRunning, Core
    from walnut_desktop.domain.errors import WalnutError
    from walnut_desktop.gui import application
    from walnut_desktop.gui.desktop import Desktop
    from walnut_desktop.gui.fatal import show_fatal
    from walnut_desktop.gui.single_instance import ShowRequests, show_the_other
    from walnut_desktop.runtime import logs

    app = application.Application([sys.argv[0]])
    application.log_qt_messages()

    async def work(stopping: application.Stopping) -> int:
        core = Core(paths)
        try:
            await core.start()
        except AlreadyRunning:
            token = os.environ.get("XDG_ACTIVATION_TOKEN", "")
            return 0 if show_the_other(paths.window_socket, token) else 1
        except WalnutError as error:
            await show_fatal(error, stopping)
            return 1
        logs.set_up(paths.logs)
        crash = application.CrashTrace(paths.logs)
        application.report_everything(core.report)
        desktop = Desktop(app, core, stopping.ask)
        requests = ShowRequests(paths.window_socket, lambda _token: desktop.window.bring_to_front())
        try:
            await requests.open()
            await desktop.open(hidden=hidden)
            starting.close()
            await stopping.wait()
        finally:
            requests.close()
            await desktop.close()
            await core.stop()
            crash.close()
        return 0

    return application.run(app, work)


if __name__ == "__main__":
    sys.exit(main())
