"""The chat pane: header, transcript, cards and composer of one task's session."""
