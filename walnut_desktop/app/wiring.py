"""Who reacts to whom: every effect of one part on another stands here, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable

from walnut_desktop.domain.attention import Watching
from walnut_desktop.domain.events import HostChanged
from walnut_desktop.domain.ids import TaskId
from walnut_desktop.hosts.host import Host
from walnut_desktop.runtime.bus import Bus
from walnut_desktop.runtime.spawner import Spawner
from walnut_desktop.sessions.service import SessionService


def connect(
    bus: Bus,
    spawner: Spawner,
    host: Host,
    sessions: SessionService,
    watching: Callable[[TaskId | None], Watching],
) -> None:
    """Tie the parts of a core together."""

    def on_link(up: bool, detail: str) -> None:
        bus.publish([HostChanged(host.name, connected=up, detail=detail)])
        if up:
            spawner.spawn(sessions.link_back(), "link-back")
        else:
            sessions.link_lost()

    host.on_link = on_link
    sessions.follower.watching = watching
