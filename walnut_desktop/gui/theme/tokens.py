"""The colours of the app, by role, for light and for dark. Every text colour is readable on its ground.

A test holds the contrast (4.5 to 1), so that a change of taste can't make words unreadable.
"""

from __future__ import annotations

LIGHT: dict[str, str] = {
    "window": "#f6f3ee",
    "surface": "#fffdfa",
    "raised": "#ffffff",
    "text": "#2b2622",
    "muted": "#6b625a",
    "border": "#e2dbd1",
    "strong_border": "#c9bfb1",
    "accent": "#8a5a34",
    "accent_hover": "#754a29",
    "on_accent": "#ffffff",
    "focus": "#8a5a34",
    "hover": "#efe9e0",
    "selection": "#eadfce",
    "highlight": "#f0d9b8",
    "user_card": "#f3ebdf",
    "code_ground": "#f4efe7",
    "code_text": "#3a332c",
    "link": "#7a4a1f",
    "danger": "#b3261e",
    "danger_ground": "#fbeae8",
    "warning": "#8a5300",
    "warning_ground": "#fdf1dc",
    "success": "#2c6e49",
    "success_ground": "#e6f2ea",
    "syntax_keyword": "#7b3f9e",
    "syntax_string": "#2c6e49",
    "syntax_comment": "#6f665d",
    "syntax_number": "#9a4a00",
    "syntax_name": "#1f5a96",
}

DARK: dict[str, str] = {
    "window": "#1c1a18",
    "surface": "#23201d",
    "raised": "#2b2824",
    "text": "#ece6de",
    "muted": "#aca297",
    "border": "#3a352f",
    "strong_border": "#544c43",
    "accent": "#d9a066",
    "accent_hover": "#e6b37f",
    "on_accent": "#241a10",
    "focus": "#d9a066",
    "hover": "#2e2a26",
    "selection": "#40362b",
    "highlight": "#5d4a32",
    "user_card": "#302a23",
    "code_ground": "#1b1916",
    "code_text": "#e4ddd3",
    "link": "#e0b07a",
    "danger": "#ff8a80",
    "danger_ground": "#3b2422",
    "warning": "#f0b45b",
    "warning_ground": "#392d1b",
    "success": "#84c79b",
    "success_ground": "#20312a",
    "syntax_keyword": "#cf9bea",
    "syntax_string": "#9fd39f",
    "syntax_comment": "#938a80",
    "syntax_number": "#f0a868",
    "syntax_name": "#8fbfef",
}

SCHEMES = {"light": LIGHT, "dark": DARK}

# Which colour is read on which ground.
TEXT_PAIRS = (
    ("text", "window"),
    ("text", "surface"),
    ("text", "raised"),
    ("text", "selection"),
    ("text", "hover"),
    ("text", "user_card"),
    ("text", "highlight"),
    ("muted", "window"),
    ("muted", "surface"),
    ("muted", "raised"),
    ("on_accent", "accent"),
    ("on_accent", "accent_hover"),
    ("code_text", "code_ground"),
    ("link", "surface"),
    ("danger", "surface"),
    ("danger", "danger_ground"),
    ("warning", "warning_ground"),
    ("warning", "surface"),
    ("success", "surface"),
    ("success", "window"),
    ("danger", "window"),
    ("text", "selection"),
    ("text", "code_ground"),
    ("text", "success_ground"),
    ("text", "danger_ground"),
    ("muted", "hover"),
    ("muted", "selection"),
    ("muted", "user_card"),
    ("muted", "code_ground"),
    ("code_text", "raised"),
    ("link", "raised"),
    ("link", "hover"),
    ("link", "user_card"),
    ("accent", "raised"),
    ("success", "raised"),
    ("danger", "raised"),
    ("warning", "raised"),
    ("syntax_keyword", "code_ground"),
    ("syntax_string", "code_ground"),
    ("syntax_comment", "code_ground"),
    ("syntax_number", "code_ground"),
    ("syntax_name", "code_ground"),
)


def luminance(colour: str) -> float:
    """The relative luminance of `#rrggbb` (WCAG 2)."""

    def channel(text: str) -> float:
        value = int(text, 16) / 255
        return float(value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4)

    red, green, blue = (channel(colour[at : at + 2]) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """How far two colours are apart, 1 to 21 (WCAG 2)."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
