"""The socket's path fits the kernel's limit whatever the home is called, and is the same for everybody."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from walnut_desktop.protocol import capabilities
from walnut_desktop.protocol.endpoint import MAX_PATH, daemon_dir, socket_path, streams_dir

BOUND_AS = "/.0123abcd.sock"  # it is bound under another name of this length first
RUNTIME_DIRS = ["", "/run/user/1000", "/run/user/4294967294", "/very/long" * 5 + "/run", "/ü" * 29]


@pytest.mark.parametrize("runtime_dir", RUNTIME_DIRS)
@pytest.mark.parametrize("uid", [0, 1000, 4294967294])
@pytest.mark.parametrize("length", [5, 60, 85, 87, 88, 100, 200, 1000])
def test_any_home_has_a_path_that_fits(length: int, uid: int, runtime_dir: str) -> None:
    home = Path("/" + "h" * (length - 1))
    path = socket_path(home, runtime_dir, uid)
    assert len(str(path).encode()) <= MAX_PATH
    assert len((str(path.parent) + BOUND_AS).encode()) <= 103, "macOS takes no more"
    assert path == socket_path(home, runtime_dir, uid)


def test_a_short_home_keeps_it_beside_the_lock() -> None:
    home = Path("/h")
    assert socket_path(home, "/run/user/1", 1) == daemon_dir(home) / "daemon.sock"
    assert streams_dir(home).is_relative_to(home)


def test_letters_of_several_bytes_count_as_such() -> None:
    home = Path("/" + "ü" * 60)
    assert socket_path(home, "", 7).parts[1] == "tmp"


def test_two_long_homes_do_not_share_one() -> None:
    first, second = Path("/" + "a" * 150), Path("/" + "a" * 149 + "b")
    assert socket_path(first, "", 7) != socket_path(second, "", 7)
    assert socket_path(first, "", 7) != socket_path(first, "", 8)


def test_the_kernel_takes_the_longest(tmp_path: Path) -> None:
    folder = tmp_path
    name = "x" * (107 - len(str(folder)) - 1)
    assert len(name) > 20, "the folder for tests is short enough"
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(folder / name))


@pytest.mark.rule("O11")
def test_what_a_daemon_lacks_is_named() -> None:
    assert capabilities.missing(capabilities.ALL, capabilities.ALL) == []
    assert capabilities.missing(["streams-v1"], ["lookup-v1", "streams-v1"]) == ["lookup-v1"]
