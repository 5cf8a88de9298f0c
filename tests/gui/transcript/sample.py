"""A chat that has every kind of block in it, for tests and for pictures."""

from __future__ import annotations

from walnut_desktop.gui.transcript_view import TailMessage
from walnut_desktop.transcript.blocks import (
    Block,
    Level,
    NoticeBlock,
    TextBlock,
    ThinkingBlock,
    ToolBlock,
    ToolState,
    TurnBlock,
    UserBlock,
)

ANSWER = """\
I looked at the queue and found **two** places where a message can be lost. The first is in
`delivery.enqueue`: the row is written *after* the task is bumped, so a crash between the two leaves a
task that waits for nothing. See [the issue](https://example.org/issues/12) for the trace.

## What I will change

1. Write the row and the bump in **one** transaction.
2. Read the fate of the message from `command_lifecycle` instead of guessing.
   - queued
   - started, then completed
3. Add a test that kills the writer between the two.

```python
def enqueue(session: Session, text: str) -> Message:
    \"\"\"One transaction: the message and the phase of its task.\"\"\"
    with store.unit() as unit:  # rolls back as a whole
        message = unit.messages.add(session.id, text, uuid4())
        unit.tasks.bump(session.task_id, Phase.IN_PROGRESS)
    return message
```

| place | before | after |
|---|:-:|--:|
| `enqueue` | two writes | 1 transaction |
| `pump` | guess | fate |

- [x] find the cause
- [ ] write the test

> It is better to send a message twice than never; best is exactly once.

Done with the reading. 🎉 Next come the edits.
"""

DANGER = """\
Raw HTML: <script>alert(1)</script> <b>bold?</b> and a picture ![the cat](https://example.org/cat.png).

Bad links: [run me](javascript:alert(1)), [your file](file:///etc/passwd), good: <https://example.org>.
"""

RIGHT_TO_LEFT = (
    "שלום, זהו משפט בעברית עם מילה אחת באנגלית: queue. והנה עוד אחד.\n\nAnd one in English again."
)

ANSI = (
    "\x1b[32m✓\x1b[0m test_enqueue \x1b[90m(0.02 s)\x1b[0m\n"
    "\x1b[31m✗ test_pump\x1b[0m \x1b[1mexpected 1, got 2\x1b[0m\n"
    "\x1b[38;5;208m  at pump.py:41\x1b[0m\n"
    "\x1b]0;a title\x07\x1b[2K12 passed, 1 failed"
)

OLD = """\
def enqueue(session, text):
    row = add(text)
    bump(session)
    return row"""

NEW = """\
def enqueue(session, text):
    with store.unit() as unit:
        row = unit.add(text)
        unit.bump(session)
    return row"""

FAILURE = "\n".join(
    [
        "Traceback (most recent call last):",
        '  File "pump.py", line 41, in step',
        "    return self.next(queue)",
        '  File "pump.py", line 77, in next',
        "    raise LookupError(queue)",
        "LookupError: nothing waits in queue 7",
        "",
        "3 more errors",
        "exit code 1",
    ]
)


def blocks() -> list[Block]:
    """All kinds, in an order in which they could happen."""
    return [
        UserBlock(
            "u1", "Messages get lost when the app is closed while sending. Find out why and fix it."
        ),
        ThinkingBlock(
            "th1", "The user wants the queue fixed.\n\nI should read `delivery.py` first."
        ),
        TextBlock("t0", "I'll read the delivery code first."),
        ToolBlock(
            "r1",
            "1",
            "Read",
            {"file_path": "walnut/sessions/delivery.py"},
            ToolState.DONE,
            "1  import os\n2  import sys",
        ),
        ToolBlock(
            "g1",
            "2",
            "Grep",
            {"pattern": "def enqueue", "path": "walnut"},
            ToolState.DONE,
            "walnut/sessions/delivery.py:12",
        ),
        TextBlock("t1", ANSWER),
        ToolBlock(
            "e1",
            "3",
            "Edit",
            {
                "file_path": "walnut/sessions/delivery.py",
                "old_string": OLD,
                "new_string": NEW,
            },
            ToolState.DONE,
            "The file has been updated.",
        ),
        ToolBlock(
            "b1", "4", "Bash", {"command": "pytest -q tests/unit/sessions"}, ToolState.DONE, ANSI
        ),
        ToolBlock(
            "b2", "5", "Bash", {"command": "python -m pump --once"}, ToolState.FAILED, FAILURE
        ),
        NoticeBlock("n1", "The conversation was compacted to make room."),
        NoticeBlock(
            "n2", "The model service does not answer. Trying again in 8 s (2 of 10).", Level.WARNING
        ),
        ToolBlock(
            "a1",
            "6",
            "Task",
            {"description": "Review the change", "prompt": "Review"},
            ToolState.RUNNING,
        ),
        TextBlock("s1", "The sub-agent reads the change.", parent="6"),
        ToolBlock(
            "s2",
            "7",
            "Read",
            {"file_path": "walnut/store/unit.py"},
            ToolState.DONE,
            "x",
            parent="6",
        ),
        TurnBlock("x1", True, 84_000, 0.127),
        UserBlock("u2", "Good. And does it work for right-to-left text?\nTry it, please."),
        TextBlock("t2", RIGHT_TO_LEFT),
        TextBlock("t3", DANGER),
        ToolBlock(
            "w1",
            "8",
            "Bash",
            {"command": "rm -rf build && make dist VERSION=1.2.3 SIGN=yes PUBLISH=no CHANNEL=beta"},
            ToolState.WAITING,
        ),
        TurnBlock(
            "x2",
            False,
            3_000,
            0.0,
            "The usage limit is reached. Wait until it resets, then send again.",
        ),
    ]


def tail() -> list[TailMessage]:
    """One message of each state."""
    return [
        TailMessage("m1", "Also update the changelog.", "delivered", ""),
        TailMessage("m2", "And bump the version.", "queued", ""),
        TailMessage("m3", "Then push it.", "failed", "The host does not answer."),
    ]
