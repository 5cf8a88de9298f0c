"""The files of a session: the journal decides whose it is, the stream holds our markers (Rule O2)."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from walnut_desktop.daemon import stream_file
from walnut_desktop.daemon.journal import MAX_LINE, Journal


def lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a file that are whole."""
    return [json.loads(raw) for raw in path.read_bytes().split(b"\n")[:-1]]


@pytest.mark.rule("O4")
def test_the_first_line_of_a_session_decides_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "sessions" / "spawns.jsonl"
    journal = Journal(path)
    assert journal.first("a") is None
    journal.append("a", "new", home="/one", cwd="/x")
    journal.append("b", "new", home="/two")
    journal.append("a", "resume", home="/two")
    for again in (journal, Journal(path)):
        first = again.first("a")
        assert first is not None
        assert (first["home"], first["kind"], first["cwd"]) == ("/one", "new", "/x")
    assert [line["sid"] for line in lines(path)] == ["a", "b", "a"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.rule("O2")
def test_a_torn_line_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "spawns.jsonl"
    Journal(path).append("a", "new", home="/one")
    with path.open("ab") as file:
        file.write(b'{"v":1,"sid":"b","home":"/tw')
    journal = Journal(path)
    assert journal.first("b") is None
    journal.append("c", "new", home="/three")
    again = Journal(path)
    assert [again.first(sid) is not None for sid in "abc"] == [True, False, True]


@given(st.lists(st.binary(max_size=30), max_size=5))
def test_garbage_in_the_journal_stops_nobody(
    tmp_path_factory: pytest.TempPathFactory, garbage: list[bytes]
) -> None:
    path = tmp_path_factory.getbasetemp() / "garbage.jsonl"
    path.write_bytes(
        b"\n".join([*garbage, b'{"sid":"a","home":"/one"}', b"[1]", b'{"sid":7}', b""])
    )
    first = Journal(path).first("a")
    assert first is not None
    assert first["home"] == "/one"


@pytest.mark.rule("O2")
def test_a_line_that_would_be_too_long_keeps_what_decides(tmp_path: Path) -> None:
    path = tmp_path / "spawns.jsonl"
    Journal(path).append("a", "new", home="/one", cwd="/x" * 4000)
    (line,) = lines(path)
    assert (line["sid"], line["home"]) == ("a", "/one")
    assert path.stat().st_size <= MAX_LINE


@pytest.mark.rule("O2")
def test_an_entry_that_is_written_only_in_part_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a disk that is nearly full: then nothing may be spawned."""
    journal = Journal(tmp_path / "spawns.jsonl")
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:10]))
    with pytest.raises(OSError, match="part"):
        journal.append("a", "new", home="/one")
    monkeypatch.undo()
    assert journal.first("a") is None
    journal.append("a", "new", home="/two")
    first = Journal(tmp_path / "spawns.jsonl").first("a")
    assert first is not None
    assert first["home"] == "/two"


def test_a_stream_has_an_epoch_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "streams" / "a.jsonl"
    assert stream_file.epoch_of(path) == ""
    assert stream_file.size_of(path) == 0
    epoch = stream_file.ensure(path)
    assert len(epoch) == 16
    assert stream_file.ensure(path) == epoch == stream_file.epoch_of(path)
    assert stream_file.size_of(path) == path.stat().st_size
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.unlink()
    assert stream_file.ensure(path) != epoch, "a new file is another one"


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"not json\n", b"[1]\n", b'{"epoch":null}\n', b"\xff" * 400]
)
def test_a_foreign_file_has_no_epoch(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    assert stream_file.epoch_of(path) == ""


@pytest.mark.rule("S5.2")
def test_a_marker_stands_on_a_line_of_its_own_even_behind_a_torn_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    stream_file.ensure(path)
    with path.open("ab") as file:
        file.write(b'{"type":"assistant","mess')
    stream_file.append_marker(path, {"type": "walnut", "text": "é\ud800\n"})
    stream_file.append_marker(path, {"type": "walnut", "subtype": "second"})
    raw = path.read_bytes().split(b"\n")
    assert raw[1] == b'{"type":"assistant","mess'
    first, second = json.loads(raw[2]), json.loads(raw[3])
    assert first["text"] == "é?\n"
    assert first["at"]
    assert second["subtype"] == "second"
    assert raw[4:] == [b""]


def test_a_marker_that_is_written_only_in_part_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:3]))
    with pytest.raises(OSError, match="part"):
        stream_file.append_marker(path, {"type": "walnut"})
