"""A model's text becomes a typed value or a refusal with a word of ours; a type becomes a strict schema."""

import json
from dataclasses import dataclass

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.gateways.answers import decode, json_schema


@dataclass(frozen=True, slots=True)
class Claim:
    text: str
    sources: list[int]


@dataclass(frozen=True, slots=True)
class Local:
    answered: bool
    claims: list[Claim]
    note: str | None = None


class Closed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    n: int


@dataclass
class Endless:
    inner: "list[Endless]"


GOOD = '{"answered": true, "claims": [{"text": "用金锄头", "sources": [1]}]}'
VALUE = Local(answered=True, claims=[Claim("用金锄头", [1])])

REFUSED = {
    "": "blank",
    " \n ": "blank",
    "I do not know.": "not_json",
    f"Here it is: {GOOD}": "not_json",
    f"{GOOD} Hope this helps!": "not_json",
    f"{GOOD}{GOOD}": "not_json",
    f"```json\n{GOOD}\n``` done": "not_json",
    f"<think>well</think>{GOOD}": "not_json",
    GOOD[:-4]: "not_json",
    "[]": "not_an_object",
    "{}": "wrong_shape",
    '{"answered": "true", "claims": []}': "wrong_shape",
    '{"answered": 1, "claims": []}': "wrong_shape",
    '{"answered": true, "claims": {}}': "wrong_shape",
    '{"answered": true, "claims": [null]}': "wrong_shape",
    '{"answered": true, "claims": [{"text": "a", "sources": ["1"]}]}': "wrong_shape",
    '{"answered": true, "claims": [{"text": "a", "sources": [true]}]}': "wrong_shape",
    '{"answered": true, "claims": [{"text": "a", "sources": [1.5]}]}': "wrong_shape",
    '{"answered": true, "claims": [{"text": 1, "sources": [1]}]}': "wrong_shape",
    '{"answered": true, "answered": true, "claims": []}': "duplicate_key",
    '{"answered": true, "claims": [], "x": 1e400}': "number_too_large",
    '{"answered": true, "claims": [{"text": "\\ud800", "sources": []}]}': "surrogate",
    '{"answered": true, "claims": ' + "[" * 10_000 + "]" * 10_000 + "}": "too_deep",
}


@pytest.mark.parametrize("text", [GOOD, f"  {GOOD}\n", f"```json\n{GOOD}\n```", f"```\r\n{GOOD}\r\n```\n"])
def test_one_object_is_decoded(text: str) -> None:
    """The object alone, with space around it, or in one fence, is the answer."""
    assert decode(text, Local) == VALUE


@pytest.mark.parametrize("text", list(REFUSED), ids=lambda text: text[:40])
def test_anything_else_is_refused(text: str) -> None:
    """Prose, halves, doubles and wrong types are refused; the error holds nothing of the answer."""
    with pytest.raises(AssistantError) as caught:
        decode(text, Local)
    assert (caught.value.code, caught.value.details["reason"]) == (ErrorCode.MODEL_INVALID_RESPONSE, REFUSED[text])
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_fields_that_nobody_asked_for_grant_nothing() -> None:
    """Extra fields vanish; a type that forbids them refuses the answer."""
    extra = '{"uuid": "x", "player": "Steve", "allowWeb": true, "table": "t", '
    assert decode(extra + GOOD[1:], Local) == VALUE
    with pytest.raises(AssistantError):
        decode('{"n": 1, "player": "Steve"}', Closed)
    assert decode('{"n": 1}', Closed) == Closed(1)


@given(st.text(max_size=300))
def test_any_text_is_decoded_or_refused(text: str) -> None:
    """No answer crashes the decoder."""
    try:
        decode(text, Local)
    except AssistantError as error:
        assert error.code is ErrorCode.MODEL_INVALID_RESPONSE


@given(st.booleans(), st.lists(st.builds(Claim, st.text(max_size=20), st.lists(st.integers(-9, 99)))), st.none())
def test_what_the_schema_allows_is_decoded(answered: bool, claims: list[Claim], note: None) -> None:  # noqa: FBT001 - drawn
    """Every value of the type, written as JSON, comes back equal."""
    value = Local(answered, claims, note)
    try:
        text = msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return  # no service can send that
    assert decode(text, Local) == value


def test_the_schema_is_strict_and_whole() -> None:
    """No references, every field required, none besides: what strict services ask for."""
    assert json_schema(Local) == snapshot(
        {
            "type": "object",
            "properties": {
                "answered": {"type": "boolean"},
                "claims": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "text": {"type": "string"},
                            "sources": {"type": "array", "items": {"type": "integer"}},
                        },
                        "required": ["text", "sources"],
                        "additionalProperties": False,
                    },
                },
                "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            },
            "required": ["answered", "claims", "note"],
            "additionalProperties": False,
        }
    )
    assert "$ref" not in json.dumps(json_schema(Local))


def test_a_type_without_end_is_refused_at_once() -> None:
    """A type that holds itself has no finite schema."""
    with pytest.raises(TypeError):
        json_schema(Endless)
