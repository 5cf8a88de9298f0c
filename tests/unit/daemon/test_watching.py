"""Who is told that a stream has grown: by the kernel at once, by the clock where the kernel can't (D26)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.loop import eventually, on_loop
from walnut_desktop.daemon import watching
from walnut_desktop.daemon.watching import FolderWatch


class Heard:
    """What the watch has said."""

    def __init__(self, folder: Path) -> None:
        self.grown: list[str] = []
        self.all = 0
        self.watch = FolderWatch(folder, self.grown.append, self._all)

    def _all(self) -> None:
        self.all += 1


@pytest.mark.rule("S2")
@on_loop
async def test_growing_and_new_files_are_told_by_name(tmp_path: Path) -> None:
    heard = Heard(tmp_path / "streams")
    path = tmp_path / "streams" / "a-1.jsonl"
    path.write_bytes(b"x")
    await eventually(lambda: "a-1" in heard.grown, "the new file")
    heard.grown.clear()
    with path.open("ab") as file:
        file.write(b"more")
    await eventually(lambda: "a-1" in heard.grown, "its growth")
    (tmp_path / "streams" / "a-1.pgid").write_bytes(b"x")
    (tmp_path / "streams" / "b.jsonl.err").write_bytes(b"x")
    (tmp_path / "streams" / "c.jsonl").write_bytes(b"x")
    await eventually(lambda: "c" in heard.grown, "the last one")
    assert set(heard.grown) == {"a-1", "c"}
    heard.watch.close()
    heard.watch.close()


@on_loop
async def test_a_burst_is_told_though_events_are_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "NET_S", 0.02)
    heard = Heard(tmp_path)
    heard.watch.set_active(active=True)
    await eventually(lambda: heard.all >= 2, "the slow look at everything")
    heard.watch.close()


@pytest.mark.rule("S2")
@on_loop
async def test_without_the_kernels_help_the_clock_tells_while_somebody_listens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_open_inotify", lambda _folder: None)
    monkeypatch.setattr(watching, "POLL_S", 0.005)
    heard = Heard(tmp_path)
    ticks: list[int] = []
    heard.watch._loop.call_later(0.04, ticks.append, 1)
    await eventually(lambda: ticks, "a while")
    assert heard.all == 0, "an idle daemon sleeps"
    heard.watch.set_active(active=True)
    heard.watch.set_active(active=True)
    await eventually(lambda: heard.all >= 3, "looks")
    heard.watch.set_active(active=False)
    before = heard.all
    heard.watch._loop.call_later(0.04, ticks.append, 2)
    await eventually(lambda: len(ticks) == 2, "a while")
    assert heard.all == before
    heard.watch.close()
