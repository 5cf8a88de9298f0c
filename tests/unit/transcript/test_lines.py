"""From bytes to lines: offsets are true, nothing is lost behind garbage, every text can be stored (S10)."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walnut_desktop.transcript.lines import Line, LineSplitter, plain_loads, read_lines

LOADS = [plain_loads, orjson.loads]


def read(data: bytes, loads: Any = orjson.loads, chunk: int = 1 << 20, **how: Any) -> list[Line]:
    """The lines of some bytes."""
    splitter, lines = LineSplitter(), list[Line]()
    for at in range(0, len(data), chunk):
        lines += read_lines(splitter, data[at : at + chunk], loads, **how)
    return lines


@pytest.mark.rule("S10")
@given(st.lists(st.binary(max_size=30).map(lambda raw: raw.replace(b"\n", b""))), st.integers(1, 9))
def test_offsets_name_the_bytes_of_each_line(raw: list[bytes], chunk: int) -> None:
    data = b"".join(line + b"\n" for line in raw) + b"torn"
    splitter, got, at = LineSplitter(), list[tuple[bytes | None, int, int]](), 0
    while at < len(data):
        assert splitter.read_offset == at
        got += splitter.feed(data[at : at + chunk])
        at += chunk
    assert [line for line, _, _ in got] == raw
    assert all(data[start:end] == (line or b"") + b"\n" for line, start, end in got)
    assert splitter.offset == len(data) - 4


@pytest.mark.rule("S10")
@pytest.mark.parametrize("loads", LOADS)
def test_a_torn_line_that_is_glued_to_a_whole_one_gives_the_whole_one(loads: Any) -> None:
    (line,) = read(b'{"type":"assistant","mess{"type":"result","n":1}\n', loads)
    assert line.obj == {"type": "result", "n": 1}
    assert line.torn


@pytest.mark.rule("S10")
def test_a_line_that_is_too_long_is_left_out_and_the_next_one_is_read() -> None:
    splitter = LineSplitter(max_line=100)
    data = b'{"a":1}\n' + b"x" * 1000 + b'\n{"b":2}\n'
    lines = [
        line for at in range(0, len(data), 50) for line in read_lines(splitter, data[at : at + 50])
    ]
    assert [line.obj for line in lines] == [{"a": 1}, None, {"b": 2}]
    assert splitter.offset == len(data)


def texts(value: Any) -> list[str]:
    """Every text in a value, keys included."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in texts(part)]
    return [text for item in value for text in texts(item)] if isinstance(value, list) else []


@pytest.mark.rule("S10")
@pytest.mark.parametrize("loads", LOADS)
@pytest.mark.parametrize(
    "raw",
    [
        rb'{"type":"a","text":"half an emoji \ud83d"}',
        rb'{"type":"a","text":["\udca9 \ud83d\ude00"],"\ud800":{"x":"\udfff"}}',
        b'{"type":"a","text":"\xff\xfe"}',
        b'{"type":"a","text":"\xed\xa0\xbd"}',
        rb'{"type":"a","text":"\\ud83d is no escape"}',
    ],
)
def test_every_text_can_be_stored(loads: Any, raw: bytes) -> None:
    """An agent that cuts a text in the middle of an emoji writes half a pair."""
    (line,) = read(raw + b"\n", loads)
    assert line.obj is not None
    assert line.obj["type"] == "a"
    assert all(text.encode() or True for text in texts(line.obj))


@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_stop_it(data: bytes, skip: bool) -> None:
    lines = read(data + b'\n{"type":"end"}\n', skip_deltas=skip)
    assert lines[-1].obj == {"type": "end"}
    assert all(text.encode() or True for line in lines for text in texts(line.obj or {}))


def test_u2028_does_not_end_a_line() -> None:
    (line,) = read('{"type":"a","text":"x\u2028y"}\n'.encode())
    assert line.obj == {"type": "a", "text": "x\u2028y"}
