"""Every error that a person can meet, each with a code, an HTTP-like status, a sentence, and what to do.

WalnutError
├── InvalidInput          400   what was given can't be taken
├── NotFound              404   no such task, session, message
├── AmbiguousId           409   a prefix that names several (Rule T17)
├── Conflict              409
│   ├── ActiveChildrenError         a parent with open children can't complete (Rule T13)
│   ├── CircularDependencyError     Rule T9
│   └── SlotTakenError              Rule T10
├── StartFailed           422   an agent could not be started (Rule S1)
├── DeliveryFailed        502   a message could not be handed over (Rule M1)
├── HostUnreachable       503   the daemon does not answer (Rules F1, S6)
└── StoreError            500
    └── StoreTooNew       500   the database was written by a newer app (Rule T16)
"""

from __future__ import annotations

from collections.abc import Sequence


class WalnutError(Exception):
    """An expected error: `str()` is a sentence for the person, `hint` says what to do."""

    code = "error"
    status = 500

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.unsent: tuple[str, ...] = ()  # texts of the person that were given back, not lost

    def sentence(self) -> str:
        """The message and the hint as one text for the person."""
        return f"{self.message} {self.hint}".strip()


class InvalidInput(WalnutError):
    """What was given can't be taken; nothing was changed."""

    code = "invalid_input"
    status = 400


class NotFound(WalnutError):
    """There is no such task, session or message."""

    code = "not_found"
    status = 404


class AmbiguousId(WalnutError):
    """A prefix that fits several ids; `candidates` names at most ten of them (Rule T17)."""

    code = "ambiguous_id"
    status = 409

    def __init__(self, message: str, candidates: Sequence[str]) -> None:
        super().__init__(message, "Type more of the id.")
        self.candidates = tuple(candidates)


class Conflict(WalnutError):
    """The present state does not allow it."""

    code = "conflict"
    status = 409


class ActiveChildrenError(Conflict):
    """A parent with open children can't complete (Rule T13)."""

    code = "active_children"

    def __init__(self, titles: Sequence[str]) -> None:
        shown = ", ".join(f"“{title}”" for title in titles[:5])
        more = f" and {len(titles) - 5} more" if len(titles) > 5 else ""
        super().__init__(
            f"This task still has {len(titles)} open subtask{'s' if len(titles) != 1 else ''}: "
            f"{shown}{more}.",
            "Complete or move them first.",
        )
        self.active_children = len(titles)


class CircularDependencyError(Conflict):
    """A dependency that would lead back to the task itself (Rule T9)."""

    code = "circular_dependency"

    def __init__(self, task_id: str, dep_id: str) -> None:
        super().__init__(
            "These tasks would wait for each other.", "Remove one of the dependencies."
        )
        self.task_id = task_id
        self.dep_id = dep_id


class SlotTakenError(Conflict):
    """The task's slot is held by a session (Rule T10); `holder` is its sid, if one is known yet."""

    code = "blocked"

    def __init__(self, slot: str, holder: str | None) -> None:
        super().__init__(
            "This task already has a running session.",
            "Send your message to it, or stop it first.",
        )
        self.slot = slot
        self.holder = holder


class StartFailed(WalnutError):
    """An agent could not be started; the task is as it was (Rule S1)."""

    code = "start_failed"
    status = 422

    def __init__(self, message: str, hint: str = "", *, reason: str = "failed") -> None:
        super().__init__(message, hint)
        self.reason = reason


class DeliveryFailed(WalnutError):
    """A message could not be handed to the agent; it is kept (Rule M1)."""

    code = "delivery_failed"
    status = 502


class HostUnreachable(WalnutError):
    """The daemon of a host does not answer. That says nothing about its sessions (Rule S6)."""

    code = "host_unreachable"
    status = 503


class StoreError(WalnutError):
    """The database can't be used: full disk, no rights, damaged."""

    code = "store_error"


class StoreTooNew(StoreError):
    """The database was written by a newer Walnut; it was not touched (Rule T16)."""

    code = "store_too_new"
