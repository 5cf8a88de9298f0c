"""Long chats to measure with: a tenth the person's, a fifth tool output, the rest markdown."""

from __future__ import annotations

from walnut_desktop.transcript.blocks import Block, TextBlock, ToolBlock, ToolState, UserBlock

_TEXT = """\
Here is part {n} of the work. It touches **two files** and one `setting`:

- the first thing, with a [link](https://example.com/{n})
- the second thing

```python
def part_{n}(value: int) -> int:
    # a comment
    return value * {n}
```

| name | value |
|---|---|
| one | {n} |

And a last paragraph that is a little longer, so that it breaks over more than one line of the column.
"""


def long_chat(messages: int) -> list[Block]:
    """So many blocks, some 2 KB each."""
    blocks: list[Block] = []
    output = "\n".join(
        f"{row:05d} some output of a command, as long as such lines are" for row in range(200)
    )
    for number in range(messages):
        if number % 10 == 0:
            blocks.append(UserBlock(f"u{number}", f"Please do part {number} now.", f"u{number}"))
        elif number % 10 in (3, 7):
            blocks.append(
                ToolBlock(
                    f"t{number}",
                    f"t{number}",
                    "Bash",
                    {"command": f"make part-{number}"},
                    ToolState.DONE,
                    output,
                )
            )
        else:
            blocks.append(TextBlock(f"a{number}", _TEXT.format(n=number)))
    return blocks
