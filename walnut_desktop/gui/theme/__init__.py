"""stand-in"""

from PySide6.QtGui import QColor


class Theme:
    def color(self, name: str) -> QColor:
        return QColor(
            {
                "muted": "#777",
                "danger": "#c33",
                "success": "#383",
                "accent": "#7a4a2a",
                "selection": "#eed",
                "hover": "#f4f0e8",
                "surface": "#fff",
                "on_accent": "#fff",
                "focus": "#7a4a2a",
            }.get(name, "#222")
        )


def apply_theme(app: object, wish: str) -> Theme:
    return Theme()
