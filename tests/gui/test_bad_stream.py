"""Whatever an agent writes is shown or skipped and counted, and never ends anything (Rule S10)."""

from __future__ import annotations

import json

import pytest

from tests.gui.conftest import MakeRig
from tests.gui.rig import Rig, eventually
from walnut_desktop.domain.session import SessionStatus
from walnut_desktop.gui.application import Application


async def run(rig: Rig, prompt: str) -> None:
    """One turn from begin to end."""
    await rig.open()
    await rig.add_task("Odd output")
    await rig.start(prompt)
    await eventually(lambda: rig.session().status is SessionStatus.IDLE, "the end of the turn")


@pytest.mark.rule("S10")
async def test_garbage_and_torn_lines(qapp: Application, rig_of: MakeRig) -> None:
    async with rig_of("practice") as rig:
        unknown = json.dumps({"type": "made_up_next_year", "x": [1, {"y": None}]})
        await run(
            rig,
            f'[[garbage not JSON at all]] [[raw {unknown}]] [[torn {{"type":"assistant","mess]] '
            "[[say Still fine.]]",
        )
        await eventually(lambda: "Still fine." in "".join(rig.texts()[1:]), "the answer")
        live = rig.core.sessions.follower.get(rig.session().sid)
        assert live is not None
        assert live.state.bad == 2
        assert live.state.unknown == 1
        assert "could not be read" in rig.shown()


@pytest.mark.rule("S10")
async def test_text_of_all_kinds(qapp: Application, rig_of: MakeRig) -> None:
    words = "Grüße 👩‍💻🎉 שלום עולם مرحبا"
    async with rig_of("practice") as rig:
        await run(
            rig,
            f"[[say {words}]] [[tool Bash {json.dumps({'command': 'echo odd'})}]] [[say end]]",
        )
        assert words in rig.texts()


@pytest.mark.rule("S10")
async def test_colours_of_a_terminal_and_bytes_that_are_no_text(
    qapp: Application, rig_of: MakeRig
) -> None:
    command = r"printf '\033[31mred\033[0m \033]0;title\007 \377\376 \007bell'"
    async with rig_of("practice") as rig:
        await rig.open()
        await rig.add_task("Colours")
        await rig.start(f"[[tool Bash {json.dumps({'command': command})}]] [[say seen]]")
        await eventually(
            lambda: rig.desktop.window.chat.card is not None or "seen" in rig.texts(), "a card"
        )
        if rig.desktop.window.chat.card is not None:
            rig.allow()
        await eventually(lambda: rig.session().status is SessionStatus.IDLE, "the end of the turn")
        view = rig.desktop.window.chat.transcript
        await eventually(lambda: "seen" in rig.texts(), "the answer")
        number = next(n for n, row in enumerate(view.surface.rows.rows) if row.foldable)
        view.toggle(number)
        document = view.surface.laid(number).document
        assert document is not None
        text = document.toPlainText()
        assert "red" in text
        assert "\x1b" not in text
        assert "title" not in text.split("\n")[-1]
        assert "bell" in text


@pytest.mark.rule("S10")
@pytest.mark.slow
async def test_a_line_of_30_megabytes(qapp: Application, rig_of: MakeRig) -> None:
    async with rig_of("practice") as rig:
        await run(rig, "[[long 30000000]]")
        await eventually(lambda: "could not be read" in rig.shown(), "it is said")
        rig.write("[[say Small again.]]")
        await eventually(lambda: "Small again." in "".join(rig.texts()[-3:]), "the next answer")
        await rig.until_idle()


HOSTILE = """\
<script>alert(1)</script> <img src="http://127.0.0.1:9/x.png"> <b>bold?</b>

![a picture](http://127.0.0.1:9/y.png) ![local](file:///etc/passwd)

[run](javascript:alert(1)) [file](file:///etc/passwd) [data](data:text/html,x)
[good](https://example.com/page)
"""


@pytest.mark.rule("G10")
async def test_nothing_is_loaded_and_nothing_is_run(qapp: Application, rig_of: MakeRig) -> None:
    async with rig_of("practice") as rig:
        await run(rig, f"[[say {HOSTILE}]]")
        view = rig.desktop.window.chat.transcript
        await eventually(lambda: any("<script>" in text for text in rig.texts()[1:]), "the answer")
        view.grab()
        number = next(
            n for n, row in enumerate(view.surface.rows.rows) if "a picture" in row.text and n
        )
        document = view.surface.laid(number).document
        assert document is not None
        text = document.toPlainText()
        assert "<script>alert(1)</script>" in text
        assert "<b>bold?</b>" in text
        assert "[image: a picture]" in text
        assert document.refused == [], "nothing was even asked for"
        links = set()
        block = document.begin()
        while block.isValid():
            fragments = block.begin()
            while not fragments.atEnd():
                look = fragments.fragment().charFormat()
                if look.isAnchor():
                    links.add(look.anchorHref())
                fragments += 1
            block = block.next()
        assert links == {"https://example.com/page"}


@pytest.mark.rule("G10")
async def test_a_link_opens_only_after_showing_where_it_goes(
    qapp: Application, rig_of: MakeRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    from PySide6.QtGui import QDesktopServices
    from PySide6.QtWidgets import QMessageBox

    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    async with rig_of("practice") as rig:
        await run(rig, "[[say Look at [the page](https://example.com/a?b=c).]]")
        view = rig.desktop.window.chat.transcript
        view.grab()
        view.link_activated.emit("https://example.com/a?b=c")
        box = rig.desktop.window.findChild(QMessageBox, "linkQuestion")
        assert box is not None
        assert "https://example.com/a?b=c" in box.informativeText()
        assert opened == []
        box.button(QMessageBox.StandardButton.Open).click()
        await eventually(lambda: opened == ["https://example.com/a?b=c"], "the browser")
