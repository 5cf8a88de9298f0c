"""Handing lines to a living process: whole, in order, after the marker; and what is said when it can't be."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.loop import on_loop
from tests.process.agents import Desk, desk, home
from walnut_desktop.daemon import sending
from walnut_desktop.daemon.sending import encode_line
from walnut_desktop.protocol.messages import RemoteError, Send, SendRaw, Start

__all__ = ["home"]


def place(it: Desk, sid: str, **fields: Any) -> int:
    """Where the line with these fields stands in the stream."""
    said = it.said(sid)
    return next(at for at, line in enumerate(said) if line.items() >= fields.items())


@pytest.mark.rule("S5.2")
@on_loop
async def test_the_marker_stands_before_anything_that_the_agent_can_answer(
    home: Path, tmp_path: Path
) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("echo")
        uuids = [await it.hand_over(sid, {"type": "user", "n": number}) for number in range(20)]
        echoes = await it.hear(sid, "echo", 20)
        assert [echo["told"]["n"] for echo in echoes] == list(range(20))
        for number, uuid in enumerate(uuids):
            marker = place(it, sid, subtype="walnut-injected", uuid=uuid)
            assert marker < place(it, sid, type="echo", told={"type": "user", "n": number})


@pytest.mark.rule("M2")
@on_loop
async def test_sends_at_once_are_whole_lines_in_order(home: Path, tmp_path: Path) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("echo")
        texts = [f"{number} " + "x" * (number % 4) * 60_000 for number in range(24)]
        await asyncio.gather(*(it.hand_over(sid, {"type": "user", "t": text}) for text in texts))
        echoes = await it.hear(sid, "echo", len(texts))
        assert [echo["told"]["t"] for echo in echoes] == texts


@pytest.mark.parametrize("text", ["x" * 900_000, "é" * 450_000, "😀" * 225_000, "日" * 300_000])
@on_loop
async def test_the_longest_message_of_any_script_arrives(
    home: Path, tmp_path: Path, text: str
) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("echo")
        await it.hand_over(sid, {"type": "user", "t": text})
        (echo,) = await it.hear(sid, "echo")
        assert echo["told"]["t"] == text


@on_loop
async def test_line_ends_of_other_worlds_do_not_cut_a_line(home: Path, tmp_path: Path) -> None:
    """Some readers take U+2028 for the end of a line, which would kill the agent."""
    async with desk(home, tmp_path) as it:
        sid = await it.agent("echo")
        text = "a\u2028b\u2029c\x85d\re\nf\x00\x0b\ud800"
        await it.host.request("send", Send(sid, "u", {"type": "user", "t": text}))
        (echo,) = await it.hear(sid, "echo")
        assert echo["told"]["t"][:-1] == text[:-1]
        sent = encode_line({"t": text})
        assert b"\xe2\x80" not in sent
        assert sent.count(b"\n") == 1


@on_loop
async def test_a_longer_one_is_refused_and_the_agent_goes_on(home: Path, tmp_path: Path) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("echo")
        with pytest.raises(RemoteError) as caught:
            await it.hand_over(sid, {"type": "user", "t": "x" * 1_100_000})
        assert caught.value.error == "too_long"
        await it.hand_over(sid, {"type": "user", "t": "short"})
        (echo,) = await it.hear(sid, "echo")
        assert echo["told"]["t"] == "short"
        assert not [line for line in it.said(sid) if len(str(line)) > 1_000_000], (
            "no marker of what was never sent"
        )


@pytest.mark.rule("M3")
@on_loop
async def test_an_agent_that_does_not_read_is_busy_and_nothing_is_marked(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "EMPTY_WAIT_S", 0.1)
    async with desk(home, tmp_path) as it:
        sid = await it.agent("deaf")
        first = await it.hand_over(sid, {"type": "user", "n": 1})
        with pytest.raises(RemoteError) as caught:
            await it.host.request("send", Send(sid, "second", {"type": "user", "n": 2}))
        assert caught.value.error == "busy"
        marked = [line["uuid"] for line in it.said(sid) if line.get("subtype") == "walnut-injected"]
        assert marked == [first]
        other = await it.agent("echo")
        await it.hand_over(other, {"type": "user"})
        assert await it.hear(other, "echo"), "other sessions go on"


@pytest.mark.rule("G10")
@on_loop
async def test_an_answer_is_marked_after_it_is_written(home: Path, tmp_path: Path) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("echo")
        await it.host.request("send_raw", SendRaw(sid, {"type": "control_response"}, answers="r1"))
        await it.hear(sid, "echo")
        assert [
            line["request_id"] for line in it.said(sid) if line.get("subtype") == "answered"
        ] == ["r1"]
        await it.host.request("send_raw", SendRaw(sid, {"type": "control_request"}))
        await it.hear(sid, "echo", 2)
        assert not any(line.get("subtype") == "walnut-injected" for line in it.said(sid))


@on_loop
async def test_what_has_no_process_is_told_so(home: Path, tmp_path: Path) -> None:
    async with desk(home, tmp_path) as it:
        for op, message in (
            ("send", Send("none", "u", {"type": "user"})),
            ("send_raw", SendRaw("none", {"type": "x"})),
        ):
            with pytest.raises(RemoteError) as caught:
                await it.host.request(op, message)
            assert caught.value.error == "not_running"
        sid = await it.agent("echo")
        await it.hand_over(sid, {"exit": 3})
        await it.hear_if(sid, lambda line: line.get("subtype") == "process-end")
        with pytest.raises(RemoteError) as caught:
            await it.hand_over(sid, {"type": "user"})
        assert caught.value.error == "not_running"


@pytest.mark.parametrize(
    ("op", "fields"),
    [
        ("send", {"sid": "a/b", "uuid": "u", "line": {}}),
        ("send", {"sid": "a"}),
        ("no-such-thing", {}),
        ("attach", {"sid": "a", "offset": "0"}),
        ("read_stream", {"sid": "a", "offset": -1, "length": 1}),
        ("read_stream", {"sid": "a", "offset": 0, "length": 1 << 40}),
    ],
)
@on_loop
async def test_a_bad_request_is_refused_and_the_link_goes_on(
    home: Path, tmp_path: Path, op: str, fields: dict[str, Any]
) -> None:
    async with desk(home, tmp_path) as it:
        link = await it.host._ready()
        with pytest.raises(RemoteError, match="Bad request") as caught:
            await link.request(op, fields)
        assert caught.value.error == "bad_request"
        assert (await it.hello())["protocol"] == 1


@pytest.mark.rule("S14")
@on_loop
async def test_a_session_that_runs_elsewhere_is_not_started(home: Path, tmp_path: Path) -> None:
    (tmp_path / "c" / "sessions").mkdir(parents=True)
    entry = {"pid": os.getpid(), "sessionId": "s1", "kind": "interactive"}
    (tmp_path / "c" / "sessions" / "1.json").write_text(json.dumps(entry))
    async with desk(home, tmp_path) as it:
        for resume in (False, True):
            with pytest.raises(RemoteError) as caught:
                await it.host.request(
                    "start",
                    Start("s1", ["true"], "/", str(home), resume, config_dir=str(tmp_path / "c")),
                )
            assert caught.value.error == "held_elsewhere"
            assert caught.value.detail == {"pid": os.getpid()}
        assert not it.stream("s1").exists()
