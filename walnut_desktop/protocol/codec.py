"""Frames on a byte stream: `u32 length, u8 kind, payload` (D25). Pure.

Kind 0 is one JSON object. Kind 1 is a piece of a bulk answer, kind 2 a piece of a session's stream file;
both carry raw bytes behind a small header, because JSON of 28 MB blocks both ends for a sixth of a second.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple, Union

JSON, BULK, STREAM = 0, 1, 2
MAX_FRAME = 8 * 1024 * 1024
CHUNK = 32 * 1024

_HEAD = struct.Struct(">IB")
_BULK = struct.Struct(">I?")
_STREAM = struct.Struct(">IQ")


class ProtocolError(Exception):
    """The other side does not speak this protocol; the connection must end."""


class BulkPiece(NamedTuple):
    """A piece of a bulk answer; `last` ends it."""

    transfer: int
    last: bool
    data: bytes


class StreamPiece(NamedTuple):
    """Bytes of a stream file from `offset` on, for the attached stream `stream`."""

    stream: int
    offset: int
    data: bytes


Frame = Union[dict[str, Any], BulkPiece, StreamPiece]


def encode_json(obj: dict[str, Any]) -> bytes:
    """A JSON frame. Raises ProtocolError when it is over 8 MB: such answers go in bulk."""
    payload = json.dumps(obj, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    if len(payload) > MAX_FRAME:
        raise ProtocolError(f"a message of {len(payload)} bytes is too long for one frame")
    return _HEAD.pack(len(payload), JSON) + payload


def encode_bulk(piece: BulkPiece) -> bytes:
    """A bulk frame."""
    return (
        _HEAD.pack(_BULK.size + len(piece.data), BULK)
        + _BULK.pack(piece.transfer, piece.last)
        + piece.data
    )


def encode_stream(piece: StreamPiece) -> bytes:
    """A stream frame."""
    return (
        _HEAD.pack(_STREAM.size + len(piece.data), STREAM)
        + _STREAM.pack(piece.stream, piece.offset)
        + piece.data
    )


class Decoder:
    """Cuts bytes into frames; raises ProtocolError at nonsense."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that `data` completes."""
        buffer = self._buffer
        buffer += data
        at = 0
        try:
            while len(buffer) - at >= _HEAD.size:
                length, kind = _HEAD.unpack_from(buffer, at)
                if length > MAX_FRAME or kind > STREAM:
                    raise ProtocolError(f"not a frame: length {length}, kind {kind}")
                end = at + _HEAD.size + length
                if len(buffer) < end:
                    break
                payload = bytes(buffer[at + _HEAD.size : end])
                at = end
                yield _decode(kind, payload)
        finally:
            del buffer[:at]


def _decode(kind: int, payload: bytes) -> Frame:
    try:
        if kind == BULK:
            transfer, last = _BULK.unpack_from(payload)
            return BulkPiece(transfer, last, payload[_BULK.size :])
        if kind == STREAM:
            stream, offset = _STREAM.unpack_from(payload)
            return StreamPiece(stream, offset, payload[_STREAM.size :])
        obj = json.loads(payload)
    except (struct.error, ValueError, RecursionError) as error:
        raise ProtocolError(f"a frame can't be read: {error}") from None
    if not isinstance(obj, dict):
        raise ProtocolError("a message must be an object")
    return obj
