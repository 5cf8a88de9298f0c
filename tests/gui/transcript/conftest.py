"""A transcript view on an unseen screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from walnut_desktop.gui import guard
from walnut_desktop.gui.theme import apply_theme
from walnut_desktop.gui.transcript_view import TranscriptView
from walnut_desktop.transcript.blocks import Block

MakeView = Callable[..., TranscriptView]


@pytest.fixture(autouse=True)
def no_hidden_errors(qtbot: QtBot) -> Iterator[None]:
    """What a guarded override swallows fails the test."""
    problems: list[str] = []
    guard.set_reporter(lambda error, where: problems.append(f"{where}: {error!r}"))
    yield
    guard.set_reporter(None)
    assert problems == []


@pytest.fixture
def make_view(qtbot: QtBot, qapp: QApplication) -> MakeView:
    """Makes a shown view of some blocks."""

    def make(blocks: Sequence[Block] = (), width: int = 800, height: int = 600) -> TranscriptView:
        view = TranscriptView()
        qtbot.addWidget(view)
        view.set_theme(apply_theme(qapp, "light"))
        view.resize(width, height)
        view.set_blocks(blocks)
        with qtbot.waitExposed(view):
            view.show()
        qapp.processEvents()
        return view

    return make
