"""P5: memory with a 10,000-message transcript open, against an empty PySide6 window."""

from __future__ import annotations

from typing import Any

from tests.bench.processes import EMPTY_WINDOW, median_of

APP = """
import json, os, sys
from walnut_desktop.gui import application
from walnut_desktop.gui.main_window import MainWindow
from walnut_desktop.gui.tasks.model import TaskListModel
from walnut_desktop.gui.theme import apply_theme
from tests.bench.chats import long_chat
app = application.Application(["bench"])
model = TaskListModel()
window = MainWindow(model, [("practice", "Practice agent")])
window.set_theme(apply_theme(app, "light"))
window.show()
view = window.chat.transcript
view.set_blocks(long_chat(int(sys.argv[1])))
for number in range(400):
    app.processEvents()
    view.scroll_by(-400)
app.processEvents()
rss = int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
print(json.dumps({"rss": rss}), flush=True)
os._exit(0)
"""
MESSAGES, RUNS = 10_000, 3


def run(messages: int = MESSAGES) -> dict[str, Any]:
    """Resident memory of whole processes, after scrolling through a part of the chat."""
    app = median_of(APP, "rss", RUNS, None, str(messages))
    empty = median_of(EMPTY_WINDOW, "rss", RUNS)
    return {
        "value": round(app / empty, 3),
        "unit": "ratio",
        "detail": {
            "app_mb": round(app / 1e6, 1),
            "empty_mb": round(empty / 1e6, 1),
            "messages": messages,
        },
    }
