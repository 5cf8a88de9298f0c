"""What a tour found: steps with their times, for a person or as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field


@dataclass
class StepResult:
    """One step: whether it worked, how long it took, and what was seen."""

    name: str
    ok: bool
    seconds: float
    detail: str


@dataclass
class Report:
    """All steps so far."""

    steps: list[StepResult] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether every step worked."""
        return bool(self.steps) and all(step.ok for step in self.steps)

    def line(self, step: StepResult) -> str:
        """A step for a terminal."""
        mark = "ok  " if step.ok else "FAIL"
        detail = f"  {step.detail}" if step.detail else ""
        return f"{mark} {step.seconds:6.2f} s  {step.name}{detail}"

    def to_json(self) -> str:
        """The stable form that tools read."""
        return json.dumps({"ok": self.ok, "steps": [asdict(step) for step in self.steps]}, indent=2)
