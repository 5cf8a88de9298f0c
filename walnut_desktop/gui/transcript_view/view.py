"""The transcript as a widget: its own scroll area over a `Surface` (D21).

Changes only mark what is dirty; one timer draws at most every 33 ms, however fast text streams in.
Someone who has scrolled up is never moved; someone at the end stays at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QPushButton, QWidget

from walnut_desktop.gui.guard import never_raises
from walnut_desktop.gui.icon import icon
from walnut_desktop.gui.theme import Theme
from walnut_desktop.gui.transcript_view.accessible import announce_rows
from walnut_desktop.gui.transcript_view.ambience import Ambience
from walnut_desktop.gui.transcript_view.finding import Finder
from walnut_desktop.gui.transcript_view.hands import Hands
from walnut_desktop.gui.transcript_view.painting import Look
from walnut_desktop.gui.transcript_view.rows import TailMessage, Unfolded
from walnut_desktop.gui.transcript_view.selection import Selection
from walnut_desktop.gui.transcript_view.surface import Placed, Surface
from walnut_desktop.transcript.blocks import Block, Change

FRAME_MS = 33
NEAR_TOP = 600


class TranscriptView(QAbstractScrollArea):
    """Shows blocks, follows them while they grow, and says what the person does with them."""

    link_activated = Signal(str)
    older_wanted = Signal()
    at_bottom_changed = Signal(bool)
    retry_wanted = Signal(str)
    discard_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hands = Hands(self)
        self._ambience = Ambience(self)
        self.setObjectName("transcript")
        self.setAccessibleName("Transcript")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setMouseTracking(True)
        self.verticalScrollBar().setSingleStep(48)
        self.theme = Theme("light")
        self.surface = Surface(self.theme)
        self.selection = Selection()
        self.focused: int | None = None
        self.placed: list[Placed] = []
        self._finder = Finder(self.surface, self.selection)
        self._more_above = False
        self._asked_older = False
        self._was_at_bottom = True
        self._setting = False
        self._frame = QTimer(self)
        self._frame.setSingleShot(True)
        self._frame.setInterval(FRAME_MS)
        self._frame.timeout.connect(self._draw)
        self._pending: list[Change] = []
        self.jump = QPushButton("Jump to latest", self.viewport())
        self.jump.setObjectName("jump")
        self.jump.clicked.connect(self.scroll_to_bottom)
        self.jump.hide()
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        announce_rows(self)

    # -- what it is told ------------------------------------------------------------------------------

    def set_blocks(self, blocks: Sequence[Block]) -> None:
        """A new transcript, shown from its end."""
        self._pending = []
        self.surface.drop_layouts()
        self.surface.rows.reset(blocks)
        self.selection.clear()
        self.focused = None
        self._asked_older = False
        self.surface.stick()
        self._refresh()

    def prepend(self, blocks: Sequence[Block]) -> None:
        """Older blocks; what is in view does not move."""
        if self.surface.sticky and self.placed:
            first = self.placed[0]
            self.surface.anchor, self.surface.offset = first.number, -first.y
            self.surface.sticky = False
        added = self.surface.rows.prepend(blocks)
        self.surface.anchor += added
        self.selection.shift(added)
        if self.focused is not None:
            self.focused += added
        self._asked_older = False
        self._refresh()

    def apply(self, changes: Sequence[Change]) -> None:
        """Blocks have come or grown; drawn with the next frame."""
        self._pending += changes
        if not self._frame.isActive():
            self._frame.start()

    def set_tail(self, messages: Sequence[TailMessage]) -> None:
        """Messages on their way, below the last block."""
        self._flush()
        self.surface.rows.set_tail(messages)
        self._refresh()

    def set_busy(self, text: str) -> None:
        """A calm line at the end while something goes on; empty for nothing."""
        if self._ambience.set_busy(text):
            self.surface.set_extra(self._ambience.busy_room)
            self._refresh()

    def set_more_above(self, more: bool) -> None:
        """Whether there is an older part to be asked for."""
        self._more_above = more
        self._asked_older = False
        self._look_up()

    def set_placeholder(self, title: str, text: str) -> None:
        """The words of an empty transcript."""
        self._ambience.set_placeholder(title, text)

    def set_theme(self, theme: Theme) -> None:
        """Draw in other colours."""
        self.theme = theme
        self.surface.set_theme(theme)
        self.jump.setIcon(icon("arrow-down", theme.color("text"), 14))
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

    def selected_text(self) -> str:
        """The chosen words, or the focused row's."""
        text = self.selection.text(self.surface)
        if not text and self.focused is not None and self.focused < len(self.surface.rows):
            text = self.surface.rows.rows[self.focused].copy_text()
        return text

    def find_text(self, text: str, *, backward: bool = False) -> int:
        """Go to the next place that has the text; answers how many places there are."""
        self._flush()
        count = self._finder.find(text, backward=backward)
        if count:
            self._refresh()
        return count

    def select_all(self) -> None:
        """Choose everything."""
        self._flush()
        self._finder.select_all()
        self.viewport().update()

    def clear_selection(self) -> None:
        """Choose nothing."""
        self.selection.clear()
        self.viewport().update()

    def is_at_bottom(self) -> bool:
        """Whether it follows the end."""
        return self.surface.sticky

    # -- moving ---------------------------------------------------------------------------------------

    def scroll_to_bottom(self) -> None:
        """Go to the end and follow it."""
        self.surface.stick()
        self._refresh()

    def scroll_by(self, pixels: float) -> None:
        """Move so many pixels, as a person."""
        bar = self.verticalScrollBar()
        bar.setValue(round(bar.value() + pixels))

    def focus_row(self, number: int | None) -> None:
        """Put the keyboard on a row and bring it into view."""
        self.focused = number
        if number is not None:
            self._flush()
            self.surface.laid(number)
            heights = self.surface.rows.heights
            top, tall = heights.before(number), heights[number]
            value, view = self.verticalScrollBar().value(), self.viewport().height()
            if top < value or top + tall > value + view:
                self.verticalScrollBar().setValue(max(0, round(top + min(tall, view) - view * 0.8)))
        self.viewport().update()

    def toggle(self, number: int) -> None:
        """Fold or unfold a row; the row stays where it is."""
        row = self.surface.rows.rows[number]
        if not row.foldable:
            return
        self._hold(number)
        row.unfolded = Unfolded.YES if row.unfolded is Unfolded.NO else Unfolded.NO
        row.revision += 1
        self._refresh()

    def show_more(self, number: int) -> None:
        """Show all of a row's output, or what is too much for it in a window of its own."""
        row = self.surface.rows.rows[number]
        if row.unfolded is Unfolded.ALL:
            self._hands.open_whole(row)
            return
        self._hold(number)
        row.unfolded = Unfolded.ALL
        row.revision += 1
        self._refresh()

    def _hold(self, number: int) -> None:
        """The row keeps its place on the screen while its height changes."""
        spot = next((p for p in self.placed if p.number == number), None)
        if spot is not None and number != len(self.surface.rows) - 1:
            self.surface.sticky = False
            self.surface.anchor, self.surface.offset = number, -spot.y

    # -- drawing --------------------------------------------------------------------------------------

    def _flush(self) -> None:
        pending, self._pending = self._pending, []
        for change in pending:
            self.surface.rows.apply(change)

    def _draw(self) -> None:
        if self._pending:
            if not self.surface.sticky:
                self.jump.show()
                self._place_jump()
            self._flush()
        self._refresh()

    def _refresh(self) -> None:
        self._set_bar()
        self.viewport().update()

    def _set_bar(self) -> None:
        """The scroll bar shows the place; setting it is no scrolling."""
        bar = self.verticalScrollBar()
        self._setting = True
        bar.setPageStep(self.viewport().height())
        bar.setRange(0, self.surface.scroll_max)
        bar.setValue(self.surface.scroll_value)
        self._setting = False
        at_bottom = self.surface.sticky
        if at_bottom:
            self.jump.hide()
        if at_bottom != self._was_at_bottom:
            self._was_at_bottom = at_bottom
            self.at_bottom_changed.emit(at_bottom)

    def _scrolled(self, value: int) -> None:
        if self._setting:
            return
        self.surface.scroll_to(value)
        self._refresh()
        self._look_up()

    def _look_up(self) -> None:
        near = self.verticalScrollBar().value() < NEAR_TOP
        if near and self._more_above and not self._asked_older and len(self.surface.rows):
            self._asked_older = True
            self.older_wanted.emit()

    @never_raises(None)
    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Everything is painted anew: nothing is moved by pixels."""
        self.viewport().update()

    @never_raises(None)
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width lays out anew; the place stays."""
        super().resizeEvent(event)
        size = self.viewport().size()
        self.surface.set_size(size.width(), size.height(), self._ambience.busy_room)
        self._place_jump()
        self._set_bar()

    def _place_jump(self) -> None:
        self.jump.adjustSize()
        view = self.viewport()
        self.jump.move(
            (view.width() - self.jump.width()) // 2, view.height() - self.jump.height() - 14
        )

    @never_raises(None)
    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what is on screen."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(event.rect(), self.theme.color("surface"))
        if not len(self.surface.rows):
            self.placed = []
            self._ambience.paint_placeholder(painter)
        else:
            self.placed = self.surface.visible()
            self._set_bar()
            for spot in self.placed:
                self._paint_row(painter, spot)
        self._ambience.paint_busy(painter)

    def _paint_row(self, painter: QPainter, spot: Placed) -> None:
        painter.save()
        painter.translate(QPointF(self.surface.left, spot.y))
        row = self.surface.rows.rows[spot.number]
        document = spot.laid.document
        length = document.characterCount() - 1 if document is not None else 0
        focused = self.hasFocus() and spot.number == self.focused
        clip = QRectF(0, -spot.y, self.surface.layout.width, self.viewport().height())
        look = Look(self.selection.part_of(spot.number, length), focused, clip)
        self.surface.painter.paint(painter, row, spot.laid, look)
        painter.restore()

    # -- seen or not ------------------------------------------------------------------------------

    @never_raises(None)
    def showEvent(self, event: QEvent) -> None:
        """It can be seen."""
        super().showEvent(event)  # type: ignore[arg-type]
        self._ambience.wake()

    @never_raises(None)
    def hideEvent(self, event: QEvent) -> None:
        """It can't be seen."""
        super().hideEvent(event)  # type: ignore[arg-type]
        self._ambience.wake()

    # -- mouse and keys: see `hands` --------------------------------------------------------------------

    @never_raises(False)
    def viewportEvent(self, event: QEvent) -> bool:
        """Mouse and tool tips go to the hands first."""
        if self._hands.mouse(event):
            return True
        return super().viewportEvent(event)

    @never_raises(None)
    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel scrolls."""
        super().wheelEvent(event)

    @never_raises(False)
    def event(self, event: QEvent) -> bool:
        """Keys go to the hands first: Tab would leave otherwise."""
        if event.type() == QEvent.Type.KeyPress and self._hands.key(event):
            return True
        return super().event(event)

    @never_raises(None)
    def focusInEvent(self, event: QEvent) -> None:
        """The ring shows where the keyboard is."""
        super().focusInEvent(event)  # type: ignore[arg-type]
        self.viewport().update()

    @never_raises(None)
    def focusOutEvent(self, event: QEvent) -> None:
        """The ring goes."""
        super().focusOutEvent(event)  # type: ignore[arg-type]
        self.viewport().update()

    def row_at(self, point: QPoint | QPointF) -> Placed | None:
        """The row on screen at a point of the viewport."""
        y = point.y()
        return next((p for p in self.placed if p.y <= y < p.y + p.laid.height), None)
