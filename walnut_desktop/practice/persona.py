"""What the practice agent says by itself, when a person just types something."""

from __future__ import annotations

import re

from walnut_desktop.practice.script import Round, Step

_WORK = re.compile(
    r"\b(fix|add|make|build|write|create|change|refactor|implement|test|update|remove|rename|improve|"
    r"clean|debug|document|port|speed|translate|upgrade)\b",
    re.IGNORECASE,
)

FILE = "walnut-practice.md"

_HELLO = """\
Hello! I am the **practice agent**. There is no model behind me and no account: I play a coding agent, so \
that you can get to know the app first.

Try this:

- **Write again** while I am busy. Your message joins this turn, or starts the next one.
- **Interrupt** me. I stop at once, and your next message brings me back.
- **Ask for work**, say “fix my login form”. I will ask before I touch a file.

I also follow stage directions. Paste this one:

```text
[[slow 30 80]] [[tool Bash {"command": "ls -l"}]] [[say That was all.]]
```
"""

_AGAIN = """\
Still the **practice agent**, so I cannot really answer that. A real agent would start here:

- read the files that matter,
- think about what you asked for,
- and ask before it changes anything.

Ask me to change something, and I will show you how that looks. Or try a stage direction:

```text
[[think Let me see.]] [[tool Bash {"command": "pwd"}]] [[say Here we are.]]
```
"""

_THOUGHT = "A real agent would look around first. I will keep it small: one file, and nothing else."

_ASKS = """\
I am the **practice agent**, so I only play along. But this is how work looks here: I will write one small \
file, `walnut-practice.md`, into this folder. First I ask you.
"""

_ASKS_NOBODY = """\
I am the **practice agent**, so I only play along. But this is how work looks here: I will write one small \
file, `walnut-practice.md`, into this folder. This session lets me do that without a question.
"""

_AFTER = """\
Done. This is what happened, and a real agent works in just the same way:

1. I said what I was going to do{asked}.
2. I wrote `walnut-practice.md`.
3. Now I stop, and the task shows that it has news for you.

Look at the file, and delete it whenever you like:

```sh
cat walnut-practice.md
```
"""

_PLANS = """\
I am the **practice agent**, so I only play along. But this is how plan mode looks here: I write down what I \
would do, and you decide.
"""

_PLAN = """\
# What I would do

1. Write one small file, `walnut-practice.md`, into this folder.
2. Say what happened.

Nothing else is touched.
"""

_BEGINS = "You like the plan, so I begin: I will write one small file.\n"

_REFUSED = "All right, nothing was changed. A real agent would now ask what you would like instead."

AFTER_A_JOB = "The command in the background is over."


def _note(prompt: str) -> str:
    first = prompt.strip().split("\n", 1)[0][:200]
    return f"# Practice\n\nYou asked: {first}\n\nThe practice agent wrote this file. It is safe to delete.\n"


def improvise(prompt: str, *, first: bool, asks: bool, plan: str = "") -> list[Round]:
    """The rounds for a prompt without directives: the first one of a session, or a later one.

    `plan` is the file for a plan, when the session is in plan mode.
    """
    if not _WORK.search(prompt):
        return [[Step("say", _HELLO if first else _AGAIN)]]
    write = Step("tool", "Write", {"file_path": FILE, "content": _note(prompt)})
    after = Step("say", _AFTER.format(asked=", and you allowed it" if asks else ""))
    if plan:
        plan_file = {"file_path": plan, "content": _PLAN}
        return [
            [Step("think", _THOUGHT), Step("say", _PLANS), Step("tool", "Write", plan_file)],
            [Step("tool", "ExitPlanMode", {})],
            [Step("say", _BEGINS), write],
            [after],
        ]
    intro = Step("say", _ASKS if asks else _ASKS_NOBODY)
    return [[Step("think", _THOUGHT), intro, write], [after]]


def joined(texts: list[str]) -> Step:
    """A word on messages that came in the middle of the turn."""
    quoted = " and ".join(f"“{text.strip()[:200]}”" for text in texts)
    return Step(
        "say", f"I also got your message in time: {quoted}. A real agent would act on it now."
    )


def refused() -> Round:
    """What to say when the person said no."""
    return [Step("say", _REFUSED)]
