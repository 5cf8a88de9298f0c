"""Who is called for what: every case, written down (Rules G2, G11, T15)."""

from __future__ import annotations

import pytest

from walnut_desktop.domain.attention import Happening, Watching, decide_notify, sets_attention

# window in front, on this task: who speaks
TABLE = {
    (False, False): set(Happening),
    (False, True): set(Happening),
    (True, False): set(Happening) - {Happening.TURN_DONE},
    (True, True): set[Happening](),
}


@pytest.mark.rule("G2")
@pytest.mark.rule("G11")
@pytest.mark.parametrize("happening", Happening)
@pytest.mark.parametrize(("active", "shown"), TABLE)
def test_who_is_called(happening: Happening, active: bool, shown: bool) -> None:
    notice = decide_notify(happening, Watching(active, shown))
    assert notice.show is (happening in TABLE[active, shown])
    assert notice.headline
    assert notice.reason


def test_each_headline_is_its_own() -> None:
    away = Watching(False, False)
    assert len({decide_notify(one, away).headline for one in Happening}) == len(Happening)


@pytest.mark.rule("T15")
@pytest.mark.parametrize(("active", "shown"), TABLE)
def test_a_dot_is_for_what_was_not_seen(active: bool, shown: bool) -> None:
    assert sets_attention(Watching(active, shown)) is not (active and shown)
