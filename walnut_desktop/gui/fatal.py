"""An error before there is a window: one dialog with a sentence, then the end."""

from __future__ import annotations

import logging
import sys

from PySide6.QtWidgets import QMessageBox

from walnut_desktop.domain.errors import WalnutError
from walnut_desktop.gui.application import Stopping

log = logging.getLogger(__name__)


async def show_fatal(error: WalnutError, stopping: Stopping) -> None:
    """Show why the app can't open, and wait until it is read."""
    sys.stderr.write(f"walnut-desktop: {error.sentence()}\n")
    box = QMessageBox()
    box.setObjectName("fatal")
    box.setIcon(QMessageBox.Icon.Critical)
    box.setWindowTitle("Walnut Desktop can’t open")
    box.setText(error.message)
    box.setInformativeText(error.hint)
    box.finished.connect(stopping.ask)
    box.open()
    await stopping.wait()
    box.close()
