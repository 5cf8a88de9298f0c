"""A start is whole or leaves nothing, and no process is ever without an owner (Rules S1, O2, O10)."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.fakes.loop import on_loop
from tests.process.agents import Desk, daemon, desk, eventually, home, lives
from walnut_desktop.daemon import fifo, stream_file
from walnut_desktop.daemon.registry import Owned
from walnut_desktop.protocol.messages import RemoteError

__all__ = ["home"]


def no_space(*_args: Any, **_more: Any) -> Any:
    """A disk that is full."""
    raise OSError(28, "No space left on device")


def files_of(it: Desk) -> list[str]:
    """What lies in the folder of streams."""
    return sorted(path.name for path in it.stream("x").parent.iterdir())


@pytest.mark.rule("S1")
@pytest.mark.parametrize("step", ["pipe", "marker", "open"])
@on_loop
async def test_a_full_disk_leaves_nothing_of_a_new_session(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    async with desk(home, tmp_path) as it:
        if step == "marker":
            monkeypatch.setattr(stream_file, "append_marker", no_space)
        else:
            monkeypatch.setattr(fifo, "make" if step == "pipe" else "Fifo", no_space)
        with pytest.raises(RemoteError, match="No space") as caught:
            await it.agent("echo", sid="s1")
        assert caught.value.error == "disk"
        assert files_of(it) == []
        monkeypatch.undo()
        assert await it.agent("echo", sid="s1") == "s1", "its id is free"


@on_loop
async def test_a_full_disk_at_a_resume_closes_the_stream_again(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("echo")
        await it.hear(sid, "ready")
        await it.stop(sid)
        monkeypatch.setattr(fifo, "Fifo", no_space)
        with pytest.raises(RemoteError):
            await it.agent("echo", resume=sid)
        monkeypatch.undo()
        marks = [line for line in it.said(sid) if line["type"] == "walnut"]
        assert [mark["subtype"] for mark in marks[1:]] == ["process-start", "process-end"] * 2
        assert marks[3]["spawn"] == marks[4]["spawn"]
        assert not (await it.status(sid))["alive"]


@pytest.mark.rule("O2")
@on_loop
async def test_a_process_that_can_not_be_recorded_is_not_left_alone(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(home, tmp_path) as it:
        before = {child.pid for child in psutil.Process().children(recursive=True)}
        monkeypatch.setattr(Owned, "save", no_space)
        with pytest.raises(RemoteError) as caught:
            await it.agent("deaf", sid="s1")
        assert caught.value.error == "disk"
        await eventually(lambda: it.exits, "its end")
        assert it.exits[0]["sid"] == "s1"
        assert not (await it.status("s1"))["alive"]
        await eventually(
            lambda: (
                {
                    child.pid
                    for child in psutil.Process().children(recursive=True)
                    if child.status() != psutil.STATUS_ZOMBIE
                }
                <= before
            ),
            "no process",
        )


@pytest.mark.rule("O7")
@on_loop
async def test_a_full_disk_does_not_stop_a_stop(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(home, tmp_path) as it:
        sid = await it.agent("echo")
        monkeypatch.setattr(Owned, "save", no_space)
        monkeypatch.setattr(stream_file, "append_marker", no_space)
        assert (await it.stop(sid))["stopped"]
        assert not (await it.status(sid))["alive"]


def cut_before_the_record(it: Desk, sid: str) -> None:
    """As if the daemon had been killed between the spawn and its record."""
    it.stream(sid).with_suffix(".pgid").unlink()


@pytest.mark.rule("O10")
@pytest.mark.parametrize("spoil", [cut_before_the_record, lambda _it, _sid: None])
@on_loop
async def test_a_spawn_that_was_not_recorded_is_found_by_its_pipe(
    home: Path, tmp_path: Path, spoil: Callable[[Desk, str], None]
) -> None:
    async with daemon(home, tmp_path) as plain:
        it = Desk(plain.home, plain.folder)
        sid = await it.agent("leaves-tools")
        await it.hear(sid, "ready")
        before = await it.status(sid)
        helper = (await it.hello())["pid"]
        it.host.close()
        plain.host.close()
        os.kill(helper, signal.SIGKILL)
        await eventually(lambda: not lives(helper), "its end")
        spoil(it, sid)
        again = Desk(home, tmp_path)
        after = await again.status(sid)
        assert (after["alive"], after["pid"], after["spawn"]) == (
            True,
            before["pid"],
            before["spawn"],
        )
        assert (await again.stop(sid))["code"] == 0
        await again.end()
        await it.spawner.close()


@pytest.mark.rule("O10")
@on_loop
async def test_a_spawn_that_never_was_is_closed(home: Path, tmp_path: Path) -> None:
    streams = home / "sessions" / "streams"
    stream_file.ensure(streams / "s1.jsonl")
    fifo.make(streams / "s1.pipe")
    async with desk(home, tmp_path) as it:
        assert not (await it.status("s1"))["alive"]
        assert it.said("s1")[-1]["subtype"] == "process-end"
        assert files_of(it) == ["s1.jsonl"]


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"agent": 5, "shim": []}', b"\xff\xff"])
@on_loop
async def test_a_record_that_can_not_be_read_does_not_stop_the_daemon(
    home: Path, tmp_path: Path, raw: bytes
) -> None:
    streams = home / "sessions" / "streams"
    streams.mkdir(parents=True)
    (streams / "s1.pgid").write_bytes(raw)
    async with desk(home, tmp_path) as it:
        assert not (await it.status("s1"))["alive"]
        assert not (streams / "s1.pgid").exists()


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"cwd": "~nobody-of-this-name/x"}, "cwd_missing"),
        ({"cwd": "relative"}, "cwd_missing"),
        ({"cwd": "/dev/null"}, "cwd_missing"),
        ({"argv": []}, "bad_request"),
        ({"argv": ["/dev/null"]}, "program_missing"),
        ({"argv": ["/tmp"]}, "program_missing"),
        ({"env": {"A=B": "x"}}, "spawn_failed"),
    ],
)
@on_loop
async def test_what_can_not_be_started_is_told_and_leaves_nothing(
    home: Path, tmp_path: Path, changes: dict[str, Any], word: str
) -> None:
    async with desk(home, tmp_path) as it:
        with pytest.raises(RemoteError) as caught:
            await it.agent("echo", sid="s1", **changes)
        assert caught.value.error == word
        assert str(caught.value)
        assert files_of(it) == []
