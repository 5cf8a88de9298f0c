"""Who may end a session: every case of the decision (Rule O4)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import pytest

from walnut_desktop.daemon.stopping import owner_refusal
from walnut_desktop.protocol.messages import Stop

SID = "11111111-2222-4333-8444-555555555555"
MINE, OTHER = "/one/.open-walnut", "/another"
LINES: list[Mapping[str, Any] | None] = [None, {}, {"home": ""}, {"home": MINE}, {"home": OTHER}]


def asked(home: str, *, strict: bool, initiator: str) -> Stop:
    """A request to end the session."""
    return Stop(sid=SID, home=home, strict=strict, initiator=initiator)


@pytest.mark.rule("O4")
@pytest.mark.parametrize("home", ["", MINE])
@pytest.mark.parametrize("line", LINES)
def test_all_cases(home: str, line: Mapping[str, Any] | None) -> None:
    for strict, initiator in itertools.product((False, True), ("human", "automatic")):
        refusal = owner_refusal(asked(home, strict=strict, initiator=initiator), line)
        if not home:
            expected: str | None = "no_home"
        elif line is None:
            expected = "not_journaled" if strict or initiator != "human" else None
        elif line.get("home"):
            expected = None if line["home"] == home else "other_walnut"
        else:
            expected = "no_journaled_walnut" if strict else None
        assert (refusal.detail if refusal else None) == expected, (home, line, strict, initiator)


@pytest.mark.rule("O4")
def test_nobody_ends_the_session_of_another_home_even_by_hand() -> None:
    refusal = owner_refusal(asked(MINE, strict=False, initiator="human"), {"home": OTHER})
    assert refusal is not None
    assert refusal.reason == "not_owned"
