"""Takes pictures of the window, each in light and in dark."""

from __future__ import annotations

import re
from pathlib import Path

from walnut_desktop.gui.desktop import Desktop


class Camera:
    """Saves `NN-name-light.png` and `NN-name-dark.png`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder

    def shoot(self, desktop: Desktop, number: int, name: str) -> None:
        """Two pictures of how it looks now."""
        stem = f"{number:02d}-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}"
        for scheme in ("light", "dark"):
            desktop.set_theme(scheme)
            picture = desktop.window.grab()
            picture.save(str(self._folder / f"{stem}-{scheme}.png"))
        desktop.set_theme("light")
