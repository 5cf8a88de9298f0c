"""An error in a call-back of Qt is reported once and answered with something harmless."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from walnut_desktop.gui.guard import never_raises, set_reporter


class Widget:
    """Has one method that fails."""

    @never_raises("fallback")
    def sizeHint(self, fail: str = "") -> str:
        """Fails when told to."""
        if fail:
            raise ValueError(fail)
        return "fine"


@pytest.fixture(autouse=True)
def no_reporter() -> Iterator[None]:
    set_reporter(None)
    yield
    set_reporter(None)


def test_what_works_is_passed_on() -> None:
    assert Widget().sizeHint() == "fine"
    assert Widget.sizeHint.__doc__ == "Fails when told to."


def test_an_error_is_reported_once() -> None:
    heard: list[tuple[str, str]] = []
    set_reporter(lambda error, where: heard.append((str(error), where)))
    for _ in range(3):
        assert Widget().sizeHint("one") == "fallback"
    Widget().sizeHint("other")
    assert heard == [("one", "Widget.sizeHint"), ("other", "Widget.sizeHint")]


def test_the_log_hears_of_it_by_default(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        Widget().sizeHint("one")
    assert "Widget.sizeHint" in caplog.text


def test_the_end_of_the_program_is_not_held_up() -> None:
    class Ends:
        @never_raises(None)
        def event(self) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Ends().event()
