"""The transcript: lays out only what is on screen, however long the chat is (D16, D21)."""

from walnut_desktop.gui.transcript_view.rows import TailMessage
from walnut_desktop.gui.transcript_view.view import TranscriptView

__all__ = ["TailMessage", "TranscriptView"]
