"""One theme: colours by role, fonts by role, and what it takes to put it on (D29).

The platform's own scheme switch does nothing on most desktops, so palette and style sheet are always ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontInfo,
    QFontMetricsF,
    QGuiApplication,
    QPalette,
)
from PySide6.QtWidgets import QApplication

from walnut_desktop.gui.theme.sheet import style_sheet
from walnut_desktop.gui.theme.tokens import SCHEMES

_ICONS = Path(__file__).parents[1] / "icons"
USUAL_LINE = 16.0  # the height of a line of 10 points
_MONO = ("JetBrains Mono", "SF Mono", "Cascadia Mono", "Ubuntu Mono", "DejaVu Sans Mono")


@dataclass(frozen=True)
class Theme:
    """Light or dark."""

    scheme: str

    def color(self, role: str) -> QColor:
        """The colour of a role. Raises KeyError for a role that does not exist."""
        return QColor(SCHEMES[self.scheme][role])

    @property
    def is_dark(self) -> bool:
        """Whether the ground is dark."""
        return self.scheme == "dark"

    @cached_property
    def font(self) -> QFont:
        """The font of words: the desktop's own, never smaller than 10 points."""
        font = QFont(QApplication.font())
        # A font that is set in pixels has no points of its own.
        size = font.pointSizeF() if font.pointSizeF() > 0 else QFontInfo(font).pointSizeF()
        font.setPointSizeF(max(size, 10.0))
        return font

    @cached_property
    def _scale(self) -> float:
        return max(1.0, QFontMetricsF(self.font).lineSpacing() / USUAL_LINE)

    def px(self, pixels: float) -> int:
        """So many pixels beside text of the usual size; more beside larger text."""
        return round(pixels * self._scale)

    @cached_property
    def small_font(self) -> QFont:
        """For labels beside words."""
        font = QFont(self.font)
        font.setPointSizeF(self.font.pointSizeF() * 0.88)
        return font

    @cached_property
    def mono_font(self) -> QFont:
        """The font of code and output."""
        known = set(QFontDatabase.families())
        family = next((name for name in _MONO if name in known), "")
        font = (
            QFont(family)
            if family
            else QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        )
        font.setStyleHint(QFont.StyleHint.Monospace)
        font.setPointSizeF(self.font.pointSizeF() * 0.94)
        return font

    def palette(self) -> QPalette:
        """The palette for everything that no style sheet reaches."""
        roles = QPalette.ColorRole
        pairs = (
            (roles.Window, "window"),
            (roles.WindowText, "text"),
            (roles.Base, "surface"),
            (roles.AlternateBase, "hover"),
            (roles.Text, "text"),
            (roles.Button, "raised"),
            (roles.ButtonText, "text"),
            (roles.BrightText, "danger"),
            (roles.Highlight, "highlight"),
            (roles.HighlightedText, "text"),
            (roles.Link, "link"),
            (roles.LinkVisited, "link"),
            (roles.ToolTipBase, "raised"),
            (roles.ToolTipText, "text"),
            (roles.PlaceholderText, "muted"),
            (roles.Accent, "accent"),
        )
        palette = QPalette()
        for role, name in pairs:
            palette.setColor(role, self.color(name))
        for role in (roles.WindowText, roles.Text, roles.ButtonText):
            palette.setColor(QPalette.ColorGroup.Disabled, role, self.color("muted"))
        return palette


def wanted_scheme(wish: str) -> str:
    """light or dark for the wish system, light or dark."""
    if wish in SCHEMES:
        return wish
    dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    return "dark" if dark else "light"


def apply_theme(app: QApplication, wish: str) -> Theme:
    """Put a theme on the whole app, at the start or at any time later."""
    theme = Theme(wanted_scheme(wish))
    if app.style().objectName().lower() != "fusion":
        app.setStyle("Fusion")
    app.setPalette(theme.palette())
    tick = (_ICONS / f"tick-{theme.scheme}.svg").as_posix()
    size, mono = theme.font.pointSizeF(), theme.mono_font.family()
    arrow = (_ICONS / f"arrow-{theme.scheme}.svg").as_posix()
    app.setStyleSheet(style_sheet(SCHEMES[theme.scheme], size, mono, tick, arrow))
    return theme
