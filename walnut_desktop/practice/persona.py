"""What the practice agent says by itself, when a person just types something."""

from __future__ import annotations

import re

from walnut_desktop.practice.script import Round, Step

_WORK = re.compile(
    r"\b(fix|add|make|build|write|create|change|refactor|implement|test|update|remove|rename|improve)\b",
    re.IGNORECASE,
)

FILE = "walnut-practice.md"

_HELLO = """\
Hello! I am the **practice agent**. I need no account and I know no model: I am here so that you can try the \
app before you let a real agent loose.

A few things that you can do now:

- **Send another message** while I am still writing. It joins this turn, or starts the next one.
- **Interrupt** me with Esc, or **stop** me. A message brings me back.
- **Ask me for work**, such as “add a greeting”. I will ask for your permission before I touch a file.

I take stage directions, too:

```text
[[say Hello]] [[tool Bash {"command": "ls"}]] [[say That was all.]]
```
"""

_PLAN = """\
I am the **practice agent**, so I only pretend to understand. But I can show you how work looks here: I will \
write one small file, `walnut-practice.md`, into this folder. You will be asked first.
"""

_AFTER = """\
Done. This is what happened, and what a real agent does in just the same way:

1. I asked for permission, and you answered on the card.
2. I wrote `walnut-practice.md`.
3. When I stop now, the task gets its red dot, unless you are looking.

Delete the file whenever you like.
"""

_REFUSED = "All right, I leave everything as it is. That is what the card is for."


AFTER_A_JOB = "The command in the background is over."


def _note(prompt: str) -> str:
    first = prompt.strip().split("\n", 1)[0][:200]
    return f"# Practice\n\nYou asked: {first}\n\nThe practice agent wrote this file. It is safe to delete.\n"


def improvise(prompt: str) -> list[Round]:
    """The rounds for a prompt without directives."""
    if not _WORK.search(prompt):
        return [[Step("say", _HELLO)]]
    write = {"file_path": FILE, "content": _note(prompt)}
    return [
        [
            Step(
                "think", "A real agent would look around first. I will write one file and say so."
            ),
            Step("say", _PLAN),
            Step("tool", "Write", write),
        ],
        [Step("say", _AFTER)],
    ]


def refused() -> Round:
    """What to say when the person said no."""
    return [Step("say", _REFUSED)]
