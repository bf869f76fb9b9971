"""JSON from outside is read strictly: everything ordinary comes through, nothing odd does."""

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcsystem.gateways.strict_json import DEPTH, JsonObject, JsonRefusedError, parse_object

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=10)
PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**17), 10**17), TEXT, st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(PLAIN, lambda below: st.lists(below, max_size=3), max_leaves=6)
OBJECTS = st.dictionaries(TEXT, VALUES, max_size=4)
EXAMPLES = 2_000 if os.environ.get("MCSYSTEM_SOAK") else 60

REFUSED = {
    "[]": "not_an_object",
    "1": "not_an_object",
    '"{}"': "not_an_object",
    "null": "not_an_object",
    "": "not_json",
    " ": "not_json",
    "{} {}": "not_json",
    "{}x": "not_json",
    "x{}": "not_json",
    "\ufeff{}": "not_json",
    "{'a': 1}": "not_json",
    '{"a": 1,}': "not_json",
    '{"a": "\n"}': "not_json",
    '{"a": 01}': "not_json",
    '{"a": 1, "a": 1}': "duplicate_key",
    '{"b": {"a": 1, "\\u0061": 2}}': "duplicate_key",
    '{"a": NaN}': "not_a_number",
    '{"a": -Infinity}': "not_a_number",
    '{"a": 1e999}': "number_too_large",
    '{"a": -1e999}': "number_too_large",
    '{"a": 12345678901234567890}': "number_too_large",
    '{"a": ' + "9" * 5000 + "}": "number_too_large",
    '{"a": "\\ud800"}': "surrogate",
    '{"\\udc00": 1}': "surrogate",
    '{"a":' * 100_000: "too_deep",
    '{"a":' + "[" * 100_000 + "]" * 100_000 + "}": "too_deep",
    '{"a":' + "[" * DEPTH + "]" * DEPTH + "}": "too_deep",
}


def nested(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


@pytest.mark.parametrize("text", list(REFUSED), ids=lambda text: text[:24])
def test_odd_json_is_refused_by_name(text: str) -> None:
    """Each oddity has its own word, and the refusal holds nothing of the text: no cause, no context."""
    with pytest.raises(JsonRefusedError) as caught:
        parse_object(text)
    assert caught.value.reason == REFUSED[text]
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_depth_ends_at_the_limit() -> None:
    """32 levels are read, 33 are not."""
    assert parse_object(nested(DEPTH))
    with pytest.raises(JsonRefusedError):
        parse_object(nested(DEPTH + 1))


@settings(max_examples=EXAMPLES)
@given(OBJECTS)
def test_ordinary_objects_come_through_unchanged(value: JsonObject) -> None:
    """What json writes is read back equal, as text and as bytes."""
    text = json.dumps(value, ensure_ascii=False)
    assert parse_object(text) == value
    assert parse_object(text.encode()) == value


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """No bytes crash the reader."""
    try:
        assert isinstance(parse_object(data), dict)
    except JsonRefusedError as error:
        assert error.reason


@settings(max_examples=EXAMPLES)
@given(OBJECTS, st.data())
def test_mutated_json_never_crashes(value: JsonObject, data: st.DataObject) -> None:
    """One byte changed anywhere gives an object or a refusal."""
    text = bytearray(json.dumps(value).encode())
    text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    try:
        parse_object(bytes(text))
    except JsonRefusedError as error:
        assert len(error.reason) < 20


def test_many_open_quotes_take_no_time() -> None:
    """A megabyte of escaped quotes without an end is refused in one pass."""
    with pytest.raises(JsonRefusedError):
        parse_object('{"a": "' + '\\"' * 500_000)
