"""NBT as JSON for `mcsystem db export` and `import`: nothing is lost, a wrong document is refused with its place."""

import json
import math
import os
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage.nbt_write import write_value
from mcsystem.storage.tags import Byte, Float, IntArray, Long, LongArray, Short, Tree
from mcsystem.storage.typed_json import from_json, to_json

MANY = 2000 if os.environ.get("MCSYSTEM_SOAK") else 100
values: st.SearchStrategy[Tree] = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(-128, -1).map(Byte),
        st.integers(-32768, 32767).map(Short),
        st.integers(-(1 << 31), (1 << 31) - 1),
        st.integers(-(1 << 63), (1 << 63) - 1).map(Long),
        st.floats(width=32, allow_nan=False).map(Float),
        st.integers(0x7F800001, 0x7FFFFFFF).map(lambda bits: Float(math.nan, bits)),
        st.floats(),
        st.text(),
        st.binary(),
        st.lists(st.integers(-(1 << 31), (1 << 31) - 1)).map(IntArray),
        st.lists(st.integers(-(1 << 63), (1 << 63) - 1)).map(LongArray),
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=MANY, deadline=None)
@given(values)
def test_round_trip(value: Tree) -> None:
    """Through JSON text and back, a value is written to the same bytes."""
    text = json.dumps(to_json(value), allow_nan=False)
    assert write_value(from_json(json.loads(text))) == write_value(value)


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=3), inner, max_size=3),
        st.tuples(st.sampled_from(["int", "byte", "float", "double", "bytes", "ints", "list", "compound"]), inner).map(
            list
        ),
    ),
    max_leaves=10,
)


@settings(max_examples=MANY * 3, deadline=None)
@given(json_values)
def test_anything(document: object) -> None:
    """Any JSON gives a tree that can be written, or our error."""
    try:
        write_value(from_json(document))
    except AssistantError as error:
        assert error.code is ErrorCode.STORAGE_VALUE_INVALID


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (["int", 1 << 31], "$"),
        (["list", [["int", 1], ["int", "1"]]], "$[1]"),
        (["compound", {"a": ["byte", 200]}], "$.a"),
        (["double", True], "$"),
        (["bytes", "zz"], "$"),
        (["float", "0x123456789"], "$"),
        (["unknown", 1], "$"),
        (["ints", [1, None]], "$"),
        ("int", "$"),
    ],
)
def test_wrong_documents(document: object, path: str) -> None:
    """The error names the place."""
    with pytest.raises(AssistantError) as caught:
        from_json(document)
    assert caught.value.details["path"] == path
    assert cast("str", caught.value.details["reason"])
