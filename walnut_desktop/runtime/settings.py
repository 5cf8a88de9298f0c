"""The person's settings: one validated file (Rule G14). Unknown keys are kept, bad values named.

The values are plain dataclasses; pydantic checks what a file says, and is imported only when there is one. A
bad value is replaced by its default and reported with its place; the file is not rewritten for that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal


@dataclass
class AgentSettings:
    """How agents are started."""

    default_engine: Literal["claude", "practice"] = "claude"
    claude_program: str = "claude"
    model: str = ""
    permission_mode: Literal["default", "acceptEdits", "plan", "bypassPermissions"] = "default"
    start_timeout_s: float = 30.0


@dataclass
class LookSettings:
    """How the window looks."""

    theme: Literal["system", "light", "dark"] = "system"


@dataclass
class NoticeSettings:
    """When the person is called."""

    enabled: bool = True


@dataclass
class Settings:
    """Everything that can be set."""

    agent: AgentSettings = field(default_factory=AgentSettings)
    look: LookSettings = field(default_factory=LookSettings)
    notices: NoticeSettings = field(default_factory=NoticeSettings)


BOUNDS = {("agent", "start_timeout_s"): (1.0, 300.0)}


class SettingsFile:
    """Reads and writes the settings of a home. `problems` are sentences about what was not taken."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.problems: list[str] = []
        try:
            data = self._on_disk()
        except ValueError as error:
            self.problems.append(f"The settings file {error}. The defaults are used.")
            data = {}
        self.values = self._validated(data) if data else Settings()
        self._before = asdict(self.values)

    def _on_disk(self) -> dict[str, Any]:
        """What the file says; empty when there is none. Raises ValueError saying why it can't be read."""
        try:
            data = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            raise ValueError(f"can't be read ({error})") from None
        if not isinstance(data, dict):
            raise ValueError("holds no settings")  # noqa: TRY004 - of the same kind as above
        return data

    def _validated(self, data: Mapping[str, Any]) -> Settings:
        """The settings of a file, without what is not valid in it."""
        from pydantic import TypeAdapter, ValidationError

        adapter = TypeAdapter(Settings)
        left = json.loads(json.dumps(data))
        for _ in range(50):
            try:
                settings = adapter.validate_python(left)
            except ValidationError as error:
                for item in error.errors():
                    self._drop(left, [str(part) for part in item["loc"]], item["msg"])
                continue
            return self._bounded(settings)
        return Settings()

    def _drop(self, data: dict[str, Any], place: list[str], message: str) -> None:
        self.problems.append(f"Setting “{'.'.join(place)}”: {message}. The default is used.")
        parent: Any = data
        for part in place[:-1]:
            parent = parent.get(part) if isinstance(parent, dict) else None
        if isinstance(parent, dict):
            parent.pop(place[-1], None)

    def _bounded(self, settings: Settings) -> Settings:
        for (section, name), (least, most) in BOUNDS.items():
            part = getattr(settings, section)
            if not least <= getattr(part, name) <= most:
                self.problems.append(
                    f"Setting “{section}.{name}” must lie between {least:g} and {most:g}. "
                    "The default is used."
                )
                setattr(part, name, getattr(type(part)(), name))
        return settings

    def save(self) -> None:
        """Write what was changed here over what the file says by now: beside the file, then over it.

        What this version does not know, and what was edited by hand meanwhile, stays. A file that can't be
        read is put aside first.
        """
        try:
            whole = self._on_disk()
        except ValueError:
            whole = {}
            self._path.replace(self._path.with_suffix(".unreadable.json"))
        for section, values in asdict(self.values).items():
            before = self._before[section]
            changed = {name: value for name, value in values.items() if value != before[name]}
            if changed:
                there = whole.get(section)
                whole[section] = {**(there if isinstance(there, dict) else {}), **changed}
        part = self._path.with_suffix(".part")
        text = json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
        part.write_text(text, encoding="utf-8", errors="replace")
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(self._path)
        self._before = asdict(self.values)
