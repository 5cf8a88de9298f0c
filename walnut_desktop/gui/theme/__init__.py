"""How the app looks: colours, fonts and style sheet for light and dark."""

from walnut_desktop.gui.theme.theme import Theme, apply_theme, wanted_scheme

__all__ = ["Theme", "apply_theme", "wanted_scheme"]
