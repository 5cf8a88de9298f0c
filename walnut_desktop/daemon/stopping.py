"""Who may end a session (Rule O4), as one pure decision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Optional

from walnut_desktop.protocol.messages import Stop


class Refusal(NamedTuple):
    """Why a stop is refused: a word, and the detail for the log."""

    reason: str
    detail: str


def owner_refusal(request: Stop, first_line: Optional[Mapping[str, Any]]) -> Optional[Refusal]:
    """None when the asker may end it. The first journal line of the session decides.

    It names a home: only that home. It names none: strict askers are refused. No line: only a person.
    """
    if not request.home:
        return Refusal("bad_request", "no_home")
    if first_line is None:
        if request.strict or request.initiator != "human":
            return Refusal("not_owned", "not_journaled")
        return None
    owner = first_line.get("home")
    if isinstance(owner, str) and owner:
        return None if owner == request.home else Refusal("not_owned", "other_walnut")
    return Refusal("not_owned", "no_journaled_walnut") if request.strict else None
