"""The transcript as a widget: its own scroll area over a `Surface` (D21).

Changes only mark what is dirty; one timer draws at most every 33 ms, however fast text streams in.
Someone who has scrolled up is never moved; someone at the end stays at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QHideEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from walnut_desktop.gui.guard import never_raises
from walnut_desktop.gui.theme import Theme
from walnut_desktop.gui.transcript_view.accessible import announce_rows, tell_turn
from walnut_desktop.gui.transcript_view.ambience import Ambience
from walnut_desktop.gui.transcript_view.finding import Finder
from walnut_desktop.gui.transcript_view.focus import BlockFocus
from walnut_desktop.gui.transcript_view.hands import Hands
from walnut_desktop.gui.transcript_view.keys import Keys
from walnut_desktop.gui.transcript_view.painting import Look
from walnut_desktop.gui.transcript_view.rows import TailMessage, block_text
from walnut_desktop.gui.transcript_view.selection import Chosen, Selection
from walnut_desktop.gui.transcript_view.surface import Placed, Surface
from walnut_desktop.transcript.blocks import Block, Change, TurnBlock

FRAME_MS = 33
NEAR_TOP = 1.5  # so many screens from the top, older blocks are asked for
WHEEL_LINES = 3


class TranscriptView(QAbstractScrollArea):
    """Shows blocks, follows them while they grow, and says what the person does with them."""

    link_activated = Signal(str)
    older_wanted = Signal()
    at_bottom_changed = Signal(bool)
    retry_wanted = Signal(str)
    discard_wanted = Signal(str)

    _ready = False  # Qt sends events while it still builds the widget

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("transcript")
        self.theme = Theme("light")
        self.surface = Surface(self.theme)
        self.selection = Selection(self.surface)
        self.placed: list[Placed] = []
        self.hands = Hands(self)
        self.keys = Keys(self)
        self.ambience = Ambience(self)
        self.focus = BlockFocus(self)
        self._finder = Finder(self.surface, self.selection)
        self._changes: list[Change] = []
        self._more_above = False
        self._asked_older = False
        self._was_at_bottom = True
        self._setting = False
        self.setAccessibleName("Transcript")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setMouseTracking(True)
        self._frame = QTimer(self)
        self._frame.setSingleShot(True)
        self._frame.setInterval(FRAME_MS)
        self._frame.timeout.connect(self._draw)
        self.verticalScrollBar().valueChanged.connect(self._bar_moved)
        announce_rows(self)
        self.set_theme(self.theme)
        self._ready = True

    # -- what it is told ------------------------------------------------------------------------------

    def set_blocks(self, blocks: Sequence[Block]) -> None:
        """A new transcript, shown from its end."""
        self._changes = []
        self.surface.drop_layouts()
        self.surface.rows.reset(blocks)
        self.selection.clear()
        self.focus.clear()
        self._asked_older = False
        self.surface.stick()
        self.ambience.nothing_new()
        self._refresh()

    def prepend(self, blocks: Sequence[Block]) -> None:
        """Older blocks; what is in view does not move."""
        self._flush()
        self.surface.anchor += self.surface.rows.prepend(blocks)
        self._asked_older = False
        self._refresh()

    def apply(self, changes: Sequence[Change]) -> None:
        """Blocks have come or grown; drawn with the next frame."""
        self._changes += changes
        if not self._frame.isActive():
            self._frame.start()

    def set_tail(self, messages: Sequence[TailMessage]) -> None:
        """Messages on their way, below the last block."""
        self._flush()
        self.surface.rows.set_tail(messages)
        self._refresh()

    def set_busy(self, text: str) -> None:
        """A calm line at the end while something goes on; empty for nothing."""
        if self.ambience.set_busy(text):
            self.surface.extra = self.ambience.busy_room
            self._refresh()

    def set_more_above(self, more: bool) -> None:
        """Whether there is an older part to be asked for."""
        self._more_above = more
        self._asked_older = False
        self.surface.top = self.ambience.top_room(more=more)
        self._refresh()
        self._look_up()

    def set_placeholder(self, title: str, text: str) -> None:
        """The words of an empty transcript."""
        self.ambience.set_placeholder(title, text)

    def set_theme(self, theme: Theme) -> None:
        """Draw in other colours and fonts."""
        self.theme = theme
        ground = theme.color("surface").name()
        self.verticalScrollBar().setStyleSheet(
            f"QScrollBar:vertical {{ background: {ground}; border: 1px solid {ground};"
            " margin: 0; width: 12px; }"
        )
        self.surface.set_theme(theme)
        self.ambience.set_theme(theme)
        self.surface.extra = self.ambience.busy_room
        self._refresh()

    # -- what it is asked -----------------------------------------------------------------------------

    def block_count(self) -> int:
        """How many blocks it shows."""
        self._flush()
        return self.surface.rows.block_count()

    def block_texts(self) -> list[str]:
        """The text of every block, in order."""
        self._flush()
        return self.surface.rows.texts()

    def is_at_bottom(self) -> bool:
        """Whether it follows the end."""
        return self.surface.sticky

    def has_selection(self) -> bool:
        """Whether words are chosen."""
        return self.selection.chosen() is not None

    def selected_text(self) -> str:
        """The chosen words."""
        return self.selection.text()

    def copy_selection(self) -> None:
        """The chosen words into the clipboard, or the block that has the keyboard."""
        text = self.selection.text()
        if not text and self.focus.row is not None:
            text = block_text(self.focus.row.block)
        if text:
            QGuiApplication.clipboard().setText(text)

    def select_all(self) -> None:
        """Choose everything."""
        self._flush()
        self.selection.choose_all()
        self.viewport().update()

    def clear_selection(self) -> None:
        """Choose nothing."""
        self.selection.clear()
        self.viewport().update()

    def find(self, text: str, backward: bool = False) -> int:  # type: ignore[override]
        """Go to the next place that has the text; answers how many places there are."""
        self._flush()
        count = self._finder.find(text, backward=backward)
        self._refresh()
        return count

    # -- moving ---------------------------------------------------------------------------------------

    def scroll_to_bottom(self) -> None:
        """Go to the end and follow it."""
        self._flush()
        self.surface.stick()
        self._refresh()

    def scroll_to_top(self) -> None:
        """Go to the beginning."""
        self.surface.scroll_to(0)
        self.moved()

    def scroll_by(self, pixels: float) -> None:
        """Move so many pixels, as a person."""
        self._flush()
        self.surface.scroll_by(round(pixels))
        self.moved()

    def toggle(self, number: int) -> None:
        """Fold or unfold a row."""
        self.focus.toggle(number)

    def moved(self) -> None:
        """Rows changed their place because the person wished it."""
        self._refresh()
        self._look_up()

    # -- drawing --------------------------------------------------------------------------------------

    def _flush(self) -> None:
        changes, self._changes = self._changes, []
        for change in changes:
            self.surface.rows.apply(change)
            if change.is_new and isinstance(change.block, TurnBlock):
                tell_turn(self, change.block)

    def _draw(self) -> None:
        if self._changes:
            self._flush()
            if not self.surface.sticky:
                self.ambience.something_new()
        self._refresh()

    def _refresh(self) -> None:
        """Something is another: find out what is on screen now, and paint it soon."""
        if self.isVisible():
            self._place()
        self.viewport().update()

    def _place(self) -> None:
        self.placed = self.surface.visible()
        bar = self.verticalScrollBar()
        self._setting = True
        bar.setPageStep(self.viewport().height())
        bar.setSingleStep(round(self.surface.layout.line * WHEEL_LINES))
        bar.setRange(0, self.surface.scroll_max)
        bar.setValue(self.surface.scroll_value)
        self._setting = False
        at_bottom = self.surface.sticky
        if at_bottom:
            self.ambience.nothing_new()
        if at_bottom != self._was_at_bottom:
            self._was_at_bottom = at_bottom
            self.at_bottom_changed.emit(at_bottom)

    def _bar_moved(self, value: int) -> None:
        """The person moved the bar."""
        if self._setting:
            return
        self._flush()
        by = value - self.surface.scroll_value
        if value >= self.verticalScrollBar().maximum():
            self.surface.stick()
        elif abs(by) <= self.viewport().height():
            self.surface.scroll_by(by)
        else:
            self.surface.scroll_to(value)
        self.moved()

    def _look_up(self) -> None:
        if not self._more_above or self._asked_older or not len(self.surface.rows):
            return
        if self.surface.scroll_value < NEAR_TOP * self.viewport().height():
            self._asked_older = True
            self.older_wanted.emit()

    def row_at(self, point: QPoint | QPointF) -> Placed | None:
        """The row on screen at a point of the viewport."""
        y = point.y()
        return next((p for p in self.placed if p.y <= y < p.bottom), None)

    def _paint_row(self, painter: QPainter, spot: Placed, chosen: Chosen | None) -> None:
        painter.save()
        painter.translate(QPointF(self.surface.left, spot.y))
        row = self.surface.rows[spot.number]
        hovered, code = self.hands.hovered, self.hands.code
        look = Look(
            selection=self.selection.part_of(chosen, spot.number),
            focused=self.focus.ring and row is self.focus.row and self.hasFocus(),
            clip=QRectF(0, -spot.y, self.surface.layout.width, self.viewport().height()),
            hovered=hovered[1] if hovered is not None and hovered[0] is row else None,
            code=code[1] if code is not None and code[0] is row else -1,
            copied=self.hands.just_copied,
        )
        self.surface.painter.paint(painter, row, spot.laid, look)
        painter.restore()

    # -- Qt -------------------------------------------------------------------------------------------

    @never_raises(None)
    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what is on screen."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(event.rect(), self.theme.color("surface"))
        if not len(self.surface.rows):
            self.placed = []
            self.ambience.paint_placeholder(painter)
        chosen = self.selection.chosen()
        for spot in self.placed:
            if spot.bottom > event.rect().top() and spot.y < event.rect().bottom() + 1:
                self._paint_row(painter, spot, chosen)
        self.ambience.paint(painter, more_above=self._more_above)

    @never_raises(None)
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width lays out anew; the place stays."""
        super().resizeEvent(event)
        # The bar's room is kept free also without it: words don't move when it comes.
        width = self.contentsRect().width() - self.verticalScrollBar().sizeHint().width()
        self.surface.set_size(width, self.viewport().height())
        self.ambience.place_jump()
        self._refresh()

    @never_raises(None)
    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Everything is painted anew: nothing is moved by pixels."""
        self.viewport().update()

    @never_raises(None)
    def showEvent(self, event: QShowEvent) -> None:
        """It can be seen."""
        super().showEvent(event)
        self._place()
        self.ambience.wake()
        self._look_up()

    @never_raises(None)
    def hideEvent(self, event: QHideEvent) -> None:
        """It can't be seen."""
        super().hideEvent(event)
        self.ambience.wake()

    @never_raises(fallback=False)
    def viewportEvent(self, event: QEvent) -> bool:
        """Mouse and tool tips go to the hands first."""
        if not self._ready:
            return super().viewportEvent(event)
        if isinstance(event, QContextMenuEvent):
            return self.keys.open_menu(event)
        return self.hands.mouse(event) or super().viewportEvent(event)

    @never_raises(None)
    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel moves by lines, a touch pad by pixels; what was guessed plays no part."""
        pixels = event.pixelDelta().y()
        if not pixels:
            pixels = round(event.angleDelta().y() / 120 * self.verticalScrollBar().singleStep())
        if pixels and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.scroll_by(-pixels)
            event.accept()
        else:
            event.ignore()

    @never_raises(None)
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """What the keys don't know goes on to the window."""
        if not self.keys.key(event):
            event.ignore()

    @never_raises(None)
    def focusInEvent(self, event: QFocusEvent) -> None:
        """The ring shows where the keyboard is."""
        super().focusInEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            self.keys.begin()
        self.viewport().update()

    @never_raises(None)
    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The ring goes."""
        super().focusOutEvent(event)
        self.viewport().update()
