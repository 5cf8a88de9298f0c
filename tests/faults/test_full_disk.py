"""A disk that is really full: all is told, nothing is half done, and with space again it goes on."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.loop import on_loop
from tests.process.agents import desk, eventually
from tests.unit.store.test_units import opened
from walnut_desktop.domain.errors import StoreError
from walnut_desktop.protocol.messages import RemoteError, Status
from walnut_desktop.store.worker import Unit

KILOBYTES = 1024


class Disk:
    """A small disk of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self) -> None:
        """No byte is left."""
        with self._filler.open("wb", buffering=0) as file:
            for size in (65536, 4096, 1):
                try:
                    while file.write(b"x" * size) == size:
                        pass
                except OSError:
                    continue

    def free(self) -> None:
        """There is space again."""
        self._filler.unlink()


@pytest.fixture
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disk]:
    """A disk of one megabyte; skipped where none can be mounted."""
    folder = tmp_path_factory.mktemp("disk")
    options = f"size={KILOBYTES}k,mode=700"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    yield Disk(folder)
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.rule("O2")
@on_loop
async def test_a_daemon_on_a_full_disk(disk: Disk, tmp_path: Path) -> None:
    async with desk(disk.folder / "w", tmp_path) as it:
        sid = await it.agent("echo")
        await it.hand_over(sid, {"n": 1})
        await it.hear(sid, "echo")
        disk.fill()
        with pytest.raises(RemoteError) as caught:
            await it.hand_over(sid, {"n": 2, "message": "x" * 10_000})  # longer than a page
        assert caught.value.error == "disk"
        with pytest.raises(RemoteError) as caught:
            await it.agent("echo", sid="new")
        assert caught.value.error == "disk"
        assert [path.name for path in it.stream(sid).parent.glob("new.*")] == []
        assert (await it.status(sid))["alive"], "the agent goes on"
        disk.free()
        await it.hand_over(sid, {"n": 3})
        assert [echo["told"]["n"] for echo in await it.hear(sid, "echo", 2)] == [1, 3]
        assert await it.agent("echo", sid="new") == "new"


@pytest.mark.rule("O7")
@on_loop
async def test_a_session_can_be_ended_on_a_full_disk(disk: Disk, tmp_path: Path) -> None:
    async with desk(disk.folder / "w", tmp_path) as it:
        sid = await it.agent("echo")
        await it.hear(sid, "ready")
        disk.fill()
        assert (await it.stop(sid))["stopped"]
        await eventually(lambda: it.exits, "the end is told all the same")
        assert it.exits[0]["intended"] is True
        assert not (await it.status(sid))["alive"]
        assert not it.stream(sid).with_suffix(".pgid").exists(), "nothing says that it lives"
        disk.free()
        await it.host.request("discard", Status(sid))


@pytest.mark.rule("S10")
@on_loop
async def test_an_agent_that_fills_the_disk_itself(disk: Disk, tmp_path: Path) -> None:
    async with desk(disk.folder / "w", tmp_path) as it:
        sid = await it.agent("floods", "3")
        await eventually(lambda: it.exits, "it ends")
        assert it.exits[0]["sid"] == sid
        assert not (await it.status(sid))["alive"]
        assert it.stream(sid).stat().st_size > 500_000
        await it.host.request("discard", Status(sid))
        assert await it.agent("echo", sid=sid) == sid


@pytest.mark.rule("M1")
@on_loop
async def test_a_store_on_a_full_disk(disk: Disk) -> None:
    async with opened(disk.folder / "w") as store:
        await store.run(lambda unit: unit.ui.put("first", "before"))

        def big(unit: Unit) -> None:
            unit.ui.put("b", 1)
            unit.ui.put("first", "x" * 9000)

        disk.fill()
        with pytest.raises(StoreError, match="disk is full"):
            await store.run(big)
        assert await store.run(lambda unit: unit.ui.get("first")) == "before"
        assert await store.run(lambda unit: unit.ui.get("b")) is None
        disk.free()
        await store.run(lambda unit: unit.ui.put("first", "after"))
        assert await store.run(lambda unit: unit.ui.get("first")) == "after"
