"""The settings file: what is unknown is kept, what is wrong is named, nothing is dropped (Rule G14)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from walnut_desktop.runtime.settings import Settings, SettingsFile


def write(path: Path, data: Any) -> bytes:
    """A settings file as somebody has written it by hand."""
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    path.write_bytes(raw)
    return raw


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file is."""
    return tmp_path / "settings.json"


def test_without_a_file_the_defaults_hold_and_none_is_made(path: Path) -> None:
    file = SettingsFile(path)
    assert (file.values, file.problems) == (Settings(), [])
    assert not path.exists()


@pytest.mark.rule("G14")
def test_good_values_are_taken(path: Path) -> None:
    write(path, {"agent": {"model": "opus", "start_timeout_s": 60}, "look": {"theme": "dark"}})
    file = SettingsFile(path)
    assert file.problems == []
    assert file.values.agent.model == "opus"
    assert file.values.agent.start_timeout_s == 60
    assert file.values.look.theme == "dark"
    assert file.values.notices.enabled is True


@pytest.mark.rule("G14")
@pytest.mark.parametrize(
    ("data", "place"),
    [
        ({"look": {"theme": "purple"}}, "look.theme"),
        ({"agent": {"start_timeout_s": "soon"}}, "agent.start_timeout_s"),
        ({"agent": {"start_timeout_s": 0}}, "agent.start_timeout_s"),
        ({"agent": {"start_timeout_s": float("nan")}}, "agent.start_timeout_s"),
        ({"agent": {"permission_mode": None}}, "agent.permission_mode"),
        ({"agent": 5}, "agent"),
        ({"notices": [True]}, "notices"),
    ],
)
def test_a_bad_value_is_named_with_its_place_and_the_rest_counts(
    path: Path, data: dict[str, Any], place: str
) -> None:
    data = {**data, "kept": 1}
    data.setdefault("agent", {})
    if isinstance(data["agent"], dict):
        data["agent"]["model"] = "haiku"
    raw = write(path, data)
    file = SettingsFile(path)
    (problem,) = file.problems
    assert f"“{place}”" in problem
    assert "default is used" in problem
    if isinstance(data["agent"], dict):
        assert file.values.agent.model == "haiku"
        assert file.values.agent.start_timeout_s == 30
    assert file.values.look.theme == "system"
    assert path.read_bytes() == raw, "it is not rewritten for that"


@pytest.mark.parametrize("raw", [b"", b"{", b"[1]", b"5", b"\xff\xfe{", b'{"a": 1', b"[" * 100_000])
def test_a_file_that_is_none_is_named(path: Path, raw: bytes) -> None:
    write(path, raw)
    file = SettingsFile(path)
    assert file.values == Settings()
    assert len(file.problems) == 1
    assert path.read_bytes() == raw


@pytest.mark.rule("G14")
def test_saving_one_section_drops_nothing(path: Path) -> None:
    write(path, {"look": {"theme": "dark", "new": 1}, "plugins": {"x": [1]}, "agent": {"a": "é"}})
    file = SettingsFile(path)
    file.values.notices.enabled = False
    file.save()
    saved = json.loads(path.read_text(encoding="utf-8"))
    assert saved["look"] == {"theme": "dark", "new": 1}
    assert saved["plugins"] == {"x": [1]}
    assert saved["agent"]["a"] == "é"
    assert saved["notices"] == {"enabled": False}
    assert SettingsFile(path).values == file.values


@pytest.mark.rule("G14")
def test_what_was_edited_by_hand_meanwhile_is_kept(path: Path) -> None:
    write(path, {"look": {"theme": "dark"}})
    file = SettingsFile(path)
    write(path, {"look": {"theme": "light"}, "agent": {"model": "opus"}, "more": 1})
    file.values.notices.enabled = False
    file.save()
    saved = json.loads(path.read_text(encoding="utf-8"))
    assert saved["look"]["theme"] == "light"
    assert saved["agent"]["model"] == "opus"
    assert saved["more"] == 1
    assert saved["notices"]["enabled"] is False


@pytest.mark.rule("G14")
def test_a_file_that_can_not_be_read_is_put_aside_not_over_written(path: Path) -> None:
    raw = write(path, b'{"agent": {"model": "opus"},}')
    file = SettingsFile(path)
    file.values.look.theme = "dark"
    file.save()
    assert SettingsFile(path).values.look.theme == "dark"
    assert path.with_name("settings.unreadable.json").read_bytes() == raw


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(["agent", "look", "theme", "model", "notices", "enabled", "x"]),
                inner,
                max_size=4,
            )
        ),
    )
)
def test_no_file_stops_the_start(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "any-settings.json"
    raw = write(path, data)
    file = SettingsFile(path)
    assert isinstance(file.values, Settings)
    assert path.read_bytes() == raw
