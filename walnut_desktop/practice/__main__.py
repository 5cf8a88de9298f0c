"""`walnut-desktop practice`: the practice agent, started by the app just as it starts `claude`.

It takes the real CLI's options for stream-json sessions, and refuses what that refuses, in the same words.
"""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from walnut_desktop.practice.files import find_transcript
from walnut_desktop.practice.helptext import HELP

WITH_VALUE = {
    "--input-format",
    "--output-format",
    "--session-id",
    "--permission-prompt-tool",
    "--permission-mode",
    "--model",
    "--append-system-prompt",
    "--system-prompt",
    "--max-turns",
    "--mcp-config",
    "--settings",
    "--allowedTools",
    "--disallowedTools",
    "--permission-prompts",
    "--add-dir",
    "--fallback-model",
}
WITHOUT_VALUE = {
    "-p",
    "--print",
    "--verbose",
    "--include-partial-messages",
    "--include-hook-events",
    "--replay-user-messages",
    "--forward-subagent-text",
    "--fork-session",
    "--dangerously-skip-permissions",
    "--allow-dangerously-skip-permissions",
}
MODES = ("acceptEdits", "auto", "bypassPermissions", "manual", "dontAsk", "plan", "default")

_NO_FOLDER = (
    "The current directory no longer exists (it was deleted or moved). "
    "Start Claude Code from an existing directory."
)
_NOT_A_SESSION = (
    "Error: --resume requires a valid session ID or session title when used with --print"
)


class Refused(Exception):
    """The command line is not taken; `str()` goes to stderr."""


def parse(arguments: Sequence[str]) -> dict[str, str]:
    """The options by name. Raises Refused for an unknown one, in the CLI's own words."""
    options: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        name = rest.pop(0)
        if name.startswith("--") and "=" in name:
            name, _, value = name.partition("=")
            rest.insert(0, value)
            if name == "--resume" or name in WITH_VALUE:
                options[name] = rest.pop(0)
                continue
        if name in ("--resume", "-r"):
            options["--resume"] = rest.pop(0) if rest and not rest[0].startswith("-") else ""
        elif name in WITH_VALUE:
            if not rest:
                raise Refused(f"error: option '{name} <value>' argument missing")
            options[name] = rest.pop(0)
        elif name in WITHOUT_VALUE:
            options[name] = "yes"
        elif name.startswith("-"):
            raise Refused(f"error: unknown option '{name}'")
    return options


def check(options: dict[str, str]) -> None:
    """What the CLI refuses at once (cli-protocol 1, 1.4)."""
    if (
        options.get("--input-format") == "stream-json"
        and options.get("--output-format") != "stream-json"
    ):
        raise Refused("Error: --input-format=stream-json requires output-format=stream-json.")
    if options.get("--output-format") == "stream-json" and "--verbose" not in options:
        raise Refused("Error: When using --print, --output-format=stream-json requires --verbose")
    if not options.get("--max-turns", "0").isdigit():
        raise Refused(
            "error: option '--max-turns <turns>' argument is invalid. Must be a positive number."
        )
    sid = options.get("--session-id")
    if sid is not None and "--resume" in options and "--fork-session" not in options:
        raise Refused("Error: --session-id with --continue or --resume also needs --fork-session.")
    if sid is not None and not _is_uuid(sid):
        raise Refused("Error: Invalid session ID. Must be a valid UUID.")
    if sid is not None and find_transcript(sid) is not None:
        raise Refused(f"Error: Session ID {sid} is already in use.")
    try:
        Path.cwd()
    except FileNotFoundError:
        raise Refused(_NO_FOLDER) from None
    mode = options.get("--permission-mode", "default")
    if "--dangerously-skip-permissions" in options:
        mode = options["--permission-mode"] = "bypassPermissions"
    if mode not in MODES:
        raise Refused(
            f"error: option '--permission-mode <mode>' argument '{mode}' is invalid. "
            f"Allowed choices are {', '.join(MODES[:-1])}."
        )
    if mode == "bypassPermissions" and os.getuid() == 0 and os.environ.get("IS_SANDBOX") != "1":
        raise Refused(
            "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons"
        )


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Run it; answers the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if "--version" in arguments or "-v" in arguments:
        sys.stdout.write("2.1.328 (Practice agent)\n")
        return 0
    if "--help" in arguments or "-h" in arguments:
        sys.stdout.write(HELP)
        return 0
    try:
        options = parse(arguments)
        check(options)
    except Refused as refusal:
        sys.stderr.write(f"{refusal}\n")
        return 1
    from walnut_desktop.practice.output import Output
    from walnut_desktop.practice.results import Results
    from walnut_desktop.practice.session import Options, Session
    from walnut_desktop.practice.transcript import fork

    resumed = options.get("--resume")
    sid = options.get("--session-id") or resumed or str(uuid.uuid4())
    found = find_transcript(resumed) if resumed is not None and _is_uuid(resumed) else None
    if resumed is not None and found is None:
        text = (
            f"No conversation found with session ID: {resumed}"
            if _is_uuid(resumed)
            else _NOT_A_SESSION
        )
        Results(Output(resumed)).start_failure(text)
        sys.stderr.write(f"{text}\n")
        return 1
    if found is not None and "--fork-session" in options:
        sid = options.get("--session-id") or str(uuid.uuid4())
        fork(found, sid)
    mode = options.get("--permission-mode", "default")
    session = Session(
        Options(
            sid=sid,
            resume=resumed is not None,
            mode="default" if mode == "manual" else mode,
            model=options.get("--model") or "practice",
            may_bypass=mode == "bypassPermissions"
            or "--allow-dangerously-skip-permissions" in options,
            partial="--include-partial-messages" in options,
            replays="--replay-user-messages" in options,
            allowed=options.get("--allowedTools", ""),
            asks=options.get("--permission-prompt-tool") == "stdio",
            max_turns=int(options.get("--max-turns", "0")),
        )
    )
    return session.run()


if __name__ == "__main__":
    sys.stdout.flush()
    code = main()
    sys.stderr.flush()
    os._exit(code)  # the thread that reads stdin may wait for ever
