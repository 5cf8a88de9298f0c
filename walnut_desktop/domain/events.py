"""What has happened, as values on the bus. Past tense, frozen, published after commit, in commit order."""

from __future__ import annotations

from dataclasses import dataclass

from walnut_desktop.domain.attention import Happening
from walnut_desktop.domain.ids import Sid, TaskId
from walnut_desktop.domain.message import Message
from walnut_desktop.domain.session import Session
from walnut_desktop.domain.task import Task


@dataclass(frozen=True)
class Event:
    """Anything that can be published."""


@dataclass(frozen=True)
class TaskChanged(Event):
    """A task was made or changed; carries its new state."""

    task: Task
    created: bool = False


@dataclass(frozen=True)
class TaskDeleted(Event):
    """A task is gone."""

    task_id: TaskId


@dataclass(frozen=True)
class SessionChanged(Event):
    """A session was made or changed; carries its new state with pending requests."""

    session: Session


@dataclass(frozen=True)
class SessionDeleted(Event):
    """A session that never came to be was taken back."""

    sid: Sid


@dataclass(frozen=True)
class MessageChanged(Event):
    """A message was queued or moved on."""

    message: Message


@dataclass(frozen=True)
class Happened(Event):
    """Something that may call the person; `key` names it once for ever."""

    key: str
    happening: Happening
    sid: Sid
    task_id: TaskId | None
    title: str
    detail: str


@dataclass(frozen=True)
class HappeningOver(Event):
    """What called the person is answered, recovered or seen (Rule G11)."""

    key: str


@dataclass(frozen=True)
class HostChanged(Event):
    """The link to a host's daemon came or went; `detail` is a sentence."""

    host: str | None
    connected: bool
    detail: str = ""


@dataclass(frozen=True)
class Problem(Event):
    """An error that belongs to nobody's call; shown once, as a sentence."""

    message: str
    hint: str = ""
