"""Pieces of lines in words: the text of a content, and the notices that some lines become."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Optional

from walnut_desktop.transcript.blocks import Level, NoticeBlock

_INTERRUPTED = ("[Request interrupted by user]", "[Request interrupted by user for tool use]")
_LOCAL_OUTPUT = re.compile(
    r"^<local-command-(?:stdout|stderr)>(.*)</local-command-(?:stdout|stderr)>$", re.DOTALL
)


def content_text(content: Any) -> str:
    """The text of a message or tool result: a string, or its text blocks joined by newlines."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(
        str(block.get("text") or "")
        for block in content
        if isinstance(block, dict) and block.get("type") == "text"
    )


def count_images(content: Any) -> int:
    """How many images a content carries."""
    if not isinstance(content, list):
        return 0
    return sum(1 for block in content if isinstance(block, dict) and block.get("type") == "image")


def user_notice(obj: Mapping[str, Any], content: Any) -> Optional[NoticeBlock]:
    """The notice for a user line that is not from the person, or None."""
    if obj.get("parent_tool_use_id"):
        return None
    text = content_text(content).strip()
    if text in _INTERRUPTED:
        return NoticeBlock("", "Interrupted.", Level.WARNING)
    local = _LOCAL_OUTPUT.match(text)
    if local is not None and local.group(1).strip():
        return NoticeBlock("", local.group(1).strip())
    return None


def notice_of(obj: Mapping[str, Any]) -> Optional[NoticeBlock]:
    """The notice for a system line that a person should see, or None."""
    subtype = obj.get("subtype")
    if subtype == "compact_boundary":
        meta = obj.get("compact_metadata")
        tokens = meta.get("pre_tokens") if isinstance(meta, dict) else None
        size = (
            f" ({tokens // 1000:,}k tokens before)"
            if isinstance(tokens, int) and tokens > 999
            else ""
        )
        return NoticeBlock("", f"Conversation compacted{size}.")
    if subtype == "status" and obj.get("compact_result") == "failed":
        return NoticeBlock(
            "", f"Compacting failed: {obj.get('compact_error') or 'no reason given'}", Level.WARNING
        )
    if subtype == "api_retry":
        attempt, most = obj.get("attempt"), obj.get("max_retries")
        cause = str(obj.get("error") or "no connection").replace("_", " ")
        return NoticeBlock(
            "",
            f"The model service did not answer ({cause}). Retry {attempt} of {most}.",
            Level.WARNING,
        )
    if subtype == "permission_denied":
        return NoticeBlock(
            "", f"{obj.get('tool_name') or 'A tool'} was denied without asking.", Level.WARNING
        )
    if subtype == "informational" and obj.get("content"):
        level = Level.WARNING if obj.get("level") in ("warning", "error") else Level.INFO
        return NoticeBlock("", str(obj.get("content")), level)
    if subtype == "session_writes_lost":
        return NoticeBlock(
            "", "The agent could not save its own transcript: the disk is full.", Level.ERROR
        )
    if subtype == "task_notification" and obj.get("output_file"):
        return NoticeBlock("", str(obj.get("summary") or "A background task ended."))
    if obj.get("type") == "rate_limit_event":
        return _rate_limit(obj)
    return None


def _rate_limit(obj: Mapping[str, Any]) -> Optional[NoticeBlock]:
    info = obj.get("rate_limit_info")
    if not isinstance(info, dict):
        return None
    if info.get("status") == "rejected":
        return NoticeBlock("", "The usage limit of the subscription is reached.", Level.ERROR)
    if info.get("status") == "allowed_warning":
        used = info.get("utilization")
        share = f" ({used:.0%} used)" if isinstance(used, (int, float)) else ""
        return NoticeBlock(
            "", f"The usage limit of the subscription is near{share}.", Level.WARNING
        )
    return None
