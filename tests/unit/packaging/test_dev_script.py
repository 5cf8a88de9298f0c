"""`packaging/dev` on a machine of fakes: it sets up once, says what is wrong, and repairs itself."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.unit.packaging.sandbox import SCRIPT, Sandbox

SHELLS = [path for path in (shutil.which("sh"), shutil.which("bash")) if path]


@pytest.fixture
def machine(tmp_path: Path) -> Sandbox:
    sandbox = Sandbox(tmp_path)
    sandbox.build()
    return sandbox


def test_help_names_every_verb(machine: Sandbox) -> None:
    answer = machine.call("--help")
    assert answer.returncode == 0
    assert all(
        f"packaging/dev {verb}" in answer.stdout for verb in ("run", "test", "exec", "build")
    )
    assert machine.log() == []


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["exec"], ["build"]])
def test_a_wrong_call_ends_with_2_and_does_nothing(machine: Sandbox, arguments: list[str]) -> None:
    answer = machine.call(*arguments)
    assert answer.returncode == 2
    assert answer.stderr
    assert machine.log() == []


def test_without_python_it_says_so_in_a_sentence(machine: Sandbox) -> None:
    (machine.bin / "python3").unlink()
    answer = machine.call("exec", "true")
    assert answer.returncode == 3
    assert answer.stderr.count("\n") == 1
    assert "needs Python 3.11 or newer" in answer.stderr
    assert not machine.env_dir.exists()


def test_a_too_old_python_is_no_python(machine: Sandbox) -> None:
    machine.program("python3", "#!/bin/sh\nexit 1\n")
    answer = machine.call("exec", "true")
    assert answer.returncode == 3
    assert "needs Python 3.11 or newer" in answer.stderr


@pytest.mark.parametrize("shell", SHELLS)
def test_the_second_call_only_runs_the_command(machine: Sandbox, shell: str) -> None:
    machine.shell = shell
    first = machine.call("exec", "walnut-desktop", "a b", "c")
    assert (first.returncode, first.stdout) == (0, "walnut-desktop a b c (platform default)\n")
    assert machine.log() == ["venv", "pip install --quiet --editable .[test]"]
    second = machine.call("exec", "walnut-desktop", "d")
    assert (second.stdout, second.stderr) == ("walnut-desktop d (platform default)\n", "")
    assert machine.log() == []


def test_the_exit_code_is_the_commands(machine: Sandbox) -> None:
    assert machine.call("exec", "sh", "-c", "exit 7").returncode == 7


def test_a_changed_project_is_installed_again_with_all_it_had(machine: Sandbox) -> None:
    machine.call("exec", "true")
    machine.log()
    (machine.clone / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    machine.call("run", DISPLAY="")
    assert machine.log() == ["pip install --quiet --editable .[test]"]
    machine.call("exec", "true")
    assert machine.log() == []


def test_the_environment_may_be_elsewhere(machine: Sandbox) -> None:
    elsewhere = machine.folder / "another place" / "env"
    answer = machine.call("exec", "sh", "-c", 'echo "$VIRTUAL_ENV"', WALNUT_DEV_ENV=str(elsewhere))
    assert answer.stdout.strip() == str(elsewhere)
    assert not machine.env_dir.exists()


def test_a_moved_clone_gets_a_new_environment(machine: Sandbox) -> None:
    machine.call("exec", "true")
    machine.log()
    stamp = machine.env_dir / "walnut-dev.stamp"
    place, *rest = stamp.read_text(encoding="utf-8").splitlines()
    stamp.write_text("\n".join([place.replace("my clone", "old"), *rest, ""]), encoding="utf-8")
    machine.call("exec", "true")
    assert machine.log()[0] == "venv"


def test_a_foreign_folder_is_left_alone(machine: Sandbox) -> None:
    machine.env_dir.mkdir()
    (machine.env_dir / "letter.txt").write_text("dear", encoding="utf-8")
    answer = machine.call("exec", "true")
    assert answer.returncode == 3
    assert "is no virtual environment" in answer.stderr
    assert [path.name for path in machine.env_dir.iterdir()] == ["letter.txt"]


def test_a_failed_set_up_is_done_again(machine: Sandbox) -> None:
    switch = machine.switch("pip-fails")
    answer = machine.call("exec", "true")
    assert answer.returncode == 3
    assert "could not be installed" in answer.stderr
    switch.unlink()
    machine.log()
    assert machine.call("exec", "true").returncode == 0
    assert machine.log() == ["venv", "pip install --quiet --editable .[test]"]


def test_a_killed_set_up_is_repaired_by_the_next_call(machine: Sandbox) -> None:
    """Killed in the middle of pip: what is there may be half of a package, so all of it goes."""
    hang = machine.state / "hang"
    os.mkfifo(hang)
    with machine.start("exec", "true") as process:
        with hang.open("w"):  # opens once pip reads, that is: runs
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=20)
    hang.unlink()
    machine.log()
    (machine.env_dir / "half").touch()
    answer = machine.call("exec", "true")
    assert answer.returncode == 0
    assert "did not finish" in answer.stderr
    assert machine.log()[0] == "venv"
    assert not (machine.env_dir / "half").exists()


def test_calls_at_the_same_time_set_up_once(machine: Sandbox) -> None:
    calls = [machine.start("exec", "walnut-desktop") for _ in range(4)]
    answers = [call.communicate(timeout=60)[0] for call in calls]
    assert answers == ["walnut-desktop  (platform default)\n"] * 4
    assert machine.log() == ["venv", "pip install --quiet --editable .[test]"]


# ---- system packages ----


def test_missing_libraries_are_installed(machine: Sandbox) -> None:
    machine.switch("missing", "libegl1\nlibgl1\n")
    answer = machine.call("exec", "true")
    assert answer.returncode == 0
    log = machine.log()
    assert [line for line in log if line.startswith("apt-get install")][-1].endswith(
        "libegl1 libgl1"
    )
    assert "installing system packages: libegl1 libgl1" in answer.stderr


def test_libraries_that_can_not_be_installed_are_named(machine: Sandbox) -> None:
    machine.switch("missing", "libegl1\nlibgl1\n")
    machine.switch("apt-fails")
    answer = machine.call("exec", "true")
    assert answer.returncode == 3
    assert "no network" in answer.stderr
    assert "please install them: libegl1 libgl1" in answer.stderr
    assert "venv" not in machine.log()


def test_a_person_without_sudo_is_told_the_packages(machine: Sandbox) -> None:
    machine.switch("missing", "libegl1\n")
    machine.says("id", "1000")
    answer = machine.call("exec", "true")
    assert answer.returncode == 3
    assert answer.stderr.count("\n") == 1
    assert "please install them: libegl1" in answer.stderr
    assert machine.log() == []


def test_a_person_with_sudo_installs_through_it(machine: Sandbox) -> None:
    machine.switch("missing", "libegl1\n")
    machine.says("id", "1000")
    machine.program(
        "sudo", f'#!/bin/sh\necho "sudo $1" >>"{machine.state}/log"\nshift\nexec "$@"\n'
    )
    assert machine.call("exec", "true").returncode == 0
    assert "sudo -n" in machine.log(), "nobody can type a password when there is no terminal"


def test_on_macos_no_system_package_is_looked_for(machine: Sandbox) -> None:
    machine.says("uname", "Darwin")
    machine.switch("missing", "libegl1\n")
    assert machine.call("exec", "true").returncode == 0
    assert not [line for line in machine.log() if line.startswith("apt-get")]


# ---- run ----


def test_without_a_display_the_tour_runs(machine: Sandbox) -> None:
    answer = machine.call("run")
    assert answer.stdout == "walnut-desktop tour (platform offscreen)\n"
    assert "There is no display here, so the tour runs instead of the window." in answer.stderr


def test_options_are_passed_on_to_the_tour(machine: Sandbox) -> None:
    assert (
        machine.call("run", "--json").stdout == "walnut-desktop tour --json (platform offscreen)\n"
    )


def test_a_display_that_does_not_answer_is_none(machine: Sandbox) -> None:
    assert "tour" in machine.call("run", DISPLAY=":4271").stdout
    assert "tour" in machine.call("run", DISPLAY="garbage").stdout
    assert "tour" in machine.call("run", WAYLAND_DISPLAY="wayland-71").stdout


def test_a_command_that_opens_no_window_needs_no_display(machine: Sandbox) -> None:
    assert (
        machine.call("run", "doctor", "--json").stdout
        == "walnut-desktop doctor --json (platform default)\n"
    )


def test_an_x_display_opens_the_window(machine: Sandbox) -> None:
    with socket.socket() as server:
        number = next(n for n in range(100, 900) if server.connect_ex(("127.0.0.1", 6000 + n)))
    with socket.create_server(("127.0.0.1", 6000 + number)):
        answer = machine.call("run", "--home", "x", DISPLAY=f"127.0.0.1:{number}.0")
    assert answer.stdout == "walnut-desktop --home x (platform default)\n"


def test_a_wayland_display_opens_the_window(machine: Sandbox) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(machine.folder / "wayland-0"))
        answer = machine.call(
            "run", WAYLAND_DISPLAY="wayland-0", XDG_RUNTIME_DIR=str(machine.folder)
        )
    assert answer.stdout == "walnut-desktop  (platform default)\n"


# ---- test ----


def python_work(machine: Sandbox) -> list[str]:
    """The log without what is done for fonts, which may or may not be on the machine below."""
    return [line for line in machine.log() if not line.startswith("apt-get")]


def test_the_gate_runs_every_step_and_pytest_last(machine: Sandbox) -> None:
    answer = machine.call("test")
    ran = [line.split(" (")[0] for line in answer.stdout.splitlines() if "(platform" in line]
    assert ran == [
        "ruff format --check .",
        "ruff check .",
        "mypy ",
        "lint-imports --no-logo",
        "pytest tests.rules --check",
        "pytest ",
    ]
    assert answer.returncode == 0
    assert answer.stdout.splitlines()[-1] == "pytest  (platform offscreen)"


@pytest.mark.parametrize("failing", ["ruff", "mypy", "lint-imports", "pytest"])
def test_a_failed_step_fails_the_gate_but_all_run(machine: Sandbox, failing: str) -> None:
    machine.switch(f"{failing}-fails")
    answer = machine.call("test")
    assert answer.returncode == 1
    assert answer.stdout.splitlines()[-1] == "pytest  (platform offscreen)"


def test_the_summary_says_which_step_failed(machine: Sandbox) -> None:
    machine.switch("mypy-fails")
    steps = [
        line.split()[:2] for line in machine.call("test").stdout.splitlines() if line.endswith(" s")
    ]
    assert steps == [
        ["format", "ok"],
        ["lint", "ok"],
        ["types", "FAILED"],
        ["imports", "ok"],
        ["rules", "ok"],
    ]


def test_with_arguments_only_pytest_runs(machine: Sandbox) -> None:
    answer = machine.call("test", "-k", "one or two", QT_QPA_PLATFORM="xcb")
    assert answer.stdout == "pytest -k one or two (platform xcb)\n"


def test_without_the_real_cli_the_tests_run_all_the_same(machine: Sandbox) -> None:
    machine.switch("no-real-cli")
    answer = machine.call("test", "-q")
    assert answer.returncode == 0
    assert "its tests are skipped" in answer.stderr
    assert python_work(machine) == [
        "venv",
        "pip install --quiet --editable .[real-cli,test]",
        "pip install --quiet --editable .[test]",
    ]
    machine.call("test", "-q")
    assert python_work(machine) == []


def test_a_missing_test_program_is_installed_or_named_but_stops_nothing(machine: Sandbox) -> None:
    (machine.bin / "openbox").unlink()
    machine.switch("apt-fails")
    answer = machine.call("test", "-q")
    assert answer.returncode == 0
    assert [line for line in machine.log() if line.startswith("apt-get install")]
    assert "could not be installed: openbox" in answer.stderr


def test_shellcheck_has_nothing_to_say() -> None:
    shellcheck = shutil.which("shellcheck")
    if shellcheck is None:
        pytest.skip("skipped: shellcheck is not on this machine")
    answer = subprocess.run([shellcheck, SCRIPT], capture_output=True, text=True, timeout=60)
    assert answer.stdout == ""
