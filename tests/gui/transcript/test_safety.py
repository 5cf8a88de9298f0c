"""Whatever an agent or a tool writes: nothing is loaded, run or opened, and nothing freezes."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QTextDocument
from pytestqt.qtbot import QtBot

from tests.gui.transcript.conftest import MakeView
from tests.gui.transcript.helpers import click_more, document_of, shown_text
from tests.gui.transcript.sample import ANSI, DANGER, RIGHT_TO_LEFT
from walnut_desktop.gui.theme import Theme
from walnut_desktop.gui.transcript_view import markdown
from walnut_desktop.gui.transcript_view.keys import links_of
from walnut_desktop.gui.transcript_view.whole_text import WholeText
from walnut_desktop.transcript.blocks import (
    NoticeBlock,
    TextBlock,
    ThinkingBlock,
    ToolBlock,
    ToolState,
    UserBlock,
)

HOSTILE = [
    "![x](http://127.0.0.1:9/a.png)",
    "![x](file:///etc/passwd)",
    "![x](data:image/png;base64,AAAA)",
    '<img src="http://127.0.0.1:9/b.png">',
    '<style>body { background: url("http://127.0.0.1:9/c.png") }</style>',
    '<link rel="stylesheet" href="http://127.0.0.1:9/d.css">',
    "[![in a link](http://127.0.0.1:9/e.png)](https://example.org)",
    "| ![x](http://127.0.0.1:9/f.png) |\n|---|\n| ![y](qrc:/g.png) |",
    "- ![x](http://127.0.0.1:9/h.png)\n> ![y](http://127.0.0.1:9/i.png)",
    "# ![x](http://127.0.0.1:9/j.png)",
    "![x][r]\n\n[r]: http://127.0.0.1:9/k.png",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_is_ever_loaded(make_view: MakeView, text: str) -> None:
    view = make_view([TextBlock("t", text)])
    view.grab()
    document = document_of(view, 0)
    assert document.refused == []
    assert (
        document.resource(QTextDocument.ResourceType.ImageResource, QUrl("http://127.0.0.1:9/x"))
        is None
    )
    assert "http://127.0.0.1:9/x" in document.refused


def test_pictures_become_words(make_view: MakeView) -> None:
    view = make_view([TextBlock("t", "See ![the cat](https://example.org/c.png), **![b](x)**.")])
    assert shown_text(view) == "See [image: the cat], [image: b]."


def test_html_is_text(make_view: MakeView) -> None:
    text = "<script>alert(1)</script> <b>bold</b> <a href='javascript:x'>y</a>"
    view = make_view([TextBlock("t", text), UserBlock("u", text), NoticeBlock("n", text)])
    for number in range(3):
        assert shown_text(view, number) == text


def test_only_web_and_mail_addresses_are_links(make_view: MakeView) -> None:
    view = make_view([TextBlock("t", DANGER)])
    document = document_of(view, 0)
    assert links_of(document) == ["https://example.org"]
    assert "run me" in shown_text(view)


@pytest.mark.parametrize(
    ("href", "safe"),
    [
        ("https://example.org", True),
        ("HTTP://EXAMPLE.ORG", True),
        ("mailto:a@example.org", True),
        ("javascript:alert(1)", False),
        (" javascript:alert(1)", False),
        ("file:///etc/passwd", False),
        ("//example.org/share", False),
        ("\\\\host\\share", False),
        ("vscode://file/x", False),
        ("data:text/html,x", False),
        ("other.md", False),
        ("", False),
    ],
)
def test_which_addresses_are_links(href: str, safe: bool) -> None:
    assert markdown.is_safe_link(href) is safe
    found = links_of(markdown.build(f"[x](<{href}>)", Theme("light")))
    assert bool(found) is safe


def test_control_characters_do_no_harm(make_view: MakeView) -> None:
    nasty = "a\x00b\x07c\x1b[31md\u202ee\ufffcf\u2028g"
    tool = ToolBlock("x", "i", "Bash", {"command": nasty}, ToolState.FAILED, nasty)
    view = make_view(
        [TextBlock("t", nasty), UserBlock("u", nasty), ThinkingBlock("h", nasty), tool]
    )
    view.toggle(2)
    view.toggle(3)
    view.grab()
    for number in range(4):
        shown = shown_text(view, number)
        assert not set(shown) & set("\x00\x07\x1b\u202e\ufffc")


def test_colours_of_a_terminal(make_view: MakeView) -> None:
    view = make_view([ToolBlock("t", "i", "Bash", {"command": "pytest"}, ToolState.DONE, ANSI)])
    view.toggle(0)
    document = document_of(view, 0)
    assert document.toPlainText().startswith(
        "pytest\n✓ test_enqueue (0.02 s)\n✗ test_pump expected"
    )
    colours = {}
    for word in ("✓", "✗", "at pump", "12 passed"):
        cursor = document.find(word)
        colours[word] = cursor.charFormat().foreground().color().name()
    assert len(set(colours.values())) == 4
    assert document.find("expected").charFormat().fontWeight() == 700


def test_right_to_left_paragraphs(make_view: MakeView) -> None:
    view = make_view([TextBlock("t", RIGHT_TO_LEFT)])
    document = document_of(view, 0)
    directions = [document.findBlockByNumber(n).textDirection() for n in range(2)]
    assert directions == [Qt.LayoutDirection.RightToLeft, Qt.LayoutDirection.LeftToRight]


@pytest.mark.rule("G3")
def test_one_line_of_30_megabytes(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(
        [ToolBlock("t", "i", "Bash", {"command": "cat big"}, ToolState.DONE, "x" * 30_000_000)]
    )
    begin = time.perf_counter()
    view.toggle(0)
    view.grab()
    assert time.perf_counter() - begin < 0.5
    assert len(shown_text(view)) < 3000
    click_more(view, 0)
    window = view.findChild(WholeText)
    assert window is not None
    qtbot.addWidget(window)
    assert window.windowTitle() == "Bash – output"
    assert not window.is_complete
    qtbot.waitUntil(lambda: window.edit.document().characterCount() > 100_000)
    window.close()


def test_the_window_of_the_whole_output_has_all_of_it(make_view: MakeView, qtbot: QtBot) -> None:
    text = (
        "\n".join(f"\x1b[32mline {number}\x1b[0m" for number in range(30_000)) + "\n" + "y" * 5000
    )
    view = make_view()
    window = WholeText("Bash", text, view)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitUntil(lambda: window.is_complete)
    shown = window.edit.toPlainText()
    assert shown.startswith("line 0\nline 1\n")
    assert "line 29999\n" in shown
    assert shown.count("y") == 5000
    assert max(map(len, shown.split("\n"))) == 1000


@pytest.mark.rule("G3")
@pytest.mark.parametrize(
    "text",
    [
        "x" * 400_000,
        "a b " * 100_000,
        "*" * 50_000,
        "[" * 20_000,
        "> " * 5_000 + "x",
        "```\n" + "y" * 300_000,
    ],
    ids=["one word", "one line", "stars", "brackets", "quotes", "code"],
)
def test_strange_texts_do_not_freeze(make_view: MakeView, text: str) -> None:
    view = make_view()
    begin = time.perf_counter()
    view.set_blocks([TextBlock("t", text)])
    view.grab()
    assert time.perf_counter() - begin < 2.0


def test_emoji_count_as_qt_counts(make_view: MakeView) -> None:
    view = make_view([TextBlock("t", '🎉🎉 words\n\n```python\nx = "🎉🎉"  # a comment\n```')])
    document = document_of(view, 0)
    block = document.findBlockByNumber(document.code_runs[0][0])
    comment = max(block.layout().formats(), key=lambda piece: piece.start)
    assert comment.start == len('x = "🎉🎉"  '.encode("utf-16-le")) // 2
