"""Whether a tool may run, must be asked for, or is refused (cli-protocol 6)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

MODES = ("default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto")
ALLOW, ASK, DENY = "allow", "ask", "deny"
_READ_ONLY = frozenset(
    {"ls", "pwd", "echo", "cat", "head", "tail", "wc", "date", "whoami", "sleep", "true", "exit"}
)
_NEVER_ASKS = frozenset({"Read", "EnterPlanMode", "Practice"})
_ASKS_A_PERSON = frozenset({"AskUserQuestion", "ExitPlanMode"})
EDITS = frozenset({"Write", "Edit"})


class Rules:
    """What was allowed: on the command line, for this session, and for this folder."""

    def __init__(self, cwd: str, allowed: str = "") -> None:
        self._settings = Path(cwd) / ".claude" / "settings.local.json"
        self._rules = {rule for rule in re.findall(r"[^,\s(]+(?:\([^)]*\))?", allowed) if rule}
        permissions = _read_json(self._settings).get("permissions")
        saved = permissions.get("allow") if isinstance(permissions, dict) else None
        self._rules |= (
            {rule for rule in saved if isinstance(rule, str)} if isinstance(saved, list) else set()
        )

    def verdict(self, name: str, tool_input: dict[str, Any], mode: str) -> str:
        """ALLOW, ASK or DENY."""
        if name in _ASKS_A_PERSON:
            return ASK
        if mode == "bypassPermissions" or name in _NEVER_ASKS or self._allows(name, tool_input):
            return ALLOW
        if name in EDITS and mode == "acceptEdits":
            return ALLOW
        if name == "Bash" and is_harmless(str(tool_input.get("command") or "")):
            return ALLOW
        return DENY if mode == "dontAsk" else ASK

    def _allows(self, name: str, tool_input: dict[str, Any]) -> bool:
        """A rule is a tool's name, or with a command: that very one, or its begin (`Bash(git log:*)`)."""
        if name in self._rules:
            return True
        command = str(tool_input.get("command") or "") if name == "Bash" else ""
        if not command:
            return False
        if f"Bash({command})" in self._rules:
            return True
        begins = [
            rule[5:-1].removesuffix(":*").removesuffix(" *")
            for rule in self._rules
            if _is_begin(rule)
        ]
        parts = _parts(command)
        return bool(parts) and all(
            any(f"{part} ".startswith(f"{begin} ") for begin in begins) for part in parts
        )

    def add(self, update: dict[str, Any]) -> None:
        """An `addRules` of an answer; with the destination localSettings it outlives the session."""
        listed = update.get("rules")
        found = (
            [_rule_text(rule) for rule in listed if isinstance(rule, dict)]
            if isinstance(listed, list)
            else []
        )
        self._rules |= set(found)
        if update.get("destination") == "localSettings":
            self._save(found)

    def _save(self, found: list[str]) -> None:
        """Best effort: a folder that cannot be written to has the rule for this session only."""
        data = _read_json(self._settings)
        permissions = data.get("permissions")
        data["permissions"] = permissions = permissions if isinstance(permissions, dict) else {}
        saved = permissions.get("allow")
        allowed = list(saved) if isinstance(saved, list) else []
        permissions["allow"] = allowed + [rule for rule in found if rule not in allowed]
        try:
            self._settings.parent.mkdir(parents=True, exist_ok=True)
            self._settings.write_text(json.dumps(data, indent=2) + "\n")
        except OSError:
            return


def _is_begin(rule: str) -> bool:
    return rule.startswith("Bash(") and rule.endswith((":*)", " *)"))


def _rule_text(rule: dict[str, Any]) -> str:
    name, content = str(rule.get("toolName") or ""), rule.get("ruleContent")
    return f"{name}({content})" if content else name


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _parts(command: str) -> list[str]:
    """The simple commands of a line; none when it holds what cannot be judged."""
    command = command.replace(">&2", "").replace("2>&1", "")
    if any(mark in command for mark in (">", "<", "`", "$(", "\n", "&&&")):
        return []
    parts = (
        command.replace("&&", ";").replace("||", ";").replace("|", ";").replace("&", ";").split(";")
    )
    return [part.strip() for part in parts if part.strip()]


def is_harmless(command: str) -> bool:
    """A command that only looks is never asked for."""
    parts = _parts(command)
    return bool(parts) and all(part.split()[0] in _READ_ONLY for part in parts)


def suggestions(name: str, tool_input: dict[str, Any], cwd: str) -> list[dict[str, Any]]:
    """What “always allow” could mean, as the real CLI proposes it."""
    accept = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    if name in EDITS:
        return [accept]
    rule: dict[str, Any] = {"toolName": name}
    if name == "Bash":
        rule["ruleContent"] = str(tool_input.get("command") or "")
    rules = {
        "type": "addRules",
        "rules": [rule],
        "behavior": "allow",
        "destination": "localSettings",
    }
    if name != "Bash":
        return [rules]
    return [
        rules,
        {"type": "addDirectories", "directories": [cwd], "destination": "session"},
        accept,
    ]
