"""Claude Code: the `claude` program of the person, found on PATH or named in the settings."""

from __future__ import annotations

from walnut_desktop.engines import stream_json
from walnut_desktop.engines.base import Launch, LaunchSpec


class ClaudeCode:
    """Starts the real Claude CLI."""

    id = "claude"
    label = "Claude Code"

    def __init__(self, program: str = "claude", config_dir: str = "") -> None:
        self._program = program or "claude"
        self._config_dir = config_dir or "~/.claude"

    def launch(self, spec: LaunchSpec) -> Launch:
        """Its command line."""
        argv = [self._program, *stream_json.arguments(spec)]
        return Launch(argv, dict(stream_json.STATE_EVENTS), self._config_dir)
