"""What the keyboard and the menu do with a transcript (Rule G1): moving, folding, copying, links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QMenu

from walnut_desktop.gui.transcript_view.layout import Action, Hit
from walnut_desktop.gui.transcript_view.markdown import SealedDocument, is_safe_link
from walnut_desktop.gui.transcript_view.rows import Row, TailMessage, block_text
from walnut_desktop.transcript.blocks import TextBlock, ThinkingBlock, ToolBlock, UserBlock

if TYPE_CHECKING:
    from walnut_desktop.gui.transcript_view.view import TranscriptView

PAGE = 0.9
LINES = 3
MOST_LINKS = 9
_KINDS: dict[type, str] = {
    TextBlock: "answer",
    ThinkingBlock: "thought",
    ToolBlock: "call and output",
    UserBlock: "message",
    TailMessage: "message",
}


class Keys(QObject):
    """Turns keys and the context menu into what the view can do."""

    def __init__(self, view: TranscriptView) -> None:
        super().__init__(view)
        self._view = view
        self.menu = QMenu(view)
        self.menu.setObjectName("transcriptMenu")
        self.menu.triggered.connect(self._chosen)
        self._row: Row | None = None
        self._code = ""

    # -- keys -----------------------------------------------------------------------------------------

    def key(self, event: QKeyEvent) -> bool:
        """Handle a key; False leaves it to Qt."""
        view = self._view
        if event.matches(QKeySequence.StandardKey.Copy):
            view.copy_selection()
            return True
        if event.matches(QKeySequence.StandardKey.SelectAll):
            view.select_all()
            return True
        key = Qt.Key(event.key())
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if held == Qt.KeyboardModifier.ShiftModifier and key == Qt.Key.Key_Space:
            view.scroll_by(-self._page())
            return True
        if held:
            return False
        return self._scroll(key) or self._act(key)

    def _page(self) -> float:
        return round(self._view.viewport().height() * PAGE)

    def _scroll(self, key: Qt.Key) -> bool:
        view = self._view
        line = round(view.surface.layout.line * LINES)
        steps = {
            Qt.Key.Key_Up: -line,
            Qt.Key.Key_Down: line,
            Qt.Key.Key_PageUp: -self._page(),
            Qt.Key.Key_PageDown: self._page(),
        }
        if key in steps:
            view.scroll_by(steps[key])
        elif key == Qt.Key.Key_Home:
            view.scroll_to_top()
        elif key == Qt.Key.Key_End:
            view.scroll_to_bottom()
        else:
            return False
        return True

    def _act(self, key: Qt.Key) -> bool:
        if key in (Qt.Key.Key_J, Qt.Key.Key_K):
            self._step(1 if key == Qt.Key.Key_J else -1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            return self._enter(page=key == Qt.Key.Key_Space)
        elif key == Qt.Key.Key_Escape:
            if not self._view.has_selection() and self._view.focus.number() is None:
                return False
            self._view.clear_selection()
            self._view.focus.clear()
        else:
            return False
        return True

    def begin(self) -> None:
        """The keyboard came in by Tab: there is always a block to see."""
        if self._view.focus.number() is None and len(self._view.surface.rows):
            self._view.focus.move(self._nearest(-1))
        self._view.focus.ring = True

    def _step(self, by: int) -> None:
        """To the next block: the pieces of one text are one."""
        rows = self._view.surface.rows
        if not len(rows):
            return
        number = self._view.focus.number()
        if number is None:
            self._view.focus.move(self._nearest(by))
            return
        number += by
        while 0 <= number < len(rows) and rows[number].piece:
            number += by
        if 0 <= number < len(rows):
            self._view.focus.move(number)

    def _nearest(self, by: int) -> int:
        """Where the keyboard begins: the first whole block on screen going down, the last going up."""
        placed = self._view.placed
        height = self._view.viewport().height()
        whole = [spot for spot in placed if spot.y >= 0 and spot.bottom <= height] or placed
        number = (whole[0] if by > 0 else whole[-1]).number if whole else 0
        while number > 0 and self._view.surface.rows[number].piece:
            number -= 1
        return number

    def _enter(self, *, page: bool) -> bool:
        number = self._view.focus.number()
        if number is None:
            if page:
                self._view.scroll_by(self._page())
            return page
        row = self._view.surface.rows[number]
        if row.foldable:
            self._view.focus.toggle(number)
        elif isinstance(row.block, TailMessage) and row.block.is_stuck:
            self._view.retry_wanted.emit(row.key)
        else:
            return False
        return True

    # -- the menu -------------------------------------------------------------------------------------

    def open_menu(self, event: QContextMenuEvent) -> bool:
        """Open the menu at the mouse, or at the block that has the keyboard."""
        view = self._view
        number = view.focus.number()
        point, code = event.pos(), None
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            spot = next((p for p in view.placed if p.number == number), None)
            y = max(0, int(spot.y)) + 8 if spot is not None else 8
            point = QPoint(int(view.surface.left) + 20, y)
        else:
            placed = view.row_at(QPointF(point))
            number = placed.number if placed is not None else None
            code = view.hands.code_at(QPointF(point))
        self._row = view.surface.rows[number] if number is not None else None
        self._fill(view.hands.link_at(QPointF(point)), code)
        self.menu.popup(view.viewport().mapToGlobal(point))
        return True

    def _fill(self, link: str, code: tuple[Row, int] | None) -> None:
        menu, row, chosen = self.menu, self._row, self._view.has_selection()
        menu.clear()
        if chosen:
            self._item("Copy", "copy", keys="Ctrl+C")
            self._item("Copy as Markdown", "markdown")
        self._code = ""
        if row is not None and code is not None:
            number = self._view.surface.rows.number_of(row)
            laid = self._view.surface.laid(number) if number is not None else None
            copies = [hit for hit in laid.hits if hit.action is Action.COPY] if laid else []
            if code[1] < len(copies):
                self._code = self._view.hands.whole_code(row, copies[code[1]])
                self._item("Copy code", "code")
        if row is not None:
            self._item(f"Copy {_KINDS.get(type(row.block), 'text')}", "block")
        self._item("Select all", "all", keys="Ctrl+A")
        if row is not None:
            self._row_items(row, link)

    def _row_items(self, row: Row, link: str) -> None:
        if row.foldable:
            self.menu.addSeparator()
            self._item("Fold" if row.unfolded.value else "Unfold", "fold")
        if isinstance(row.block, TailMessage) and row.block.is_stuck:
            self.menu.addSeparator()
            self._item(Action.RETRY.value, "retry")
            self._item(Action.DISCARD.value, "discard")
        number = self._view.surface.rows.number_of(row)
        links = (
            [link]
            if link
            else links_of(self._view.surface.laid(number).document if number is not None else None)
        )
        if links:
            self.menu.addSeparator()
        for href in links[:MOST_LINKS]:
            shown = href if len(href) <= 60 else f"{href[:59]}…"
            self._item(f"Open {shown.replace('&', '&&')}", f"link {href}")

    def _item(self, text: str, what: str, keys: str = "") -> None:
        action = QAction(text, self.menu)
        action.setData(what)
        if keys:
            action.setShortcut(QKeySequence(keys))
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self.menu.addAction(action)

    def _chosen(self, action: QAction) -> None:
        what, view, row = str(action.data()), self._view, self._row
        if what == "copy":
            view.copy_selection()
        elif what == "markdown":
            _put(view.selection.text(markdown=True))
        elif what == "code":
            _put(self._code)
        elif what == "all":
            view.select_all()
        elif what.startswith("link "):
            view.link_activated.emit(what[5:])
        elif row is not None:
            self._row_chosen(what, row)

    def _row_chosen(self, what: str, row: Row) -> None:
        if what == "block":
            _put(block_text(row.block))
        elif what == "fold":
            self._view.hands.act(row, Hit(QRectF(), Action.FOLD))
        elif what == "retry":
            self._view.retry_wanted.emit(row.key)
        elif what == "discard":
            self._view.discard_wanted.emit(row.key)


def links_of(document: SealedDocument | None) -> list[str]:
    """The addresses in a document, each once, in order."""
    found: dict[str, None] = {}
    for form in document.allFormats() if document is not None else ():
        char = form.toCharFormat()
        if char.isAnchor() and is_safe_link(char.anchorHref()):
            found[char.anchorHref()] = None
    return list(found)


def _put(text: str) -> None:
    if text:
        QGuiApplication.clipboard().setText(text)
