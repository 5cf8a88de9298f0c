"""Where everything of a home lies. One object, made at start, passed to who needs it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

DEFAULT_HOME = "~/.open-walnut"


@dataclass(frozen=True)
class Paths:
    """The folders and files of one home."""

    home: Path

    @classmethod
    def choose(cls, given: str | None = None) -> Paths:
        """The given home, else $WALNUT_HOME, else `~/.open-walnut`; absolute, links resolved."""
        text = given or os.environ.get("WALNUT_HOME") or DEFAULT_HOME
        return cls(Path(text).expanduser().resolve())

    @property
    def database(self) -> Path:
        """Tasks, sessions, messages."""
        return self.home / "walnut.sqlite"

    @property
    def lock(self) -> Path:
        """Held by the one app that works on this home."""
        return self.home / "app.lock"

    @property
    def settings(self) -> Path:
        """The person's settings."""
        return self.home / "settings.json"

    @property
    def logs(self) -> Path:
        """Logs and the crash trace."""
        return self.home / "logs"

    @property
    def backups(self) -> Path:
        """Copies of the database."""
        return self.home / "backups"

    @property
    def window_socket(self) -> Path:
        """Where a second start tells the first to show itself."""
        return self.home / "window.sock"

    def make(self) -> None:
        """Make the home, for its owner only."""
        self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.logs.mkdir(exist_ok=True, mode=0o700)
