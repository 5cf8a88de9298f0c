"""Sums of heights against plain lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from walnut_desktop.gui.transcript_view.heights import SHORT, Heights

heights = st.lists(st.integers(0, 500).map(float), max_size=80)


def check(sums: Heights, values: list[float]) -> None:
    """The tree says the same as the list."""
    assert len(sums) == len(values)
    assert sums.total == sum(values)
    for row in range(len(values) + 1):
        assert sums.before(row) == sum(values[:row])
    for row, value in enumerate(values):
        assert sums[row] == value


@given(heights)
def test_building(values: list[float]) -> None:
    check(Heights(values), values)


@given(
    heights, st.lists(st.tuples(st.integers(0, 79), st.integers(0, 900).map(float)), max_size=20)
)
def test_setting(values: list[float], changes: list[tuple[int, float]]) -> None:
    sums = Heights(values)
    for row, value in changes:
        if row < len(values):
            sums.set(row, value)
            values[row] = value
    check(sums, values)


@given(heights, heights)
def test_appending(values: list[float], more: list[float]) -> None:
    sums = Heights(values)
    for value in more:
        sums.append(value)
    check(sums, values + more)


@given(heights, st.integers(0, 80), st.integers(0, 80), heights)
def test_splicing(values: list[float], start: int, count: int, new: list[float]) -> None:
    start = min(start, len(values))
    stop = min(start + count, len(values))
    sums = Heights(values)
    sums.splice(start, stop, new)
    values[start:stop] = new
    check(sums, values)
    sums.append(7.0)
    check(sums, [*values, 7.0])


def test_splicing_near_the_end_of_a_long_list() -> None:
    values = [float(n % 7) for n in range(10 * SHORT)]
    sums = Heights(values)
    at = len(values) - 3
    sums.splice(at, at + 1, [9.0, 8.0])
    values[at : at + 1] = [9.0, 8.0]
    check(sums, values)


@given(heights.filter(bool), st.floats(-50, 40_000))
def test_finding(values: list[float], y: float) -> None:
    sums = Heights(values)
    row, into = sums.find(y)
    assert 0 <= row < len(values)
    if 0 < y < sum(values):
        assert sums.before(row) + into == pytest.approx(y)
        assert 0 <= into < values[row]


def test_nothing_is_found_in_nothing() -> None:
    assert Heights().find(10) == (0, 0.0)
