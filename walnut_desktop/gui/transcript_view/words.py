"""What the transcript says of itself, in words for a person. Pure, so that every word can be tested."""

from __future__ import annotations

from walnut_desktop.transcript.blocks import TurnBlock

_MESSAGE = {
    "queued": "Waiting for its turn",
    "sending": "Sending…",
    "delivered": "Delivered, not read yet",
    "failed": "Not sent",
    "parked": "Held back",
}


def message_state(state: str) -> str:
    """Where a message is; a state nobody knows is shown as it is."""
    return _MESSAGE.get(state, state)


def duration(milliseconds: int) -> str:
    """`12 s`, `3 min 5 s`, `2 h 10 min`; empty for less than a second."""
    seconds = round(milliseconds / 1000)
    if seconds < 1:
        return ""
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    if minutes:
        return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"
    return f"{seconds} s"


def turn(block: TurnBlock) -> str:
    """`Finished · 12 s · $0.02`."""
    parts = ["Finished" if block.ok else "The turn failed"]
    took = duration(block.duration_ms)
    if took:
        parts.append(took)
    if block.cost_usd >= 0.005:
        parts.append(f"${block.cost_usd:,.2f}")
    elif block.cost_usd > 0:
        parts.append("under $0.01")
    return "  ·  ".join(parts)
