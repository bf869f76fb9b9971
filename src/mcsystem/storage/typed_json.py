"""NBT trees as JSON that names each value's kind, so that nothing is lost on the way out and back.

A value is a pair `[kind, content]`: `byte short int long` with a number, `float double` with a number or, for what
JSON cannot say, `"0x..."` (the bits), `string`, `bytes` (hexadecimal), `ints longs` (numbers), `list` (values),
`compound` (an object of values).
"""

import struct
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Final, cast

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage.tags import Byte, Float, IntArray, Long, LongArray, Short, Tree

Json = bool | int | float | str | None | list["Json"] | dict[str, "Json"]
RANGES: Final[Mapping[str, int]] = {"byte": 8, "short": 16, "int": 32, "long": 64}
INT_BITS: Final = 32
EXACT: Final[Mapping[type, str]] = {bool: "byte", Byte: "byte", Short: "short", Long: "long"}


def to_json(tree: Tree) -> Json:  # noqa: PLR0911 - one line for each kind
    """The pair for `tree`."""
    match tree:
        case int():
            return [EXACT.get(type(tree)) or ("int" if -(1 << 31) <= tree < 1 << 31 else "long"), int(tree)]
        case float():
            return _float_pair(tree)
        case str():
            return ["string", tree]
        case bytes():
            return ["bytes", tree.hex()]
        case IntArray():
            return ["ints", list(tree)]
        case LongArray():
            return ["longs", list(tree)]
        case list():
            return ["list", [to_json(item) for item in tree]]
        case dict():
            return ["compound", {key: to_json(item) for key, item in tree.items()}]


def from_json(pair: object, path: str = "$") -> Tree:
    """The tree of a pair made by `to_json`.

    Errors: STORAGE_VALUE_INVALID with `path` where it is not one.
    """
    if not isinstance(pair, list) or len(cast("list[object]", pair)) != 2:  # noqa: PLR2004 - a pair
        raise _wrong(path)
    kind, content = cast("list[object]", pair)
    read = READ.get(kind) if isinstance(kind, str) else None
    if read is None:
        raise _wrong(path)
    try:
        return read(content, path)
    except (TypeError, ValueError, OverflowError, struct.error) as error:
        raise _wrong(path) from error


def _wrong(path: str) -> AssistantError:
    return AssistantError(ErrorCode.STORAGE_VALUE_INVALID, reason="not a [kind, content] pair", path=path[:200])


def _float_pair(value: float) -> Json:
    kind = "float" if isinstance(value, Float) else "double"
    if isfinite(value):
        return [kind, float(value)]
    if isinstance(value, Float):
        bits = value.bits if value.bits is not None else int.from_bytes(struct.pack(">f", value), "big")
        return [kind, f"0x{bits:08x}"]
    return [kind, f"0x{int.from_bytes(struct.pack('>d', value), 'big'):016x}"]


def _integer(kind: str) -> Callable[[object, str], Tree]:
    limit = 1 << (RANGES[kind] - 1)

    def read(content: object, path: str) -> Tree:
        if type(content) is not int or not -limit <= content < limit:
            raise _wrong(path)
        if kind == "byte":
            return bool(content) if content in {0, 1} else Byte(content)
        return {"short": Short, "int": int, "long": Long}[kind](content)

    return read


def _float(content: object, path: str) -> Tree:
    if isinstance(content, str):
        bits = int(content, 16)
        value: float = struct.unpack(">f", bits.to_bytes(4, "big"))[0]
        return Float(value, bits if value != value else None)  # noqa: PLR0124 - only a NaN differs from itself
    number = _number(content, path)
    struct.pack(">f", number)
    return Float(number)


def _double(content: object, path: str) -> Tree:
    if isinstance(content, str):
        value: float = struct.unpack(">d", int(content, 16).to_bytes(8, "big"))[0]
        return value
    return _number(content, path)


def _number(content: object, path: str) -> float:
    if isinstance(content, bool) or not isinstance(content, int | float):
        raise _wrong(path)
    return float(content)


def _string(content: object, path: str) -> Tree:
    if not isinstance(content, str):
        raise _wrong(path)
    return content


def _bytes(content: object, path: str) -> Tree:
    return bytes.fromhex(cast("str", _string(content, path)))


def _numbers(content: object, path: str, bits: int) -> list[int]:
    limit = 1 << (bits - 1)
    numbers = cast("list[object]", content) if isinstance(content, list) else [None]
    if any(type(item) is not int or not -limit <= item < limit for item in numbers):
        raise _wrong(path)
    return cast("list[int]", numbers)


def _list(content: object, path: str) -> Tree:
    if not isinstance(content, list):
        raise _wrong(path)
    return [from_json(item, f"{path}[{place}]") for place, item in enumerate(cast("list[object]", content))]


def _compound(content: object, path: str) -> Tree:
    if not isinstance(content, dict):
        raise _wrong(path)
    return {key: from_json(item, f"{path}.{key}") for key, item in cast("dict[str, object]", content).items()}


READ: Final[Mapping[str, Callable[[object, str], Tree]]] = {
    **{kind: _integer(kind) for kind in RANGES},
    "float": _float,
    "double": _double,
    "string": _string,
    "bytes": _bytes,
    "ints": lambda content, path: IntArray(_numbers(content, path, 32)),
    "longs": lambda content, path: LongArray(_numbers(content, path, 64)),
    "list": _list,
    "compound": _compound,
}
