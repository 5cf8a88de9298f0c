"""Clients that speak nonsense, ask and leave, or ask for too much: the daemon goes on for everybody else."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.loop import on_loop
from tests.process.agents import Desk, desk, eventually, home
from walnut_desktop.daemon.registry import Registry
from walnut_desktop.protocol.codec import BulkPiece, Decoder, encode_bulk, encode_json

__all__ = ["home"]


@asynccontextmanager
async def raw_client(
    it: Desk,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection without our own half of the protocol."""
    reader, writer = await asyncio.open_unix_connection(str(it.socket))
    try:
        yield reader, writer
    finally:
        writer.close()


async def answers(reader: asyncio.StreamReader, count: int) -> list[Any]:
    """The next frames."""
    decoder, got = Decoder(), list[Any]()
    while len(got) < count:
        data = await asyncio.wait_for(reader.read(65536), 5)
        assert data, f"closed after {got}"
        got += decoder.feed(data)
    return got


@pytest.mark.rule("F5")
@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        struct.pack(">IB", 0xFFFFFFFF, 0),
        struct.pack(">IB", 5, 0) + b"[1,2]",
        encode_bulk(BulkPiece(1, True, b"x")),
        b"\x00" * 64,
    ],
)
@on_loop
async def test_nonsense_ends_its_own_connection_only(
    home: Path, tmp_path: Path, data: bytes
) -> None:
    async with desk(home, tmp_path) as it:
        async with raw_client(it) as (reader, writer):
            writer.write(data)
            with suppress(ConnectionResetError):
                assert await asyncio.wait_for(reader.read(), 5) == b""
        assert await it.hello()


@pytest.mark.parametrize(
    "frame",
    [
        {"op": "ack", "stream": [1]},
        {"op": "ack", "transfer": {}},
        {"op": "ack", "stream": 1, "offset": "9"},
        {"op": "ack"},
        {"op": "detach", "stream": {"a": 1}},
        {"op": ["hello"]},
        {"id": {"a": 1}},
        {},
        {"op": "status", "sid": None},
    ],
)
@on_loop
async def test_odd_messages_are_answered_or_ignored_and_the_next_one_is_heard(
    home: Path, tmp_path: Path, frame: dict[str, Any]
) -> None:
    async with desk(home, tmp_path) as it:
        async with raw_client(it) as (reader, writer):
            writer.write(encode_json(frame) + encode_json({"id": 2, "op": "hello"}))
            expected = 1 if frame.get("op") == "ack" else 2
            got = await answers(reader, expected)
        assert [answer["ok"] for answer in got if answer["id"] == 2] == [True]
        if expected == 2 and frame.get("op") != "detach":
            assert [answer["error"] for answer in got if answer["id"] != 2] == ["bad_request"]


@pytest.mark.rule("F5")
@on_loop
async def test_who_asks_and_leaves_costs_nothing(home: Path, tmp_path: Path) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("floods", "2")
        await it.hear(sid, "ready")
        await it.hello()
        own = Path("/proc/self/fd")
        before = len(list(own.iterdir()))
        for number in range(20):
            async with raw_client(it) as (_reader, writer):
                for op in ("read_stream", "attach") * 3:
                    ask = {"op": op, "id": 1, "sid": sid, "offset": 0, "length": 10**6}
                    writer.write(encode_json(ask))
                if number % 2:
                    writer.transport.abort()
        await eventually(lambda: len(list(own.iterdir())) <= before, "everything is closed again")


@on_loop
async def test_an_answer_that_is_too_long_is_an_error_not_a_silence(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(home, tmp_path) as it:
        big = {"sid": "x", "stderr": "y" * 9_000_000}
        monkeypatch.setattr(Registry, "describe", lambda _self, _sid: big)
        async with raw_client(it) as (reader, writer):
            writer.write(encode_json({"id": 7, "op": "status", "sid": "x"}))
            (answer,) = await answers(reader, 1)
        assert (answer["id"], answer["ok"], answer["error"]) == (7, False, "internal")
        monkeypatch.undo()
