"""Requests off the wire: what is wrong is refused and named, what is new is ignored."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from walnut_desktop.protocol.messages import (
    Attach,
    BadRequest,
    Lookup,
    ReadStream,
    Send,
    SendRaw,
    Shutdown,
    Start,
    Status,
    Stop,
    parse,
    to_wire,
)

WHOLE: list[Any] = [
    Start("s", ["claude", "-p"], "/tmp", "/h", resume=True, env={"A": "b"}, task="t"),
    Attach("s", 7, "e"),
    Send("s", "u", {"type": "user"}),
    SendRaw("s", {"type": "x"}, answers="r"),
    Stop("s", "/h", "automatic", strict=True, reason="orphan", expect_pid=5),
    Stop("s", "/h"),
    Status("s"),
    Lookup("s", ["a", "b"], "~/.claude"),
    ReadStream("s", 1, 2),
    Shutdown("/h", end_sessions=True),
]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("request_", WHOLE, ids=lambda it: type(it).__name__)
def test_there_and_back(request_: Any) -> None:
    wire = json.loads(json.dumps({"id": 1, "op": "x", "new_field": [1], **to_wire(request_)}))
    assert parse(type(request_), wire) == request_


@pytest.mark.parametrize("request_", WHOLE, ids=lambda it: type(it).__name__)
def test_what_is_missing_is_named(request_: Any) -> None:
    for item in dataclasses.fields(request_):
        wire = to_wire(request_)
        del wire[item.name]
        needed = item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
        if not needed:
            parse(type(request_), wire)
            continue
        with pytest.raises(BadRequest, match=f"“{item.name}” is missing"):
            parse(type(request_), wire)


@given(st.sampled_from(WHOLE), st.data())
def test_a_value_of_any_type_is_taken_whole_or_refused(request_: Any, data: st.DataObject) -> None:
    item = data.draw(st.sampled_from(dataclasses.fields(request_)))
    value = data.draw(JSON)
    wire = {**to_wire(request_), item.name: value}
    try:
        got = getattr(parse(type(request_), wire), item.name)
    except BadRequest as error:
        refusal = str(error)
    else:
        assert got == value
        assert type(got) in types_of(item.name)
        return
    assert f"“{item.name}”" in refusal


def types_of(name: str) -> set[type]:
    """What a field may hold, written down once more."""
    if name in ("resume", "strict", "end_sessions"):
        return {bool}
    if name in ("argv", "uuids"):
        return {list}
    if name in ("env", "line"):
        return {dict}
    if name == "expect_pid":
        return {int, type(None)}
    return {int} if name in ("offset", "length") else {str}


@pytest.mark.parametrize(
    "changes",
    [
        {"argv": "claude"},
        {"argv": ["claude", 1]},
        {"env": {"A": 1}},
        {"env": ["A"]},
        {"resume": 1},
        {"cwd": None},
    ],
)
def test_wrong_types_of_a_start(changes: dict[str, Any]) -> None:
    (name,) = changes
    with pytest.raises(BadRequest, match=f"“{name}” has the wrong type"):
        parse(Start, {**to_wire(WHOLE[0]), **changes})


def test_true_is_no_number() -> None:
    with pytest.raises(BadRequest):
        parse(ReadStream, {"sid": "s", "offset": True, "length": 1})
    with pytest.raises(BadRequest):
        parse(Stop, {"sid": "s", "home": "/h", "expect_pid": False})


@pytest.mark.rule("O2")
@pytest.mark.parametrize(
    "sid", ["", ".", "..", "a/b", "../x", "a.b", "a b", "a\x00", "é", "x" * 129, "a\n", "-x\n"]
)
def test_a_session_id_that_is_no_file_name_is_refused(sid: str) -> None:
    with pytest.raises(BadRequest, match="sid"):
        parse(Status, {"sid": sid})
    assert parse(Status, {"sid": "x" * 128}).sid == "x" * 128
