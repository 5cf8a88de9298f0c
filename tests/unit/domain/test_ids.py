"""Task ids and their prefixes (Rule T17)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from walnut_desktop.domain.errors import AmbiguousId, InvalidInput, NotFound
from walnut_desktop.domain.ids import (
    MAX_CANDIDATES,
    MIN_PREFIX,
    TaskId,
    make_task_id,
    resolve_prefix,
)

IDS = st.builds(make_task_id, st.integers(0, 2**44), st.integers(0, 2**16 - 1))
TITLES = st.dictionaries(IDS, st.text(max_size=5), min_size=1, max_size=30)


@given(st.integers(0, 2**50), st.integers(0, 2**32))
def test_an_id_holds_its_time(milliseconds: int, bits: int) -> None:
    task_id = make_task_id(milliseconds, bits)
    assert re.fullmatch(r"[0-9a-z]+-[0-9a-f]{4}", task_id)
    digits, _, random = task_id.partition("-")
    assert int(digits, 36) == milliseconds
    assert int(random, 16) == bits % 2**16


@pytest.mark.rule("T17")
@given(TITLES, st.data())
def test_a_prefix_names_what_begins_with_it(titles: dict[TaskId, str], data: st.DataObject) -> None:
    task_id = data.draw(st.sampled_from(sorted(titles)))
    cut = data.draw(st.integers(0, len(task_id)))
    given_text = task_id[:cut]
    fits = sorted(other for other in titles if other.startswith(given_text))
    typed = data.draw(st.sampled_from([given_text, given_text.upper(), f"  {given_text}\n"]))
    if TaskId(given_text) in titles:
        assert resolve_prefix(typed, titles) == given_text
    elif cut < MIN_PREFIX:
        with pytest.raises(InvalidInput):
            resolve_prefix(typed, titles)
    elif len(fits) == 1:
        assert resolve_prefix(typed, titles) == task_id
    else:
        with pytest.raises(AmbiguousId) as caught:
            resolve_prefix(typed, titles)
        assert len(caught.value.candidates) == min(len(fits), MAX_CANDIDATES)
        assert [name.split(" ")[0] for name in caught.value.candidates] == fits[:MAX_CANDIDATES]


@pytest.mark.rule("T17")
def test_candidates_are_named_with_their_titles() -> None:
    titles = {TaskId("abcd-1111"): "Paint", TaskId("abcd-2222"): "Sand", TaskId("x-1"): "Oil"}
    with pytest.raises(AmbiguousId) as caught:
        resolve_prefix("abcd", titles)
    assert "Paint" in str(caught.value)
    assert "Sand" in str(caught.value)
    assert "Oil" not in str(caught.value)
    assert caught.value.status == 409


@pytest.mark.rule("T17")
def test_a_whole_id_wins_over_longer_ones_and_a_wrong_one_is_not_found() -> None:
    titles = {TaskId("abc"): "short", TaskId("abcd"): "long"}
    assert resolve_prefix("abc", titles) == "abc"
    with pytest.raises(NotFound):
        resolve_prefix("zzz", titles)
