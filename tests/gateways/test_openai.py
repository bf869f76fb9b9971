"""What is sent to a chat service, and what of its answers is believed."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from bench import CALL, Answer, Bench
from hostile import GOOD, Handler, HostileServer, answering, chat
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from mcsystem.gateways import Completion, Refused, Usage
from mcsystem.gateways.openai import chat_body, read_completion, read_usage
from mcsystem.settings import ModelSettings

Serve = Callable[[Handler], HostileServer]
SHORT = replace(CALL, system="Reply in JSON.", user="hi")

ODD: dict[str, tuple[bytes, str]] = {
    "cut off": (chat(GOOD[:9], finish_reason="length"), "finish_length"),
    "cut off at a whole object": (chat(GOOD, finish_reason="length"), "finish_length"),
    "filtered": (chat("", finish_reason="content_filter"), "finish_content_filter"),
    "filtered with text": (chat(GOOD, finish_reason="content_filter"), "finish_content_filter"),
    "tool calls": (chat(None, finish_reason="tool_calls"), "finish_tool_calls"),
    "tool calls and stop": (
        chat(None, message={"content": GOOD, "tool_calls": [{"id": "1"}]}),
        "finish_tool_calls",
    ),
    "old function call": (chat(None, message={"content": GOOD, "function_call": {"name": "f"}}), "finish_tool_calls"),
    "unknown end": (chat(GOOD, finish_reason="sk-secret-reason"), "finish_reason"),
    "end is a number": (chat(GOOD, finish_reason=7), "finish_reason"),
    "end is a list": (chat(GOOD, finish_reason=["stop"]), "finish_reason"),
    "refusal": (chat(None, message={"content": None, "refusal": "I can't"}), "refusal"),
    "blank": (chat("  \n\n  "), "blank"),
    "empty": (chat(""), "blank"),
    "no content": (chat(None), "content"),
    "thinking only": (chat(None, message={"content": None, "reasoning_content": GOOD}), "content"),
    "content is parts": (chat([{"type": "text", "text": GOOD}]), "content"),
    "content is an object": (chat({"answered": True}), "content"),
    "no message": (chat(GOOD, message=None), "message"),
    "message is text": (chat(GOOD, message=GOOD), "message"),
    "no choices": (chat(GOOD, choices=[]), "choices"),
    "choices null": (chat(GOOD, choices=None), "choices"),
    "choices an object": (chat(GOOD, choices={"0": 1}), "choices"),
    "two choices": (chat(GOOD, choices=json.loads(chat(GOOD))["choices"] * 2), "choices"),
    "choice is text": (chat(GOOD, choices=["x"]), "choices"),
    "stream": (b'data: {"choices": []}\n\ndata: [DONE]\n\n', "not_json"),
    "error with 200": (b'{"error": {"message": "no credit"}}', "choices"),
    "wrong types": (chat('{"answered": "yes", "n": "3"}'), "wrong_shape"),
    "thinking in text": (chat(f"<think>hm</think>{GOOD}"), "not_json"),
    "one MiB of prose": (chat("a" * 1_000_000), "not_json"),
}


@pytest.mark.parametrize("name", list(ODD))
def test_odd_answers_are_refused_by_name(name: str, serve: Serve, bench: Bench) -> None:
    """Each oddity is MODEL_INVALID_RESPONSE with our word for it; it may have been billed, so it is unknown."""
    body, reason = ODD[name]
    server = serve(answering(body))
    outcome = bench.ask(server.url, max_response_bytes=2_000_000)
    assert (outcome.code, outcome.reason) == ("MODEL_INVALID_RESPONSE", reason)
    assert bench.rows() == [("unknown", "MODEL_INVALID_RESPONSE")]
    assert "sk-secret-reason" not in outcome.shown


def test_tokens_of_a_useless_answer_are_counted_all_the_same(serve: Serve, bench: Bench) -> None:
    """An answer that was cut off was paid for: its tokens stand in the ledger."""
    server = serve(answering(chat(GOOD[:9], finish_reason="length")))
    bench.ask(server.url)
    assert (bench.last().state.value, bench.last().total) == ("unknown", 12)


@pytest.mark.parametrize("end", ["stop", None])
def test_a_finished_answer_is_taken(end: str | None) -> None:
    """`stop`, and servers that leave the reason out."""
    assert read_completion(chat(GOOD, finish_reason=end), None) == Completion(GOOD, Usage(7, 5, 12))


USAGES: list[tuple[object, Usage]] = [
    (None, Usage()),
    ("12", Usage()),
    ([], Usage()),
    ({}, Usage()),
    ({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}, Usage(3, 4, 7)),
    ({"prompt_tokens": 3, "completion_tokens": 4}, Usage(3, 4, 7)),
    ({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 99}, Usage(3, 4, 99)),
    ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, Usage(0, 0, 0)),
    ({"prompt_tokens": -3, "completion_tokens": 4, "total_tokens": 7}, Usage(None, 4, 7)),
    ({"prompt_tokens": "3", "completion_tokens": 4.0, "total_tokens": True}, Usage()),
    ({"prompt_tokens": 10**13, "completion_tokens": None}, Usage()),
]


@pytest.mark.parametrize(("told", "known"), USAGES)
def test_only_sane_token_counts_are_believed(told: object, known: Usage, serve: Serve, bench: Bench) -> None:
    """Missing, negative, textual or absurd counts are unknown in the ledger, and the answer is used all the same."""
    server = serve(answering(chat(GOOD, usage=told)))
    assert bench.ask(server.url).value is not None
    row = bench.last()
    assert Usage(row.prompt, row.completion, row.total) == known
    assert [use.unmeasured for use in bench.ledger.days().values()] == [int(known.total is None)]


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), st.lists, max_leaves=6))
def test_no_usage_crashes(told: object) -> None:
    """Whatever stands under `usage` is read or unknown."""
    assert isinstance(read_usage(told), Usage)


@given(
    st.dictionaries(st.sampled_from(["choices", "usage", "message"]), st.recursive(st.none(), st.lists, max_leaves=6))
)
def test_no_answer_crashes(answer: dict[str, object]) -> None:
    """Whatever object comes is a completion or a refusal."""
    assert isinstance(read_completion(json.dumps(answer).encode(), None), Completion | Refused)


def test_the_request_for_deepseek() -> None:
    """The defaults: JSON mode, thinking off, the token limit really in the body, two messages, nothing else."""
    assert chat_body(ModelSettings(), SHORT, Answer) == snapshot(
        {
            "model": "deepseek-flash",
            "messages": [{"role": "system", "content": "Reply in JSON."}, {"role": "user", "content": "hi"}],
            "max_tokens": 64,
            "temperature": 0,
            "stream": False,
            "response_format": {"type": "json_object"},
            "thinking": {"type": "disabled"},
        }
    )


def test_the_request_with_a_schema() -> None:
    """Schema mode sends the strict schema of the answer's type; an empty `thinking` leaves the parameter out."""
    settings = ModelSettings(model="m", json_mode="schema", thinking="")
    assert chat_body(settings, SHORT, Answer)["response_format"] == snapshot(
        {
            "type": "json_schema",
            "json_schema": {
                "name": "answer",
                "strict": True,
                "schema": {
                    "type": "object",
                    "properties": {"answered": {"type": "boolean"}, "n": {"type": "integer"}},
                    "required": ["answered", "n"],
                    "additionalProperties": False,
                },
            },
        }
    )
    assert "thinking" not in chat_body(settings, SHORT, Answer)


def test_the_request_without_json_mode() -> None:
    """For servers that know neither, the prompt alone asks for JSON."""
    body = chat_body(ModelSettings(json_mode="none"), SHORT, Answer)
    assert "response_format" not in body


def test_the_word_json_is_always_in_the_prompt() -> None:
    """Services refuse JSON mode without it, so a server's own prompt that lacks it gets a line more."""
    call = replace(SHORT, system="Reply briefly.")
    assert chat_body(ModelSettings(), call, Answer)["messages"] == snapshot(
        [
            {
                "role": "system",
                "content": """\
Reply briefly.
Answer with one JSON object.\
""",
            },
            {"role": "user", "content": "hi"},
        ]
    )
    assert chat_body(ModelSettings(json_mode="none"), call, Answer)["messages"] == [
        {"role": "system", "content": "Reply briefly."},
        {"role": "user", "content": "hi"},
    ]
