"""A machine made of fakes for `packaging/dev`: a PATH with only what the test puts there."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "packaging" / "dev"

TOOLS = (
    *("basename", "cat", "chmod", "cksum", "cp", "date", "dirname", "env", "find", "grep", "head"),
    *("ls", "mkdir", "mktemp", "mv", "rm", "sh", "sort", "tail", "tr", "true"),
)

FAKE_PYTHON = """\
#!/bin/sh
# Answers what packaging/dev asks of a Python, and writes down what it was told to do.
state={state!r}
case "$1" in
-c)
    case "$*" in
    *libEGL.so.1=*) echo {version}; cat "$state/missing" ;;
    *) exec {real!r} "$@" ;;
    esac ;;
-m)
    shift
    case "$1" in
    venv)
        echo "venv" >>"$state/log"
        mkdir -p "$2/bin"
        : >"$2/pyvenv.cfg"
        cp "$0" "$2/bin/python" ;;
    pip)
        shift
        echo "pip $*" >>"$state/log"
        [ ! -e "$state/hang" ] || read -r _ <"$state/hang"
        case "$*" in
        *real-cli*) [ ! -e "$state/no-real-cli" ] || exit 1 ;;
        esac
        [ ! -e "$state/pip-fails" ] || exit 1
        for name in walnut-desktop pytest ruff mypy lint-imports; do
            cp "$state/program" "$(dirname "$0")/$name"
        done ;;
    *) exec "$(dirname "$0")/pytest" "$@" ;;
    esac ;;
esac
"""

FAKE_PROGRAM = """\
#!/bin/sh
echo "${{0##*/}} $* (platform ${{QT_QPA_PLATFORM:-default}})"
[ ! -e {state!r}/"${{0##*/}}-fails" ]
"""

FAKE_APT = """\
#!/bin/sh
echo "apt-get $*" >>{state!r}/log
[ ! -e {state!r}/apt-fails ] || {{ echo "no network"; exit 100; }}
case "$1" in
install) : >{state!r}/missing ;;
esac
"""


@dataclass(slots=True)
class Sandbox:
    """A clone of the repository and a machine around it."""

    folder: Path
    shell: str = "/bin/sh"

    @property
    def clone(self) -> Path:
        """Where the script lies; the path has a space."""
        return self.folder / "my clone"

    @property
    def state(self) -> Path:
        """What steers the fakes, and their log."""
        return self.folder / "state"

    @property
    def bin(self) -> Path:
        """The only folder on PATH."""
        return self.folder / "bin"

    @property
    def env_dir(self) -> Path:
        """The virtual environment."""
        return self.clone / ".venv"

    def build(self) -> None:
        """A Linux machine with Python, where root calls."""
        for folder in (self.clone / "packaging", self.state, self.bin):
            folder.mkdir(parents=True)
        shutil.copy(SCRIPT, self.clone / "packaging" / "dev")
        (self.clone / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
        for tool in TOOLS:
            found = shutil.which(tool)
            assert found, f"{tool} is not on this machine"
            (self.bin / tool).symlink_to(found)
        state = str(self.state)
        version = platform.python_version()
        self.switch("missing")
        self.switch("log")
        (self.state / "program").write_text(FAKE_PROGRAM.format(state=state), encoding="utf-8")
        (self.state / "program").chmod(0o755)
        self.program(
            "python3", FAKE_PYTHON.format(state=state, real=sys.executable, version=version)
        )
        self.program("apt-get", FAKE_APT.format(state=state))
        self.says("uname", "Linux")
        self.says("id", "0")
        for name in ("Xvfb", "openbox", "dbus-run-session"):
            self.says(name, "")

    def program(self, name: str, body: str) -> None:
        """Put a program on PATH."""
        path = self.bin / name
        path.write_text(body, encoding="utf-8")
        path.chmod(0o755)

    def says(self, name: str, words: str) -> None:
        """Put a program on PATH that only says this."""
        self.program(name, f"#!/bin/sh\necho {words}\n")

    def switch(self, name: str, content: str = "") -> Path:
        """Steer the fakes by a file."""
        path = self.state / name
        path.write_text(content, encoding="utf-8")
        return path

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """Start the script, in a process group of its own."""
        environment = {"PATH": str(self.bin), "HOME": str(self.folder), "TMPDIR": str(self.folder)}
        mark = {
            name: value for name, value in os.environ.items() if name.startswith("WALNUT_TEST_")
        }
        return subprocess.Popen(
            [self.shell, str(self.clone / "packaging" / "dev"), *arguments],
            env={**mark, **environment, **variables},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def call(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the script to its end."""
        with self.start(*arguments, **variables) as process:
            out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def log(self) -> list[str]:
        """What was done so far, and forget it."""
        lines = (self.state / "log").read_text(encoding="utf-8").splitlines()
        self.switch("log")
        return lines
