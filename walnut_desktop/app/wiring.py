"""Who reacts to whom: every effect of one part on another stands here, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walnut_desktop.domain.events import HostChanged

if TYPE_CHECKING:
    from walnut_desktop.app.core import Core


def connect(core: Core) -> None:
    """Tie the parts of a core together."""

    def on_link(up: bool, detail: str) -> None:
        core.bus.publish([HostChanged(core.host.name, connected=up, detail=detail)])
        if up:
            core.spawner.spawn(core.sessions.link_back(), "link-back")
        else:
            core.sessions.link_lost()

    core.host.on_link = on_link
    core.sessions.follower.watching = core.watching
