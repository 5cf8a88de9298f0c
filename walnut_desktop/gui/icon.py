"""Icons from our own drawings, in the colour and size that is asked for, sharp at every scale."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

FOLDER = Path(__file__).parent / "icons"
_RATIOS = (1.0, 2.0, 3.0)
_SMALL = (16, 22, 24)
_LARGE = (32, 44, 48, 64, 96, 128, 256)


def icon(name: str, color: QColor, size: int) -> QIcon:
    """The drawing `name` with its lines in `color`."""
    return _icon(name, color.name(), size)


@lru_cache(maxsize=256)
def _icon(name: str, color: str, size: int) -> QIcon:
    drawing = (FOLDER / f"{name}.svg").read_text().replace("currentColor", color).encode()
    result = QIcon()
    for ratio in _RATIOS:
        pixmap = _pixmap(drawing, round(size * ratio))
        pixmap.setDevicePixelRatio(ratio)
        result.addPixmap(pixmap)
    return result


@lru_cache(maxsize=1)
def app_icon() -> QIcon:
    """The walnut; the small sizes have a drawing of their own, without what would blur."""
    result = QIcon()
    for name, sizes in (("walnut-small", _SMALL), ("walnut", _LARGE)):
        drawing = (FOLDER / f"{name}.svg").read_bytes()
        for size in sizes:
            result.addPixmap(_pixmap(drawing, size))
    return result


def _pixmap(drawing: bytes, size: int) -> QPixmap:
    pixmap = QPixmap(size, size)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(drawing)).render(painter, QRectF(pixmap.rect()))
    painter.end()
    return pixmap
