"""What the fold makes of every capture of the real CLI, written down (Rules S10, S5.1).

The table is read by hand against each capture's note: turns, results, errors, open requests, messages of the
person that were taken up, lost results; then the verdict while the process lives, and after its end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.transcript import captures
from walnut_desktop.transcript.blocks import Block, ToolBlock
from walnut_desktop.transcript.chat import ChatBuilder, join_older
from walnut_desktop.transcript.fold import Fold, FoldState
from walnut_desktop.transcript.lines import Line, LineSplitter, read_lines
from walnut_desktop.transcript.verdict import judge

# name turns results errors pending consumed lost  living process: status reason  after its end: status reason
TABLE = """
01-simple-turn 1 1 0 0 0 0  idle turn_completed  stopped normal_completion
02-two-turns-fifo 2 2 0 0 2 0  idle turn_completed  stopped normal_completion
03-inject-consumed 1 1 0 0 2 0  idle turn_completed  stopped normal_completion
04-inject-consumed-replay 1 1 0 0 2 0  idle turn_completed  stopped normal_completion
05-inject-not-consumed 2 2 0 0 2 0  idle turn_completed  stopped normal_completion
06-inject-three-consumed 1 1 0 0 4 0  idle turn_completed  stopped normal_completion
07-inject-three-merged 2 2 0 0 4 0  idle turn_completed  stopped normal_completion
08-inject-no-uuid 1 1 0 0 0 0  idle turn_completed  stopped normal_completion
09-inject-priority-now 2 2 0 0 2 0  idle turn_completed  stopped normal_completion
10-permission-allow 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
11-permission-deny 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
12-permission-deny-interrupt 1 1 1 0 1 0  idle turn_interrupted  stopped normal_completion
13-permission-always-allow 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
14-permission-answered-after-restart 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
15-permission-parallel 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
16-permission-interrupted 1 1 1 0 1 0  idle turn_interrupted  stopped normal_completion
17-permission-pending-killed 2 1 0 0 2 0  idle turn_completed  stopped normal_completion
18-interrupt-tool 2 2 1 0 2 0  idle turn_completed  stopped normal_completion
19-interrupt-streaming 1 1 1 0 1 0  idle turn_interrupted  stopped normal_completion
20-interrupt-with-queued 2 2 1 0 2 0  idle turn_completed  stopped normal_completion
21-interrupt-cancel-queued 1 1 1 0 1 0  idle turn_interrupted  stopped normal_completion
22-cancel-queued-message 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
23-api-error-400 1 1 1 0 1 0  error api_error  error api_error
24-api-529-gives-up 1 1 1 0 1 0  error api_error  error api_error
25-api-500-retry-ok 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
26-max-turns 1 1 1 0 1 0  error api_error  error api_error
27-killed-mid-turn 1 0 0 0 1 0  running message_sent  error process_exited_no_result
28-resume-after-kill 2 1 0 0 2 0  idle turn_completed  stopped normal_completion
29-resume-interrupted-turn-env 2 1 0 0 1 0  idle turn_completed  stopped normal_completion
30-killed-with-queued-message 2 1 0 0 2 0  idle turn_completed  stopped normal_completion
31-duplicate-uuid 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
32-bg-bash-finishes-later 2 2 0 0 1 0  idle turn_completed  stopped normal_completion
33-bg-bash-stop-task 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
34-bg-bash-killed-then-resume 3 3 0 0 2 0  idle turn_completed  stopped normal_completion
35-foreground-bash-slow 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
36-move-to-background 2 2 0 0 1 0  idle turn_completed  stopped normal_completion
37-subagent-foreground 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
38-subagent-forward-text 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
39-subagent-background 2 2 0 0 1 0  idle turn_completed  stopped normal_completion
40-subagent-background-user-turn 3 3 0 0 2 0  idle turn_completed  stopped normal_completion
41-subagent-permission 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
42-bg-agent-interrupt-kills 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
43-workflow 2 2 0 0 1 0  idle turn_completed  stopped normal_completion
44-monitor 4 4 0 0 1 0  idle turn_completed  stopped normal_completion
45-cron 2 2 0 0 1 0  idle turn_completed  stopped normal_completion
46-schedule-wakeup 2 2 0 0 1 0  idle turn_completed  stopped normal_completion
47-plan-mode-approve 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
48-plan-mode-reject 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
49-plan-approve-accept-edits 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
50-ask-user-question 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
51-compact-manual 4 4 0 0 4 0  idle turn_completed  stopped normal_completion
52-compact-auto 7 7 0 0 7 0  idle turn_completed  stopped normal_completion
53-compact-fails 2 2 0 0 2 0  idle turn_completed  stopped normal_completion
54-slash-clear 3 3 0 0 3 0  idle turn_completed  stopped normal_completion
55-slash-context-usage 4 4 0 0 4 0  idle turn_completed  stopped normal_completion
56-model-switch 2 2 0 0 2 0  idle turn_completed  stopped normal_completion
57-permission-mode-switch 2 2 0 0 2 0  idle turn_completed  stopped normal_completion
58-control-requests 0 0 0 0 0 0  idle session_started  stopped normal_completion
59-reinitialize-while-pending 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
60-long-output 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
61-partial-messages 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
62-thinking 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
63-image-input 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
64-unicode 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
65-start-fail-session-id-in-use 1 1 0 0 1 0  idle turn_completed  error process_exited_no_result
66-start-fail-resume-unknown 0 1 1 0 0 0  error api_error  error api_error
67-start-fail-bad-flag 0 0 0 0 0 0  idle session_started  error process_exited_no_result
68-bad-stdin-line-kills 1 0 0 0 1 0  running message_sent  error process_exited_no_result
69-sigint-mid-turn 1 1 1 0 1 0  running message_sent  stopped normal_completion
70-sigterm-mid-turn 1 0 0 0 1 0  running message_sent  error process_exited_no_result
71-sigterm-idle 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
72-end-session-mid-turn 1 1 1 0 1 0  idle turn_interrupted  stopped normal_completion
73-eof-mid-turn 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
74-hook-events 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
75-hook-callbacks 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
76-fork-session 2 2 0 0 2 0  idle turn_completed  stopped normal_completion
77-two-clis-one-session 4 4 0 0 4 0  idle turn_completed  stopped normal_completion
78-no-state-events 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
79-synthetic-continuation 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
80-tool-errors 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
81-permission-none 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
82-mcp-stdio-server 2 2 0 0 2 0  idle turn_completed  stopped normal_completion
83-rate-limit-warning 1 1 0 0 1 0  idle turn_completed  stopped normal_completion
84-rate-limit-rejected 1 1 1 0 1 0  error api_error  error api_error
85-stream-disk-full 2 2 0 0 3 1  idle turn_completed  stopped normal_completion
"""

EXPECTED = {line.split()[0]: line.split()[1:] for line in TABLE.strip().split("\n")}
NAMES = captures.NAMES


def folded(lines: list[Line], state: FoldState | None = None) -> FoldState:
    fold = Fold(state)
    for line in lines:
        fold.feed(line)
    return fold.state


def test_the_table_names_every_capture() -> None:
    assert sorted(EXPECTED) == NAMES
    assert len(NAMES) >= 80


@pytest.mark.rule("S10")
@pytest.mark.parametrize("name", NAMES)
def test_a_capture_folds_to_what_is_written_down(name: str) -> None:
    state = folded(captures.load(name).lines())
    verdict = judge(state, alive=True)
    ended = judge(folded(captures.load(name, end=True).lines()), alive=False)
    counts = [state.turns, state.results, state.errors, len(state.pending), state.consumed]
    found = [*map(str, counts), str(state.lost_results)]
    found += [verdict.status.value, verdict.reason, ended.status.value, ended.reason]
    assert found == EXPECTED[name]


@pytest.mark.rule("S10")
@given(st.sampled_from(NAMES), st.integers(1, 5000))
def test_the_size_of_the_pieces_does_not_matter(name: str, chunk: int) -> None:
    capture = captures.load(name)
    assert folded(capture.lines(chunk)) == folded(capture.lines())


@pytest.mark.rule("S10")
@given(st.sampled_from(NAMES), st.data())
def test_a_checkpoint_can_be_taken_anywhere(name: str, data: st.DataObject) -> None:
    lines = captures.load(name).lines()
    cut = data.draw(st.integers(0, len(lines)))
    stored = json.loads(json.dumps(folded(lines[:cut]).to_json()))
    again = FoldState.from_json(stored)
    assert again is not None
    assert folded(lines[cut:], again) == folded(lines)


GARBAGE = st.one_of(
    st.binary(max_size=80).map(lambda raw: raw.replace(b"\n", b" ").replace(b"{", b"(")),
    st.sampled_from(
        [
            b'{"type":"made_up_next_year","x":1}',
            b'{"type":"system","subtype":"made_up"}',
            b'{"type":"system"}',
            b'{"type":"user","message":null}',
            b'{"type":"assistant"}',
            b'{"type":"control_request","request_id":7}',
            b'{"type":["list"]}',
            b"[1,2,3]",
            b"null",
            b'{"type":"result"',
            b"\x1b[31mred\x1b[0m \xff\xfe",
        ]
    ),
)


@pytest.mark.rule("S10")
@given(st.sampled_from(NAMES), st.data())
def test_garbage_between_the_lines_changes_nothing_else(name: str, data: st.DataObject) -> None:
    raw = captures.load(name).data.split(b"\n")[:-1]
    for _ in range(data.draw(st.integers(1, 4))):
        raw.insert(data.draw(st.integers(0, len(raw))), data.draw(GARBAGE))
    lines = list(read_lines(LineSplitter(), b"\n".join(raw) + b"\n"))
    clean, dirty = folded(captures.load(name).lines()), folded(lines)
    for field in ("turns", "results", "errors", "consumed", "pending", "background", "turn_open"):
        assert getattr(dirty, field) == getattr(clean, field), field
    assert judge(dirty, alive=True) == judge(clean, alive=True)


@pytest.mark.rule("S10")
@pytest.mark.parametrize("name", NAMES)
def test_every_prefix_has_a_verdict(name: str) -> None:
    fold = Fold()
    for line in captures.load(name).lines():
        fold.feed(line)
        for alive in (True, False, None):
            assert judge(fold.state, alive).reason


@given(st.sampled_from(NAMES), st.integers(1, 5000))
def test_a_chat_does_not_depend_on_the_pieces(name: str, chunk: int) -> None:
    lines = captures.load(name).lines()
    whole, pieces = ChatBuilder(), ChatBuilder()
    whole.feed(lines)
    for at in range(0, len(lines), max(1, chunk % 7)):
        pieces.feed(lines[at : at + max(1, chunk % 7)])
    assert pieces.blocks == whole.blocks


@given(st.sampled_from(NAMES), st.data())
def test_older_and_newer_parts_make_the_same_words_as_the_whole(
    name: str, data: st.DataObject
) -> None:
    lines = captures.load(name).lines()
    cut = data.draw(st.integers(0, len(lines)))
    whole, older, newer = ChatBuilder(), ChatBuilder(), ChatBuilder()
    whole.feed(lines)
    older.feed(lines[:cut])
    newer.feed(lines[cut:])
    joined = [*join_older(older, newer), *newer.blocks.values()]
    assert len({block.key for block in joined}) == len(joined)
    assert results(joined) == results(whole.blocks.values())


def results(blocks: Iterable[Block]) -> dict[str, str]:
    """The result of every tool call that a chat shows."""
    return {block.tool_use_id: block.result for block in blocks if isinstance(block, ToolBlock)}
