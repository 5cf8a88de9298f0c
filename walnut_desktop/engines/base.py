"""What the app knows of a kind of agent: how it is started, and where it keeps its files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol


@dataclass(frozen=True)
class LaunchSpec:
    """What a session wants to be started with. Model and mode are given every time (D2)."""

    sid: str
    resume: bool = False
    mode: str = "default"
    model: str = ""
    system_prompt: str = ""


class Launch(NamedTuple):
    """A command line, what is added to the environment, and the agent's own folder."""

    argv: list[str]
    env: dict[str, str]
    config_dir: str


class Engine(Protocol):
    """One kind of agent."""

    @property
    def id(self) -> str:
        """The word by which sessions name it."""

    @property
    def label(self) -> str:
        """Its name for the person."""

    def launch(self, spec: LaunchSpec) -> Launch:
        """How to start (or resume) a session."""
