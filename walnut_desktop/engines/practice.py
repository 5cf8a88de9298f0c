"""The practice agent (Rule G9): our own program behind the same protocol, without an account."""

from __future__ import annotations

from walnut_desktop.engines import stream_json
from walnut_desktop.engines.base import Launch, LaunchSpec


class PracticeAgent:
    """Starts the built-in practice agent; the daemon knows how to run it on its host."""

    id = "practice"
    label = "Practice agent"

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def launch(self, spec: LaunchSpec) -> Launch:
        """Its command line."""
        env = {**stream_json.STATE_EVENTS, "WALNUT_PRACTICE_HOME": self._folder}
        return Launch(["@practice", *stream_json.arguments(spec)], env, self._folder)
