"""`python -m tests.rules [--json] [--check]`: which tests hold which numbered rule.

The rules are read from `tests/data/requirements.md`, the marks (`@pytest.mark.rule("T7")`) from the
syntax trees of the tests, so nothing is imported or run. `--check` fails when a mark names a rule
that doesn't exist or when a rule of `tests/data/claimed_rules.txt` has no test.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

TESTS = Path(__file__).resolve().parent
REQUIREMENTS = TESTS / "data" / "requirements.md"
CLAIMED = TESTS / "data" / "claimed_rules.txt"

_RULE_LINE = re.compile(
    r"^\s*- \*\*(?P<id>[A-Z]\d+(?:\.\d+)?)\b\s*(?P<title>[^*]*)\*\*\s*(?P<text>.*)"
)
_FIRST_WORDS = 60

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Mark:
    """One rule named for one test."""

    rule: str
    test: str


@dataclass(slots=True)
class Index:
    """What the tests say about the rules."""

    titles: dict[str, str]
    marks: list[Mark] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def tests_by_rule(self) -> dict[str, list[str]]:
        """Every rule with its tests; a rule without any has an empty list."""
        found: dict[str, list[str]] = {rule: [] for rule in self.titles}
        for mark in self.marks:
            if mark.rule in found and mark.test not in found[mark.rule]:
                found[mark.rule].append(mark.test)
        return found

    def faults(self, claimed: Iterable[str]) -> list[str]:
        """Why the check fails; empty when it holds."""
        tests = self.tests_by_rule()
        unknown = [
            f"{mark.test} is marked for {mark.rule}, which is no rule"
            for mark in self.marks
            if mark.rule not in self.titles
        ]
        missing = [
            f"rule {rule} is claimed but has no test" for rule in claimed if not tests.get(rule)
        ]
        return self.problems + unknown + missing


def read_rules(text: str) -> dict[str, str]:
    """Rule ids with their first words, grouped by letter as the text has them, then by number."""
    titles: dict[str, str] = {}
    for line in text.splitlines():
        match = _RULE_LINE.match(line)
        if match:
            words = match["title"].strip().rstrip(".") or match["text"]
            titles[match["id"]] = (
                words if len(words) <= _FIRST_WORDS else words[:_FIRST_WORDS] + "…"
            )
    letters = list(dict.fromkeys(rule[0] for rule in titles))

    def place(rule: str) -> tuple[int, list[int]]:
        return letters.index(rule[0]), [int(part) for part in rule[1:].split(".")]

    return {rule: titles[rule] for rule in sorted(titles, key=place)}


def read_claimed(text: str) -> list[str]:
    """The rules listed; what follows a `#` is a comment."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [line for line in lines if line]


def build_index(tests: Path = TESTS, requirements: Path = REQUIREMENTS) -> Index:
    """Read the rules and all marks below a folder of tests."""
    index = Index(read_rules(requirements.read_text(encoding="utf-8")))
    for path in sorted(tests.rglob("test_*.py")):
        name = path.relative_to(tests.parent).as_posix()
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError) as error:
            index.problems.append(f"{name} can't be read: {error}")
            continue
        reader = _ModuleReader(name, tree)
        index.marks += reader.marks
        index.problems += reader.problems
    return index


class _ModuleReader:
    """Collects the marks of one module."""

    def __init__(self, name: str, tree: ast.Module) -> None:
        self.name = name
        self.marks: list[Mark] = []
        self.problems: list[str] = []
        self._named = {
            target.id: rules
            for statement in tree.body
            if isinstance(statement, ast.Assign) and (rules := self._rules_in(statement.value))
            for target in statement.targets
            if isinstance(target, ast.Name)
        }
        self._read_body(tree.body, name, [])

    def _read_body(self, body: Sequence[ast.stmt], place: str, inherited: list[str]) -> None:
        inherited = inherited + [
            rule for value in _pytestmarks(body) for rule in self._rules_in(value)
        ]
        for definition in _tests_in(body):
            rules = inherited + [
                rule for mark in definition.decorator_list for rule in self._rules_in(mark)
            ]
            here = f"{place}::{definition.name}"
            if isinstance(definition, ast.ClassDef):
                self._read_body(definition.body, here, rules)
            else:
                self.marks += [Mark(rule, here) for rule in dict.fromkeys(rules)]

    def _rules_in(self, expression: ast.expr) -> list[str]:
        """Rules named anywhere in an expression: as a mark, in a list, in a parameter's marks."""
        rules: list[str] = []
        for node in ast.walk(expression):
            if isinstance(node, ast.Call) and _is_rule_mark(node.func):
                rules += self._arguments(node)
            elif isinstance(node, ast.Name):
                rules += getattr(self, "_named", {}).get(node.id, [])
        return rules

    def _arguments(self, call: ast.Call) -> list[str]:
        values = [item.value if isinstance(item, ast.Constant) else None for item in call.args]
        if not values or any(not isinstance(value, str) for value in values):
            self.problems.append(
                f"{self.name}:{call.lineno}: a rule mark needs the rule as literal text"
            )
        return [value for value in values if isinstance(value, str)]


def _is_rule_mark(function: ast.expr) -> bool:
    """Whether this is `pytest.mark.rule` or `mark.rule`."""
    if not (isinstance(function, ast.Attribute) and function.attr == "rule"):
        return False
    owner = function.value
    return (isinstance(owner, ast.Attribute) and owner.attr == "mark") or (
        isinstance(owner, ast.Name) and owner.id == "mark"
    )


def _pytestmarks(body: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    for statement in body:
        if isinstance(statement, ast.Assign):
            targets: list[ast.expr] = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        else:
            continue
        named = any(
            isinstance(target, ast.Name) and target.id == "pytestmark" for target in targets
        )
        if named and statement.value is not None:
            yield statement.value


def _tests_in(body: Sequence[ast.stmt]) -> Iterator[_Definition]:
    """Test functions and classes, also below an `if` of the module."""
    for statement in body:
        if isinstance(statement, ast.ClassDef) and statement.name.startswith("Test"):
            yield statement
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            if statement.name.startswith("test"):
                yield statement
        elif isinstance(statement, ast.If):
            yield from _tests_in([*statement.body, *statement.orelse])


def as_text(index: Index) -> str:
    """The index for people."""
    tests = index.tests_by_rule()
    lines: list[str] = []
    for rule, title in index.titles.items():
        lines.append(f"{rule:6}{title}")
        lines += [f"      {test}" for test in tests[rule]]
    return "\n".join([*lines, "", summary(index)])


def summary(index: Index) -> str:
    """How many rules have tests, and which have none."""
    tests = index.tests_by_rule()
    without = [rule for rule, marked in tests.items() if not marked]
    counted = f"{len(tests) - len(without)} of {len(tests)} rules have tests."
    return f"{counted}\nNone yet: {' '.join(without)}" if without else counted


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the index; answer the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.rules", description="Rules and their tests."
    )
    parser.add_argument(
        "--json", action="store_true", help="print all rules with their tests as JSON"
    )
    parser.add_argument(
        "--check", action="store_true", help="fail on unknown or claimed but untested rules"
    )
    options = parser.parse_args(arguments)
    index = build_index()
    if options.json:
        print(json.dumps({"rules": index.tests_by_rule()}, indent=2))
    else:
        print(summary(index) if options.check else as_text(index))
    if not options.check:
        return 0
    faults = index.faults(read_claimed(CLAIMED.read_text(encoding="utf-8")))
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
