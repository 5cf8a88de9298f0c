"""Structured logs that rotate and never hold secrets or what people and agents say to each other."""

from __future__ import annotations

import json
import logging
import logging.handlers
from pathlib import Path

MAX_BYTES = 2_000_000
KEEP = 3


class JsonLines(logging.Formatter):
    """One JSON object per record."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        data = {
            "at": self.formatTime(record, "%Y-%m-%dT%H:%M:%S") + f".{int(record.msecs):03d}",
            "level": record.levelname,
            "from": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            data["trace"] = self.formatException(record.exc_info)
        return json.dumps(data, ensure_ascii=False)


def set_up(folder: Path, name: str = "app.log") -> None:
    """Log everything of level INFO and above into `folder`."""
    handler = logging.handlers.RotatingFileHandler(
        folder / name, maxBytes=MAX_BYTES, backupCount=KEEP, encoding="utf-8", delay=True
    )
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    root.addHandler(handler)
    logging.getLogger("qasync").setLevel(logging.WARNING)
