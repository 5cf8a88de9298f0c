"""Icons from our own drawings, in the colour and size that is asked for, sharp at every scale."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

FOLDER = Path(__file__).parent / "icons"
_RATIOS = (1.0, 2.0, 3.0)


def icon(name: str, color: QColor, size: int) -> QIcon:
    """The drawing `name` with its lines in `color`."""
    return _icon(name, color.name(), size)


@lru_cache(maxsize=256)
def _icon(name: str, color: str, size: int) -> QIcon:
    drawing = (FOLDER / f"{name}.svg").read_text().replace("currentColor", color)
    return _render(drawing.encode(), (size,))


@lru_cache(maxsize=1)
def app_icon() -> QIcon:
    """The walnut."""
    return _render((FOLDER / "walnut.svg").read_bytes(), (16, 22, 32, 48, 64, 128, 256))


def _render(drawing: bytes, sizes: tuple[int, ...]) -> QIcon:
    renderer = QSvgRenderer(QByteArray(drawing))
    result = QIcon()
    for size in sizes:
        for ratio in _RATIOS:
            pixmap = QPixmap(round(size * ratio), round(size * ratio))
            pixmap.fill(Qt.GlobalColor.transparent)
            painter = QPainter(pixmap)
            renderer.render(painter, QRectF(pixmap.rect()))
            painter.end()
            pixmap.setDevicePixelRatio(ratio)
            result.addPixmap(pixmap)
    return result
