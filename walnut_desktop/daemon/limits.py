"""How many files may be open: the daemon takes all it can have, its agents get what a shell would give."""

from __future__ import annotations

import resource

_given: list[tuple[int, int]] = []


def raise_own() -> None:
    """Take as many as the system allows; each session costs a few."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = hard if hard != resource.RLIM_INFINITY else max(soft, 65536)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (ValueError, OSError):
        return
    _given.append((soft, hard))


def give_back() -> None:
    """In a child: the limit as it was. Some programs close every number up to it."""
    if _given:
        resource.setrlimit(resource.RLIMIT_NOFILE, _given[0])
