"""The requests that a core makes to a daemon, as typed values, and how they are read off the wire.

Every request is `{"id": n, "op": name, …}`; every answer `{"id": n, "ok": true, …}` or
`{"id": n, "ok": false, "error": word, "message": sentence}`. Events are `{"event": name, …}`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Optional, TypeVar, Union, get_args, get_origin, get_type_hints

_SID = re.compile(r"^[A-Za-z0-9_-]{1,128}\Z")


class BadRequest(Exception):
    """A request that can't be read; `str()` says why."""


class RemoteError(Exception):
    """The daemon refused; `error` is a word from the tables below, `str()` its sentence."""

    def __init__(
        self, error: str, message: str, detail: Optional[Mapping[str, Any]] = None
    ) -> None:
        super().__init__(message)
        self.error = error
        self.detail = dict(detail or {})


@dataclass(frozen=True)
class Start:
    """Launch an agent. `argv[0]` is a program name or path, or `@practice` for the practice agent.

    `env` is laid over the daemon's own scrubbed environment. `config_dir` is where the agent keeps its live
    registry and transcripts; `~` is the daemon's.
    """

    sid: str
    argv: list[str]
    cwd: str
    home: str
    resume: bool = False
    env: dict[str, str] = field(default_factory=dict)
    config_dir: str = ""
    task: str = ""


@dataclass(frozen=True)
class Attach:
    """Follow a stream file from `offset` on; from 0 if `epoch` is given and another one now."""

    sid: str
    offset: int = 0
    epoch: str = ""


@dataclass(frozen=True)
class Send:
    """Hand a user message over: `line` is written whole, after its marker (Rule S5.2)."""

    sid: str
    uuid: str
    line: dict[str, Any]


@dataclass(frozen=True)
class SendRaw:
    """Hand a control line over. `answers` names the agent's request that it settles, if it does."""

    sid: str
    line: dict[str, Any]
    answers: str = ""


@dataclass(frozen=True)
class Stop:
    """End a session's process (Rule O3)."""

    sid: str
    home: str
    initiator: str = "human"  # or automatic
    strict: bool = False
    reason: str = "user"  # user, orphan, idle, maintenance
    expect_pid: Optional[int] = None


@dataclass(frozen=True)
class Status:
    """What is known of one session."""

    sid: str


@dataclass(frozen=True)
class Lookup:
    """Which of the messages stand in the agent's own transcript (design 3, step 7)."""

    sid: str
    uuids: list[str]
    config_dir: str = ""


@dataclass(frozen=True)
class ReadStream:
    """A piece of a stream file, answered in bulk."""

    sid: str
    offset: int
    length: int


@dataclass(frozen=True)
class Shutdown:
    """The daemon leaves; with `end_sessions` it ends every session that belongs to `home` first."""

    home: str
    end_sessions: bool = False


T = TypeVar("T")


def parse(cls: type[T], obj: Mapping[str, Any]) -> T:
    """The request of an object; unknown fields are ignored. Raises BadRequest naming what is wrong."""
    hints = get_type_hints(cls)
    values: dict[str, Any] = {}
    for item in dataclasses.fields(cls):  # type: ignore[arg-type]
        if item.name not in obj:
            if item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING:
                raise BadRequest(f"“{item.name}” is missing")
            continue
        value = obj[item.name]
        if not _fits(value, hints[item.name]):
            raise BadRequest(f"“{item.name}” has the wrong type")
        values[item.name] = value
    sid = values.get("sid")
    if sid is not None and not _SID.match(sid):
        raise BadRequest("“sid” may hold letters, digits, _ and - only, 1 to 128 of them")
    return cls(**values)


def _fits(value: Any, hint: Any) -> bool:
    origin = get_origin(hint)
    if origin is Union:
        return any(_fits(value, part) for part in get_args(hint))
    if origin is list:
        (part,) = get_args(hint)
        return isinstance(value, list) and all(_fits(item, part) for item in value)
    if origin is dict:
        key_hint, value_hint = get_args(hint)
        return isinstance(value, dict) and all(
            _fits(key, key_hint) and _fits(item, value_hint) for key, item in value.items()
        )
    if hint is Any:
        return True
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, hint)


def to_wire(request: Any) -> dict[str, Any]:
    """The fields of a request as plain JSON values."""
    return dataclasses.asdict(request)
