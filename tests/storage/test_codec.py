"""Typed values: what goes in comes out, and what would not is refused when the table is declared or at the put."""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar
from uuid import UUID

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage import Table
from mcsystem.storage.codec import TypedCodec
from mcsystem.storage.nbt import read_value
from mcsystem.storage.nbt_write import write_value

T = TypeVar("T")
MANY = 2000 if os.environ.get("MCSYSTEM_SOAK") else 100


class Colour(StrEnum):
    """Text values."""

    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    """Number values."""

    LOW = 1
    HIGH = 1 << 40


class Point(NamedTuple):
    """An array on disk."""

    x: int
    y: float


class Ring(msgspec.Struct, tag="ring", frozen=True):
    """One side of a tagged union."""

    size: float


class Box(msgspec.Struct, tag="box", frozen=True):
    """The other side."""

    sides: tuple[int, int]


class Extra(TypedDict):
    """A dict with known keys."""

    name: str


@dataclass(frozen=True, slots=True)
class Everything:
    """Every kind of field that a table may have."""

    number: int
    real: float
    yes: bool
    text: str
    raw: bytes
    colour: Colour
    level: Level
    when: datetime
    day: date
    length: timedelta
    who: UUID
    price: Decimal
    point: Point
    shape: Ring | Box
    mode: Literal["a", "b", 3]
    either: int | str
    extra: Extra
    words: list[str]
    pair: tuple[int, str]
    names: frozenset[str]
    by_name: dict[str, list[int]]
    by_number: dict[int, str]
    by_colour: dict[Colour, bool]
    note: str | None = None
    inner: "Everything | None" = None
    tags: tuple[str, ...] = field(default=())


int64 = st.integers(-(1 << 63), (1 << 63) - 1)
text = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
zones = st.sampled_from([UTC, timezone(timedelta(hours=8))])
everything = st.builds(
    Everything,
    number=int64,
    real=st.floats(allow_nan=False),
    yes=st.booleans(),
    text=text,
    raw=st.binary(max_size=12),
    colour=st.sampled_from(Colour),
    level=st.sampled_from(Level),
    when=st.one_of(st.datetimes(), st.datetimes(timezones=zones)),
    day=st.dates(),
    length=st.timedeltas(min_value=timedelta(days=-9999), max_value=timedelta(days=9999)),
    who=st.uuids(),
    price=st.decimals(allow_nan=False, allow_infinity=False, places=6),
    point=st.builds(Point, int64, st.floats(allow_nan=False)),
    shape=st.one_of(st.builds(Ring, size=st.floats(allow_nan=False)), st.builds(Box, sides=st.tuples(int64, int64))),
    mode=st.sampled_from(["a", "b", 3]),
    either=st.one_of(int64, text),
    extra=st.fixed_dictionaries({"name": text}),
    words=st.lists(text, max_size=4),
    pair=st.tuples(int64, text),
    names=st.frozensets(text, max_size=4),
    by_name=st.dictionaries(text, st.lists(int64, max_size=3), max_size=3),
    by_number=st.dictionaries(int64, text, max_size=3),
    by_colour=st.dictionaries(st.sampled_from(Colour), st.booleans()),
    note=st.none() | text,
    inner=st.none(),
    tags=st.lists(text, max_size=3).map(tuple),
)


def through(codec: TypedCodec[T], value: T) -> T:
    """`value` written to bytes and read back."""
    return codec.decode(read_value(write_value(codec.encode(value), real_text=True).data, plain=True))


def refused(make: Callable[[], object]) -> AssistantError:
    """The error of `make`."""
    with pytest.raises(AssistantError) as caught:
        make()
    assert caught.value.code is ErrorCode.STORAGE_VALUE_INVALID
    return caught.value


EVERYTHING = TypedCodec(Everything)


@settings(max_examples=MANY, deadline=None)
@given(everything, st.none() | everything)
def test_round_trip(value: Everything, inner: Everything | None) -> None:
    """A value of every kind of field comes back equal."""
    nested = replace(value, inner=inner)
    assert through(EVERYTHING, nested) == nested


@settings(max_examples=MANY, deadline=None)
@given(int64, st.floats(), text, st.binary())
def test_simple_round_trip(number: int, real: float, words: str, raw: bytes) -> None:
    """Simple values and their containers come back equal and of the same type."""
    assert through(TypedCodec(int), number) == number
    assert through(TypedCodec(str), words) == words
    assert through(TypedCodec(bytes), raw) == raw
    back = through(TypedCodec(float), real)
    assert back == real or (math.isnan(back) and math.isnan(real))
    assert math.copysign(1, back) == math.copysign(1, real) or math.isnan(real)
    assert through(TypedCodec(list[int]), [number, 1, -(1 << 40)]) == [number, 1, -(1 << 40)]
    assert through(TypedCodec(dict[str, float]), {words: 0.5}) == {words: 0.5}
    assert through(TypedCodec(bool), value=True) is True


@pytest.mark.parametrize(
    "kind",
    [
        list[int | None],
        dict[str, str | None],
        tuple[str | None, ...],
        int | None,
        Any,
        object,
        list[Any],
        dict[float, str],
        dict[tuple[int, int], str],
        complex,
        bytearray,
        type("Plain", (), {}),
    ],
)
def test_refused_types(kind: Any) -> None:
    """A type in which a value could be lost or changed is refused when the table is declared, with the path."""
    error = refused(lambda: Table("example:refused", kind))
    assert error.details["table"] == "example:refused"
    assert str(error.details["path"]).startswith("$")


def test_optional_field_without_default_none() -> None:
    """A None is an absent field, so an optional field must have the default None."""

    class Required(msgspec.Struct):
        note: str | None

    class Other(msgspec.Struct):
        note: str | None = "x"

    for kind in (Required, Other):
        assert refused(lambda kind=kind: TypedCodec(kind)).details["path"] == "$.note"


@pytest.mark.parametrize(
    ("kind", "value", "path"),
    [
        (int, True, "$"),
        (int, 1 << 64, "$"),
        (str, 5, "$"),
        (list[int], ["a"], "$[0]"),
        (dict[str, int], {"a": "b"}, "$[...]"),
        (bool, 1, "$"),
        (Ring, object(), "$"),
    ],
)
def test_put_checks_the_type(kind: Any, value: Any, path: str) -> None:
    """A value that is not of the declared type is refused before it is stored, not when it is read."""
    error = refused(lambda: write_value(TypedCodec(kind).encode(value)))
    assert error.details["path"] == path


def test_dataclass_with_wrong_field() -> None:
    """The path names the field that is wrong."""

    @dataclass
    class Waypoint:
        x: int

    assert refused(lambda: TypedCodec(Waypoint).encode(Waypoint("no"))).details["path"] == "$.x"  # type: ignore[arg-type]


def test_decode_is_strict() -> None:
    """Text is no number, a number is no bool, and an unknown enum value is refused: nothing is guessed."""
    cases: tuple[tuple[Any, Any], ...] = (
        (int, "5"),
        (float, "5"),
        (bool, 5),
        (str, 5),
        (Colour, "green"),
        (UUID, "x"),
        (Ring, {}),
    )
    for kind, tree in cases:
        refused(lambda kind=kind, tree=tree: TypedCodec(kind).decode(tree))


def test_structure() -> None:
    """Types with the same fields have one structure, whatever they are called; any difference shows."""

    @dataclass
    class One:
        a: int
        b: str | None = None

    class Two(msgspec.Struct):
        a: int
        b: str | None = None

    class Three(msgspec.Struct):
        a: int
        b: str = ""

    assert TypedCodec(One).structure == TypedCodec(Two).structure == "{a:int,b:str?}"
    structures = [TypedCodec(kind).structure for kind in (Two, Three, int, float, str, Ring, Box, Colour, Everything)]
    assert len(set(structures)) == len(structures)


def test_frozen() -> None:
    """Only values that cannot be changed in any part may be given out twice."""

    @dataclass
    class Changeable:
        a: int

    for kind in (int, str, Ring, tuple[Ring, ...], frozenset[str], Colour):
        assert TypedCodec(kind).frozen
    for kind in (list[int], set[int], dict[str, int], Changeable, tuple[Changeable, ...], Extra, Everything):
        assert not TypedCodec(kind).frozen
