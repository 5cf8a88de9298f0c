"""stand-in"""

from PySide6.QtGui import QColor, QIcon, QPixmap


def icon(name: str, color: QColor, size: int) -> QIcon:
    p = QPixmap(size, size)
    p.fill(color)
    return QIcon(p)


def app_icon() -> QIcon:
    p = QPixmap(64, 64)
    p.fill(QColor("#7a4a2a"))
    return QIcon(p)
