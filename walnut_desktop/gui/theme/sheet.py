"""The style sheet, made from the colour table. Sizes follow the font, so that text scales (Rule G13)."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template

_SHEET = Template("""
* { font-size: ${size}pt; }
QWidget { color: $text; }
QMainWindow, QDialog, QMessageBox { background: $window; }
#taskPanel { background: $window; }
#chatPane { background: $surface; }
QSplitter::handle { background: $border; }
QSplitter::handle:horizontal { width: 1px; }
QLabel[class~="heading"] { font-size: ${heading}pt; font-weight: 600; }
QLabel[class~="title"] { font-weight: 600; }
QLabel[class~="muted"] { color: $muted; }
QLabel[class~="small"] { font-size: ${small}pt; }
QLabel[class~="pill"] { border-radius: 9px; padding: 2px 9px; font-size: ${small}pt;
    background: $hover; color: $text; }
QLabel[class~="pill"][state="attention"] { background: $danger_ground; color: $danger; font-weight: 600; }
QLabel[class~="pill"][state="error"] { background: $danger_ground; color: $danger; font-weight: 600; }
QLabel[class~="pill"][state="working"] { background: $success_ground; color: $success; }
QLineEdit, QComboBox { background: $raised; border: 1px solid $strong_border; border-radius: 7px;
    padding: 6px 9px;
    selection-background-color: $highlight; selection-color: $text; }
QLineEdit:focus, QComboBox:focus { border: 2px solid $focus; padding: 5px 8px; }
QLineEdit:disabled { color: $muted; background: $window; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: url("$arrow"); width: 12px; height: 12px; margin-right: 8px; }
QComboBox QAbstractItemView { background: $raised; border: 1px solid $strong_border;
    border-radius: 7px; padding: 4px;
    selection-background-color: $selection; selection-color: $text; outline: none; }
QPushButton, QToolButton { background: $raised; border: 1px solid $strong_border;
    border-radius: 7px; padding: 6px 14px; }
QPushButton:hover, QToolButton:hover { background: $hover; }
QPushButton:focus, QToolButton:focus { border: 2px solid $focus; padding: 5px 13px; }
QPushButton:disabled, QToolButton:disabled { color: $muted; border-color: $border;
    background: transparent; }
QPushButton[class~="primary"], QToolButton[class~="primary"] { background: $accent; color: $on_accent;
    border: 1px solid $accent; font-weight: 600; }
QPushButton[class~="primary"]:hover, QToolButton[class~="primary"]:hover { background: $accent_hover; }
QPushButton[class~="primary"]:focus, QToolButton[class~="primary"]:focus { border: 2px solid $text; }
QPushButton[class~="primary"]:disabled, QToolButton[class~="primary"]:disabled { background: $border;
    border-color: $border; color: $muted; }
QPushButton[class~="danger"] { color: $danger; }
QPushButton[class~="quiet"], QToolButton[class~="quiet"] { background: transparent;
    border: 1px solid transparent;
    padding: 5px 10px; }
QPushButton[class~="quiet"]:hover, QToolButton[class~="quiet"]:hover { background: $hover; }
QPushButton[class~="quiet"]:focus, QToolButton[class~="quiet"]:focus { border: 2px solid $focus;
    padding: 4px 9px; }
QToolButton#send { padding: 6px; }
QToolButton#send:focus { padding: 5px; }
QFrame#composer { background: $raised; border: 1px solid $strong_border; border-radius: 12px; }
QPlainTextEdit#message { background: transparent; border: none; selection-background-color: $highlight;
    selection-color: $text; }
QFrame#requestCard { background: $raised; border: 1px solid $danger; border-radius: 12px; }
QPlainTextEdit[class~="code"] { background: $code_ground; color: $code_text; border: 1px solid $border;
    border-radius: 7px; padding: 4px; font-family: "$mono"; selection-background-color: $highlight;
    selection-color: $text; }
QPlainTextEdit[class~="code"]:focus { border: 2px solid $focus; padding: 3px; }
QFrame#banner { border: none; border-radius: 0; background: $warning_ground; }
QFrame#banner QLabel { color: $warning; }
QFrame#banner[class~="error"] { background: $danger_ground; }
QFrame#banner[class~="error"] QLabel { color: $danger; }
QListView, QTreeView { background: transparent; border: none; outline: none; }
QTreeView::item { padding: 3px 4px; }
QHeaderView::section { background: $window; color: $muted; border: none; border-bottom: 1px solid $border;
    padding: 5px 8px; }
QFrame[class~="card"] { background: $raised; border: 1px solid $border; border-radius: 12px; }
QTextEdit { background: $raised; border: 1px solid $strong_border; border-radius: 7px; padding: 4px;
    selection-background-color: $highlight; selection-color: $text; }
QTextEdit:focus { border: 2px solid $focus; padding: 3px; }
QListView QLineEdit { padding: 2px 6px; }
#chatHeader { background: $surface; border-bottom: 1px solid $border; }
QCheckBox { spacing: 7px; color: $muted; }
QCheckBox::indicator { width: 13px; height: 13px; border: 1px solid $muted; border-radius: 4px;
    background: $raised; }
QCheckBox::indicator:checked { background: $accent; border-color: $accent; image: url("$tick"); }
QCheckBox:focus { color: $text; text-decoration: underline; }
QMenu { background: $raised; border: 1px solid $strong_border; border-radius: 8px; padding: 5px; }
QMenu::item { padding: 6px 22px 6px 14px; border-radius: 5px; }
QMenu::item:selected { background: $selection; }
QMenu::item:disabled { color: $muted; }
QMenu::separator { height: 1px; background: $border; margin: 5px 8px; }
QToolTip { background: $raised; color: $text; border: 1px solid $strong_border; padding: 5px; }
QScrollBar:vertical { background: transparent; width: 11px; margin: 2px; }
QScrollBar::handle:vertical { background: $strong_border; border-radius: 3px; min-height: 34px;
    margin: 0 2px; }
QScrollBar::handle:vertical:hover { background: $muted; }
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page { background: none;
    border: none; height: 0; width: 0; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 2px; }
QScrollBar::handle:horizontal { background: $strong_border; border-radius: 3px; min-width: 34px;
    margin: 2px 0; }
QScrollBar::handle:horizontal:hover { background: $muted; }
""")


def style_sheet(colours: Mapping[str, str], size: float, mono: str, tick: str, arrow: str) -> str:
    """The sheet for a colour table, a font size in points, and the drawings of a tick and an arrow."""
    return _SHEET.substitute(
        colours,
        size=f"{size:.1f}",
        small=f"{size * 0.88:.1f}",
        heading=f"{size * 1.18:.1f}",
        mono=mono,
        tick=tick,
        arrow=arrow,
    )
