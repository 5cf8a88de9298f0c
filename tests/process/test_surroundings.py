"""What an agent finds around it, and who can reach the daemon."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.fakes.loop import on_loop
from tests.process.agents import Desk, daemon, desk, eventually, home, lives
from walnut_desktop.daemon import server as server_module
from walnut_desktop.domain.errors import HostUnreachable
from walnut_desktop.hosts import local
from walnut_desktop.hosts.local import LocalHost
from walnut_desktop.protocol.codec import encode_json
from walnut_desktop.protocol.endpoint import daemon_dir
from walnut_desktop.runtime.spawner import Spawner

__all__ = ["home"]

PYTHONS_OWN = {signal.SIGPIPE, signal.SIGXFSZ}  # ignored by every Python, so by the one that looks


@pytest.fixture
def few_files() -> Iterator[tuple[int, int]]:
    """A limit that the daemon will raise for itself."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(700, soft - 1), hard))
    yield resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.rule("O10")
@on_loop
async def test_an_agent_starts_as_from_a_fresh_shell(
    home: Path, tmp_path: Path, few_files: tuple[int, int]
) -> None:
    async with daemon(home, tmp_path) as plain:
        it = Desk(plain.home, plain.folder)
        sid = await it.agent("looks-around", env={"GIVEN": "1"})
        (seen,) = await it.hear(sid, "ready")
        assert seen["umask"] == current_umask()
        assert set(seen["ignored"]) - PYTHONS_OWN == set(), "what is ignored would stay ignored"
        assert tuple(seen["files"]) == few_files
        helper = (await it.hello())["pid"]
        assert psutil.Process(helper).rlimit(psutil.RLIMIT_NOFILE)[0] > few_files[0]
        assert seen["cwd"] == str(tmp_path) == seen["environment"]["PWD"]
        assert seen["environment"]["GIVEN"] == "1"
        links = seen["descriptors"]
        assert links["0"] == str(it.stream(sid).with_suffix(".pipe"))
        assert links["1"] == str(it.stream(sid))
        assert links["2"] == f"{it.stream(sid)}.err"
        assert set(links) == {"0", "1", "2"}, "neither lock nor socket nor log"
        it.host.close()
        await it.spawner.close()


def current_umask() -> int:
    """Ours."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.rule("O10")
@on_loop
async def test_agents_are_sessions_of_their_own_and_no_lock_stays_with_them(
    home: Path, tmp_path: Path
) -> None:
    async with daemon(home, tmp_path) as plain:
        it = Desk(plain.home, plain.folder)
        sid = await it.agent("echo")
        pid = (await it.status(sid))["pid"]
        helper = (await it.hello())["pid"]
        assert len({os.getsid(pid), os.getsid(helper), os.getsid(0)}) == 3
        os.kill(helper, signal.SIGKILL)
        await eventually(lambda: not lives(helper), "its end")
        it.host.close()
        again = Desk(home, tmp_path)
        assert (await again.status(sid))["pid"] == pid, "the lock was free at once"
        await again.end()
        await it.spawner.close()


@pytest.mark.rule("G4")
@on_loop
async def test_of_many_that_start_at_once_one_stays(home: Path, tmp_path: Path) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-m", "walnut_desktop.daemon", "--home", str(home)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(5)
    ]
    try:
        await eventually(lambda: sum(one.poll() is not None for one in racers) == 4, "four ends")
        assert sorted(one.returncode or 0 for one in racers) == [0, 3, 3, 3, 3]
        (winner,) = [one for one in racers if one.poll() is None]
        it = Desk(home, tmp_path)
        await eventually(it.socket.exists, "the socket")
        assert (await it.hello())["pid"] == winner.pid
        await it.end()
        await eventually(lambda: winner.poll() is not None, "the winner's end")
    finally:
        for one in racers:
            one.kill()
            one.wait()


@pytest.mark.rule("G4")
@on_loop
async def test_two_apps_that_need_it_at_once_share_one(home: Path, tmp_path: Path) -> None:
    desks = [Desk(home, tmp_path) for _ in range(4)]
    hellos = await asyncio.gather(*(one.hello() for one in desks))
    assert len({hello["pid"] for hello in hellos}) == 1
    for one in desks[1:]:
        one.host.close()
        await one.spawner.close()
    await desks[0].end()


@on_loop
async def test_a_home_with_a_very_long_path_works(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    home = tmp_path_factory.mktemp("long") / ("h" * 100) / ("ä" * 60)
    async with daemon(home, tmp_path) as plain:
        it = Desk(plain.home, plain.folder)
        assert not it.socket.is_relative_to(home)
        sid = await it.agent("echo")
        await it.hand_over(sid, {"n": 1})
        assert await it.hear(sid, "echo")
        await it.stop(sid)
        it.host.close()
        await it.spawner.close()


@pytest.mark.rule("G5")
@on_loop
async def test_somebody_else_is_not_served(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(home, tmp_path) as it:
        monkeypatch.setattr(server_module, "_peer_uid", lambda _sock: os.getuid() + 1)
        reader, writer = await asyncio.open_unix_connection(str(it.socket))
        writer.write(encode_json({"id": 1, "op": "hello"}))
        with suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()
        monkeypatch.undo()
        assert await it.hello()


@pytest.mark.rule("G5")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
@on_loop
async def test_a_socket_in_somebody_elses_folder_is_not_trusted(tmp_path: Path) -> None:
    host = LocalHost(tmp_path, Spawner())
    host._path.parent.mkdir()
    os.chown(host._path.parent, 12345, 12345)
    with pytest.raises(HostUnreachable, match="somebody else"):
        await host.connect(lambda _event: None)


@pytest.mark.parametrize("spoil", [lambda it: daemon_dir(it).write_text("in the way")])
@on_loop
async def test_a_home_where_no_daemon_can_start_is_told(
    home: Path, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Path], object]
) -> None:
    monkeypatch.setattr(local, "START_TIMEOUT_S", 3.0)
    home.mkdir()
    spoil(home)
    spawner = Spawner()
    with pytest.raises(HostUnreachable):
        await LocalHost(home, spawner).connect(lambda _event: None)
    await spawner.close()
