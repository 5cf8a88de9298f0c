"""The person's settings: one validated file (Rule G14). Unknown keys are kept, bad values named.

A bad value is replaced by its default and reported with its place; the file is not rewritten for that.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class Section(BaseModel):
    """Keeps what it does not know, so that saving one thing never drops another."""

    model_config = ConfigDict(extra="allow", validate_assignment=True)


class AgentSettings(Section):
    """How agents are started."""

    default_engine: Literal["claude", "practice"] = "claude"
    claude_program: str = "claude"
    model: str = ""
    permission_mode: Literal["default", "acceptEdits", "plan", "bypassPermissions"] = "default"
    start_timeout_s: float = Field(default=30.0, ge=1, le=300)


class LookSettings(Section):
    """How the window looks."""

    theme: Literal["system", "light", "dark"] = "system"


class NoticeSettings(Section):
    """When the person is called."""

    enabled: bool = True


class Settings(Section):
    """Everything that can be set."""

    agent: AgentSettings = Field(default_factory=AgentSettings)
    look: LookSettings = Field(default_factory=LookSettings)
    notices: NoticeSettings = Field(default_factory=NoticeSettings)


class SettingsFile:
    """Reads and writes the settings of a home. `problems` are sentences about what was not taken."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.problems: list[str] = []
        self.values = self._read()

    def _read(self) -> Settings:
        try:
            data = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return Settings()
        except (OSError, ValueError) as error:
            self.problems.append(
                f"The settings file can't be read ({error}). The defaults are used."
            )
            return Settings()
        if not isinstance(data, dict):
            self.problems.append("The settings file holds no settings. The defaults are used.")
            return Settings()
        for _ in range(50):
            try:
                return Settings.model_validate(data)
            except ValidationError as error:
                self._drop_bad(data, error)
        return Settings()

    def _drop_bad(self, data: dict[str, Any], error: ValidationError) -> None:
        for item in error.errors():
            place = [str(part) for part in item["loc"]]
            self.problems.append(
                f"Setting “{'.'.join(place)}”: {item['msg']}. The default is used."
            )
            parent: Any = data
            for part in place[:-1]:
                parent = parent.get(part) if isinstance(parent, dict) else None
            if isinstance(parent, dict):
                parent.pop(place[-1], None)

    def save(self) -> None:
        """Write the settings whole: beside the file, then renamed over it."""
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(self.values.model_dump(mode="json"), indent=2) + "\n")
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(self._path)
