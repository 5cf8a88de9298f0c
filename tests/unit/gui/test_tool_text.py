"""What a tool call shows: cut to what a person can read, and never more than a screen can bear."""

from __future__ import annotations

import time
from typing import Any

import pytest

from walnut_desktop.gui.transcript_view import tool_text
from walnut_desktop.gui.transcript_view.rows import Unfolded
from walnut_desktop.gui.transcript_view.tool_text import Part, body, headline, opens_window, title
from walnut_desktop.transcript.blocks import ToolBlock, ToolState

NO, YES, ALL = Unfolded.NO, Unfolded.YES, Unfolded.ALL


def tool(result: str = "", state: ToolState = ToolState.DONE, **given: Any) -> ToolBlock:
    """A call of Bash."""
    return ToolBlock("k", "i", "Bash", given, state, result)


def kinds(block: ToolBlock, unfolded: Unfolded = YES) -> list[tuple[str, str]]:
    """The parts without their colours."""
    return [(part.kind, part.text) for part in body(block, unfolded).parts]


def numbered(count: int) -> str:
    """So many lines."""
    return "\n".join(map(str, range(count)))


def test_folded_shows_nothing() -> None:
    assert body(tool("out", command="ls"), NO).parts == ()


def test_a_failure_shows_its_first_lines() -> None:
    shown = body(tool(numbered(9), ToolState.FAILED, command="x"), NO)
    assert shown.parts == (Part("result", numbered(6)),)
    assert shown.more == "3 more lines"
    assert body(tool("short", ToolState.FAILED), NO).more == ""


def test_a_command_and_its_output() -> None:
    block = tool("out", command="ls -l", description="List")
    assert kinds(block) == [("note", "List"), ("input", "ls -l"), ("result", "out")]


def test_long_output_is_folded_to_twelve_lines() -> None:
    shown = body(tool(numbered(40)), YES)
    assert shown.parts[-1].text == numbered(12)
    assert shown.more == "Show all 40 lines"
    whole = body(tool(numbered(40)), ALL)
    assert whole.parts[-1].text == numbered(40)
    assert whole.more == ""


def test_very_long_output_is_cut_at_two_thousand_lines() -> None:
    block = tool(numbered(5000))
    assert body(block, YES).more == "Show 2,000 of 5,000 lines"
    shown = body(block, ALL)
    assert shown.parts[-1].text == numbered(2000)
    assert shown.more.startswith("Show all (")
    assert opens_window(block, ALL)
    assert not opens_window(block, YES)


def test_a_line_of_30_megabytes_is_cut_at_once() -> None:
    block = tool("x" * 30_000_000)
    begin = time.perf_counter()
    shown = body(block, YES)
    assert time.perf_counter() - begin < 0.5
    assert len(shown.parts[-1].text) < 3000
    assert "more characters" in shown.parts[-1].text
    assert shown.more == "Show all (30.0 MB)"
    assert opens_window(block, YES)


def test_no_output_is_said() -> None:
    assert kinds(tool(command="true"))[-1] == ("note", "No output")
    assert kinds(tool("", ToolState.RUNNING, command="true")) == [("input", "true")]


def test_an_edit_is_a_diff() -> None:
    block = tool("ok", file_path="a.py", old_string="a\nb\nc", new_string="a\nB\nc")
    assert kinds(block)[:5] == [
        ("path", "a.py"),
        ("same", "a"),
        ("removed", "b"),
        ("added", "B"),
        ("same", "c"),
    ]


def test_several_edits_of_one_file() -> None:
    edits = [
        {"old_string": "a", "new_string": "b"},
        {"old_string": "c", "new_string": ""},
        "nonsense",
    ]
    shown = kinds(tool(file_path="a.py", edits=edits))
    assert ("added", "b") in shown
    assert ("removed", "c") in shown


def test_a_written_file_shows_its_content() -> None:
    assert kinds(tool("ok", file_path="a.py", content="x = 1"))[:2] == [
        ("path", "a.py"),
        ("added", "x = 1"),
    ]


def test_other_inputs_are_named_values() -> None:
    shown = kinds(tool("ok", state_filter="open", limits={"most": 5}))
    assert shown[0] == ("input", 'state_filter: open\nlimits: {\n  "most": 5\n}')


def test_what_the_headline_says_is_not_said_again() -> None:
    assert kinds(tool("text", file_path="a.py")) == [("result", "text")]


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"command": "ls\nrm x"}, "ls"),
        ({"pattern": "def x", "path": "src"}, "def x  in src"),
        ({"pattern": "*.py"}, "*.py"),
        ({"file_path": "a/b.py"}, "a/b.py"),
        ({"command": "echo \u202egnp.exe \x1b[31mred"}, "echo gnp.exe red"),
        ({}, ""),
    ],
)
def test_headlines(given: dict[str, Any], line: str) -> None:
    assert headline(tool(**given)) == line


@pytest.mark.parametrize(
    "given", [{"command": 5}, {"content": None}, {"edits": 3}, {"pattern": ["x"]}]
)
def test_strange_inputs_do_no_harm(given: dict[str, Any]) -> None:
    assert isinstance(headline(tool(**given)), str)
    assert body(tool("r", **given), ALL).parts


def test_names_of_foreign_tools_are_readable() -> None:
    assert title("mcp__tasks__list_all") == "tasks: list all"
    assert title("Bash") == "Bash"
    assert tool_text.icon_name("mcp__tasks__list_all") == "wrench"


def test_every_state_has_a_word() -> None:
    assert set(tool_text.STATES) == set(ToolState)
