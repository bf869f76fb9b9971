"""A table's declaration, and the changes that a commit is made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from mcsystem.errors import AssistantError
from mcsystem.ids import check_id
from mcsystem.storage.codec import Codec, TypedCodec

T = TypeVar("T")


class Table(Generic[T]):
    """Typed values by key, in every database that uses it.

    Args:
        table_id: namespaced, such as `example:notes`; one ID has one structure in a world.
        kind: the type of the values, or a codec for them.

    Errors: STORAGE_ID_INVALID; STORAGE_VALUE_INVALID for a type that would not come back as it went in.
    """

    __slots__ = ("codec", "id")

    def __init__(self, table_id: str, kind: type[T] | Codec[T]) -> None:
        self.id = check_id(table_id)
        given: object = kind
        is_codec = isinstance(given, Codec) and not isinstance(given, type)
        try:
            self.codec: Codec[T] = cast("Codec[T]", kind) if is_codec else TypedCodec(cast("type[T]", kind))
        except AssistantError as error:
            raise AssistantError(error.code, **{**error.details, "table": table_id, "key": ""}) from error

    def __repr__(self) -> str:
        return f"Table({self.id!r}, {self.codec.structure})"


@dataclass(frozen=True)  # with slots too, Python 3.11 could not make a `Put[str](...)`
class Put(Generic[T]):
    """Set one value."""

    table: Table[T]
    key: str
    value: T


@dataclass(frozen=True, slots=True)
class Remove:
    """Remove one value, if it is there."""

    table: Table[Any]
    key: str


@dataclass(frozen=True)  # with slots too, Python 3.11 could not make a `Replace[str](...)`
class Replace(Generic[T]):
    """Make the table hold exactly `values`."""

    table: Table[T]
    values: Mapping[str, T]


Change = Put[Any] | Remove | Replace[Any]
