"""What a daemon can do, by name (Rule O11): the core asks an older one only for what it has."""

from __future__ import annotations

from collections.abc import Iterable

STREAMS = "streams-v1"  # attach from an offset, fed by cursor, with credit
SEND_MARKERS = "send-markers-v1"  # a marker line before every message
OWNER_HOME = "owner-home-v1"  # stops name the asking home
LOOKUP = "lookup-v1"  # finds messages by uuid in the agent's own files
READ_RANGE = "read-range-v1"  # reads pieces of stream files on the bulk lane
EXIT_CODES = "exit-codes-v1"  # exit codes survive a restart of the daemon

ALL = (STREAMS, SEND_MARKERS, OWNER_HOME, LOOKUP, READ_RANGE, EXIT_CODES)


def missing(offered: Iterable[str], wanted: Iterable[str]) -> list[str]:
    """Which of the wanted capabilities are not offered."""
    have = set(offered)
    return [name for name in wanted if name not in have]
