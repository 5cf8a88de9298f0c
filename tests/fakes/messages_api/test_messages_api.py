"""The scripted API by itself: what the language says is what a client gets."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.messages_api import MessagesApi
from tests.fakes.messages_api.script import cut_into_rounds, parse

Message = dict[str, Any]


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    with MessagesApi() as running:
        yield running


def user(text: str) -> Message:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def assistant(text: str = "x") -> Message:
    return {"role": "assistant", "content": text}


def post(api: MessagesApi, *messages: Message, stream: bool = False) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(api.url.removeprefix("http://"), timeout=10)
    try:
        body = {"model": "m", "messages": messages, "stream": stream}
        connection.request("POST", "/v1/messages?beta=true", json.dumps(body))
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def said(api: MessagesApi, *messages: Message) -> str:
    content = json.loads(post(api, *messages)[1])["content"]
    return "".join(block.get("text", f"<{block.get('name')}>") for block in content)


def events(raw: bytes) -> list[Message]:
    return [json.loads(line[6:]) for line in raw.decode().splitlines() if line.startswith("data: ")]


def test_a_prompt_without_directives_is_echoed(api: MessagesApi) -> None:
    assert said(api, user("How are you? [[nonsense]]")) == "Echo: How are you? [[nonsense]]"


def test_rounds_follow_the_answers_given_so_far(api: MessagesApi) -> None:
    prompt = user(
        '[[say I look.]] [[tool Bash {"command": "ls"}]] [[say Found.]] [[next]] [[say Bye.]]'
    )
    assert said(api, prompt) == "I look.<Bash>"
    assert said(api, prompt, assistant()) == "Found."
    assert said(api, prompt, assistant(), assistant()) == "Bye."
    later = [prompt, *[assistant()] * 3, user("And now?")]
    assert said(api, *later) == "Done. [And now?]"


def test_adjacent_tools_are_one_answer() -> None:
    script = '[[tool A {"x": "[[say inner]]"}]][[tool B {}]] [[stop max_tokens]] [[say end]]'
    assert [[d.name for d in part] for part in cut_into_rounds(parse(script))] == [
        ["tool", "tool", "stop"],
        ["say"],
    ]


@pytest.mark.parametrize(
    "text", ["[[tool", "[[tool Bash {]]", "[[say", "[[usage x]]", "[[]]", "[["]
)
def test_torn_directives_are_plain_text(text: str) -> None:
    assert parse(text) == []


def test_a_stream_carries_the_same_as_the_whole(api: MessagesApi) -> None:
    prompt = user(
        '[[think Hm.]] [[say One two.]] [[tool T {"a": 1}]] [[usage {"output_tokens": 7}]]'
    )
    raw = post(api, prompt, stream=True)[1]
    kinds = [event["type"] for event in events(raw)]
    assert (kinds[0], kinds[-2], kinds[-1]) == ("message_start", "message_delta", "message_stop")
    deltas = [event["delta"] for event in events(raw) if event["type"] == "content_block_delta"]
    assert "".join(delta.get("text", "") for delta in deltas) == "One two."
    assert "".join(delta.get("partial_json", "") for delta in deltas) == '{"a": 1}'
    end = events(raw)[-2]
    assert end["delta"]["stop_reason"] == "tool_use"
    assert end["usage"]["output_tokens"] == 7


def test_a_failure_happens_as_often_as_told(api: MessagesApi) -> None:
    prompt = user("[[status 529 2]] [[retryafter 3]] [[say Back.]]")
    assert [post(api, prompt)[0] for _ in range(3)] == [529, 529, 200]


def test_a_dropped_stream_ends_in_the_middle(api: MessagesApi) -> None:
    prompt = user("[[say Half]] [[drop 1]] [[say whole]]")
    with pytest.raises(http.client.IncompleteRead) as dropped:
        post(api, prompt, stream=True)
    assert b"Half" in dropped.value.partial
    assert b"whole" in post(api, prompt, stream=True)[1]


def test_an_error_event_ends_the_stream(api: MessagesApi) -> None:
    last = events(post(api, user("[[say a]] [[sseerror api_error]] [[say b]]"), stream=True)[1])[-1]
    assert last["error"]["type"] == "api_error"


def test_the_default_script_answers_prompts_without_directives() -> None:
    with MessagesApi(default_script=lambda prompt: f"[[say You said {prompt}.]]") as api:
        assert said(api, user("hello")) == "You said hello."
        assert said(api, user("[[say Scripted.]]")) == "Scripted."
        assert said(api, user("[[say Scripted.]]"), assistant(), user("bye")) == "You said bye."


def test_a_message_of_the_middle_of_a_turn_is_heard(api: MessagesApi) -> None:
    told = "The user sent a new message while you were working:\nHurry.\n\nThis is how it works."
    for role in ("user", "system"):
        inserted = {"role": role, "content": [{"type": "text", "text": told}]}
        assert said(api, user("[[say a]]"), assistant(), inserted) == "Done. [Hurry.]"


def test_reminders_are_no_prompts(api: MessagesApi) -> None:
    reminder = user("<system-reminder>[[say no]]</system-reminder>")
    assert said(api, user("[[say yes]]"), reminder) == "yes"


def test_placeholders_take_the_last_match(api: MessagesApi) -> None:
    prompt = user(r"plan at /p/plans/a.md and /p/plans/b.md [[say See {{re:\S+/plans/\w+\.md}}.]]")
    assert said(api, prompt) == "See /p/plans/b.md."


def test_a_gate_holds_the_stream_until_opened(api: MessagesApi) -> None:
    answers: list[bytes] = []
    prompt = user("[[gate go]] [[say Through.]]")
    thread = threading.Thread(target=lambda: answers.append(post(api, prompt, stream=True)[1]))
    thread.start()
    api.wait_for(lambda request: "gate go" in request.reading.last_prompt)
    assert answers == []
    api.open_gate("go")
    thread.join(10)
    assert b"Through." in answers[0]


def test_closing_lets_a_hanging_client_go() -> None:
    failed: list[type[Exception]] = []

    def hang(api: MessagesApi) -> None:
        try:
            post(api, user("[[say a]] [[hang]]"), stream=True)
        except (OSError, http.client.HTTPException) as error:
            failed.append(type(error))

    with MessagesApi() as api:
        thread = threading.Thread(target=hang, args=(api,))
        thread.start()
        api.wait_for(lambda request: True)
    thread.join(10)
    assert failed


def test_a_body_that_is_no_object_is_refused(api: MessagesApi) -> None:
    connection = http.client.HTTPConnection(api.url.removeprefix("http://"), timeout=10)
    connection.request("POST", "/v1/messages", "not json")
    assert connection.getresponse().status == 400
    connection.close()
