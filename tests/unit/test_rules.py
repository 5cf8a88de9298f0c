"""The index of rules: all rules are known, all marks are seen, and the check fails when it should."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import rules

EXPECTED = (
    [f"T{n}" for n in range(1, 18)]
    + [f"S{n}" for n in range(1, 6)]
    + [f"S5.{n}" for n in range(1, 8)]
    + [f"S{n}" for n in range(6, 15)]
    + [
        f"{letter}{n}"
        for letter, last in (("O", 11), ("M", 7), ("F", 7), ("H", 4), ("G", 18))
        for n in range(1, last + 1)
    ]
)

MODULE = """
import pytest
from pytest import mark

pytestmark = [pytest.mark.rule("T1"), pytest.mark.slow]
BOTH = pytest.mark.rule("T2", "T3")

@pytest.mark.rule("T4")
@pytest.mark.rule("T1")
def test_one(): ...

@BOTH
async def test_two(): ...

@mark.rule("S5.2")
class TestGroup:
    pytestmark = pytest.mark.rule("S5.3")

    def test_three(self): ...

    class TestInner:
        @pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.rule("O1"))])
        def test_four(self, x): ...

def helper(): ...
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tests = tmp_path / "tests"
    (tests / "unit").mkdir(parents=True)
    return tests


def index_of(folder: Path, source: str) -> rules.Index:
    (folder / "unit" / "test_it.py").write_text(source, encoding="utf-8")
    return rules.build_index(folder)


def test_all_rules_of_the_requirements_are_known() -> None:
    titles = rules.build_index().titles
    assert list(titles) == EXPECTED
    assert titles["T7"] == "phases"
    assert titles["O1"].startswith("Only the daemon that spawned")
    assert all(titles.values())


def test_marks_are_found_wherever_pytest_takes_them(folder: Path) -> None:
    found = index_of(folder, MODULE).tests_by_rule()
    one, two, three, four = (
        f"tests/unit/test_it.py::{name}"
        for name in (
            "test_one",
            "test_two",
            "TestGroup::test_three",
            "TestGroup::TestInner::test_four",
        )
    )
    assert {rule: tests for rule, tests in found.items() if tests} == {
        "T1": [one, two, three, four],
        "T2": [two],
        "T3": [two],
        "T4": [one],
        "S5.2": [three, four],
        "S5.3": [three, four],
        "O1": [four],
    }


def test_a_mark_for_a_rule_that_does_not_exist_fails_the_check(folder: Path) -> None:
    index = index_of(folder, 'import pytest\n@pytest.mark.rule("T99")\ndef test_x(): ...\n')
    assert index.faults([]) == ["tests/unit/test_it.py::test_x is marked for T99, which is no rule"]


def test_a_claimed_rule_without_a_test_fails_the_check(folder: Path) -> None:
    index = index_of(folder, 'import pytest\n@pytest.mark.rule("T1")\ndef test_x(): ...\n')
    assert index.faults(["T1"]) == []
    assert index.faults(["T1", "T2", "X1"]) == [
        "rule T2 is claimed but has no test",
        "rule X1 is claimed but has no test",
    ]


def test_a_mark_that_is_no_literal_fails_the_check(folder: Path) -> None:
    index = index_of(folder, "import pytest\n@pytest.mark.rule(NAME)\ndef test_x(): ...\n")
    assert index.faults([]) == [
        "tests/unit/test_it.py:2: a rule mark needs the rule as literal text"
    ]


def test_a_module_that_can_not_be_parsed_is_named(folder: Path) -> None:
    assert (
        index_of(folder, "def test_x(:\n")
        .faults([])[0]
        .startswith("tests/unit/test_it.py can't be read")
    )


def test_claims_may_have_comments() -> None:
    assert rules.read_claimed("# all\nT1 # because\n\n  S5.2\n") == ["T1", "S5.2"]


def test_json_names_every_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert rules.main(["--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert list(printed) == ["rules"]
    assert list(printed["rules"]) == EXPECTED


def test_text_says_which_rules_have_no_test(folder: Path) -> None:
    text = rules.as_text(
        index_of(folder, 'import pytest\n@pytest.mark.rule("T1")\ndef test_x(): ...\n')
    )
    assert f"1 of {len(EXPECTED)} rules have tests." in text
    assert "None yet: T2 T3" in text
