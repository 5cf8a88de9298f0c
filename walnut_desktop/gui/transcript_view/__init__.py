"""stand-in"""

from dataclasses import dataclass
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPlainTextEdit
from walnut_desktop.transcript.blocks import plain_text


@dataclass(frozen=True)
class TailMessage:
    id: str
    text: str
    state: str
    reason: str


class TranscriptView(QPlainTextEdit):
    link_activated = Signal(str)
    older_wanted = Signal()
    at_bottom_changed = Signal(bool)
    retry_wanted = Signal(str)
    discard_wanted = Signal(str)

    def __init__(self, parent=None):
        super().__init__(parent)
        self.b = {}
        self.tail = []

    def _r(self):
        self.setPlainText(
            "\n".join(self.block_texts())
            + "\n"
            + "\n".join(f"[{t.state}] {t.text}" for t in self.tail)
        )

    def set_blocks(self, blocks):
        self.b = {x.key: x for x in blocks}
        self._r()

    def prepend(self, blocks):
        self.b = {**{x.key: x for x in blocks}, **self.b}
        self._r()

    def apply(self, changes):
        for c in changes:
            self.b[c.block.key] = c.block
        self._r()

    def set_tail(self, m):
        self.tail = list(m)
        self._r()

    def set_busy(self, t):
        pass

    def set_more_above(self, m):
        pass

    def set_theme(self, t):
        pass

    def set_placeholder(self, a, b):
        self.setPlaceholderText(a + "\n" + b)

    def block_count(self):
        return len(self.b)

    def block_texts(self):
        return [plain_text(x) for x in self.b.values()]

    def scroll_to_bottom(self):
        pass
