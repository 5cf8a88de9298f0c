"""Frames survive any cutting, and nonsense ends the connection instead of the program (D25)."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from walnut_desktop.protocol.codec import (
    MAX_FRAME,
    BulkPiece,
    Decoder,
    Frame,
    ProtocolError,
    StreamPiece,
    encode_bulk,
    encode_json,
    encode_stream,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    st.lists,
    max_leaves=5,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)
FRAMES = st.one_of(
    OBJECTS,
    st.builds(BulkPiece, st.integers(0, 2**32 - 1), st.booleans(), st.binary(max_size=40)),
    st.builds(StreamPiece, st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1), st.binary()),
)


def encoded(frame: Frame) -> bytes:
    """A frame of any kind as bytes."""
    if isinstance(frame, BulkPiece):
        return encode_bulk(frame)
    return encode_stream(frame) if isinstance(frame, StreamPiece) else encode_json(frame)


@given(st.lists(FRAMES, max_size=5), st.integers(1, 50))
def test_any_frames_in_any_pieces_come_out_as_they_went_in(frames: list[Frame], size: int) -> None:
    data = b"".join(encoded(frame) for frame in frames)
    decoder, got = Decoder(), list[Frame]()
    for at in range(0, len(data), size):
        got.extend(decoder.feed(data[at : at + size]))
    assert got == frames


@given(st.binary(max_size=200))
def test_nonsense_is_waited_for_or_refused(data: bytes) -> None:
    try:
        for frame in Decoder().feed(data):
            assert isinstance(frame, dict | BulkPiece | StreamPiece)
    except ProtocolError:
        pass


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">IB", MAX_FRAME + 1, 0),
        struct.pack(">IB", 0, 9),
        struct.pack(">IB", 2, 0) + b"[]",
        struct.pack(">IB", 3, 0) + b"{x}",
        struct.pack(">IB", 2, 1) + b"ab",
        struct.pack(">IB", 4, 2) + b"abcd",
    ],
)
def test_what_is_no_frame_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        list(Decoder().feed(data))


def test_what_is_too_long_for_a_frame_is_not_sent() -> None:
    too_long: dict[str, Any] = {"text": "x" * MAX_FRAME}
    with pytest.raises(ProtocolError, match="too long"):
        encode_json(too_long)


def test_the_frames_before_the_nonsense_are_still_read() -> None:
    feed = Decoder().feed(encode_json({"a": 1}) + struct.pack(">IB", 0, 9))
    assert next(feed) == {"a": 1}
    with pytest.raises(ProtocolError):
        next(feed)
