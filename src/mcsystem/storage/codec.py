"""How a value becomes an NBT tree and comes back: strictly, with the path of what is wrong."""

from typing import Any, Final, Generic, Protocol, TypeVar, cast, runtime_checkable

import msgspec

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage.structure import describe
from mcsystem.storage.tags import Tree

T = TypeVar("T")
NATIVE: Final = (bytes,)


@runtime_checkable
class Codec(Protocol[T]):
    """Turns values of one type into trees and back.

    Attributes:
        structure: canonical description of the type; one table ID with two structures is an error.
        frozen: whether values cannot be changed in any part, so that one object may be given out again.
    """

    @property
    def structure(self) -> str:
        """Canonical description of the type."""
        ...

    @property
    def frozen(self) -> bool:
        """Whether values cannot be changed in any part."""
        ...

    def encode(self, value: T) -> Tree:
        """The tree of `value`; fields that are None are absent from compounds, or None there.

        Errors: STORAGE_VALUE_INVALID with `reason` and `path`.
        """
        ...

    def decode(self, tree: Tree) -> T:
        """The value of `tree`. Numbers come as plain `int` and `float`, TAG_Byte 0 and 1 as `bool`, arrays as lists.

        Errors: STORAGE_VALUE_INVALID with `reason` and `path`.
        """
        ...


class TypedCodec(Generic[T]):
    """The codec of a dataclass, msgspec Struct, or a type made of str, int, list, dict, UUID, datetime and the like.

    Args:
        kind: the type. A type whose values could not come back unchanged is refused.

    Errors: STORAGE_VALUE_INVALID with `reason` and `path` inside the type.
    """

    __slots__ = ("_kind", "frozen", "structure")

    def __init__(self, kind: type[T]) -> None:
        found = describe(kind)
        self._kind = kind
        self.structure = found.text
        self.frozen = found.frozen

    def encode(self, value: T) -> Tree:
        """See `Codec.encode`. The value is checked against the type here, so that what was put can be got."""
        try:
            tree = msgspec.to_builtins(value, builtin_types=NATIVE, str_keys=True, order="deterministic")
        except (TypeError, ValueError, RecursionError) as error:
            raise invalid(str(error)) from error
        self.decode(tree)
        return cast("Tree", tree)

    def decode(self, tree: Tree) -> T:
        """See `Codec.decode`."""
        try:
            return msgspec.convert(cast("Any", tree), self._kind, builtin_types=NATIVE, str_keys=True)
        except msgspec.ValidationError as error:
            raise invalid(str(error)) from error


def invalid(message: str) -> AssistantError:
    """Our error for msgspec's message, whose last part names the path."""
    reason, _, path = message.partition(" - at `")
    return AssistantError(ErrorCode.STORAGE_VALUE_INVALID, reason=reason[:200], path=path.rstrip("`")[:200] or "$")
