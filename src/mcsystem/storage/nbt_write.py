"""Writes NBT values: the other half of `nbt`."""

import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, cast

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage.tags import (
    BYTE,
    BYTES,
    COMPOUND,
    DOUBLE,
    END,
    FLOAT,
    INT,
    INTS,
    LIST,
    LONG,
    LONGS,
    MAX_DEPTH,
    MAX_TEXT,
    SHORT,
    STRING,
    Byte,
    Float,
    IntArray,
    Long,
    LongArray,
    Short,
    Tree,
)
from mcsystem.storage.text import has_split_pair, has_surrogate, write_text

TAG_OF: Final[Mapping[type, int]] = {
    bool: BYTE,
    Byte: BYTE,
    Short: SHORT,
    Long: LONG,
    Float: FLOAT,
    float: DOUBLE,
    bytes: BYTES,
    str: STRING,
    list: LIST,
    tuple: LIST,
    dict: COMPOUND,
    IntArray: INTS,
    LongArray: LONGS,
}
NUMBER: Final = {
    BYTE: struct.Struct(">b").pack,
    SHORT: struct.Struct(">h").pack,
    INT: struct.Struct(">i").pack,
    LONG: struct.Struct(">q").pack,
    FLOAT: struct.Struct(">f").pack,
    DOUBLE: struct.Struct(">d").pack,
}
LIST_FORMAT: Final = {BYTE: "b", SHORT: "h", INT: "i", LONG: "q", DOUBLE: "d"}
SURROGATE_LEAD: Final = 0xED  # the first byte of surrogates, and of some Korean letters
SHORT_NAME: Final = 64  # characters; the bytes of such names are kept
INT_LIMIT: Final = 1 << 31
LONG_LIMIT: Final = 1 << 63
TAGS: Final = tuple(bytes((tag,)) for tag in range(13))
LENGTH: Final = tuple(struct.pack(">H", length) for length in range(1024))


class Row(NamedTuple):
    """One encoded value: what every backend stores.

    Attributes:
        data: the tag byte and the payload.
        values: how many NBT values the payload holds, itself included; they count against a file's limit.
    """

    data: bytes
    values: int


class InvalidValueError(Exception):
    """A value that NBT cannot hold; `path` is filled from the inside outwards."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path: list[str] = []


def write_value(value: Tree, *, depth: int = 0, real_text: bool = False) -> Row:
    """Encode `value`; a key of a compound whose value is None is left out.

    Args:
        value: the tree.
        depth: how many compounds lie around it in the file.
        real_text: refuse lone surrogates, which only damaged text has.

    Errors: STORAGE_VALUE_INVALID with `reason` and `path`.
    """
    writer = _Writer(real_text=real_text)
    try:
        tag = _tag(value)
        writer.payload(tag, value, depth + 1)
    except InvalidValueError as error:
        path = "$" + "".join(reversed(error.path))
        raise AssistantError(ErrorCode.STORAGE_VALUE_INVALID, reason=error.reason, path=path[:200]) from error
    except RecursionError as error:
        raise AssistantError(ErrorCode.STORAGE_VALUE_INVALID, reason="depth", path="$") from error
    return Row(TAGS[tag] + b"".join(writer.out), writer.values)


def name_bytes(name: str) -> bytes:
    """The name of an entry as it stands in a file: length and modified UTF-8.

    Raises:
        InvalidValueError: longer than 65,535 bytes.
    """
    return _short_name(name) if len(name) <= SHORT_NAME else _text(name)


def _text(text: str) -> bytes:
    raw = write_text(text)
    if SURROGATE_LEAD in raw and has_split_pair(text):
        raise InvalidValueError("surrogate")
    size = len(raw)
    if size > MAX_TEXT:
        raise InvalidValueError("string_too_long")
    return (LENGTH[size] if size < len(LENGTH) else struct.pack(">H", size)) + raw


@lru_cache(maxsize=2048)
def _short_name(name: str) -> bytes:
    return _text(name)


@lru_cache(maxsize=2048)
def _short_head(tag: int, name: str) -> bytes:
    return TAGS[tag] + _text(name)


def _tag(value: object) -> int:
    tag = TAG_OF.get(type(value))
    if tag is not None:
        return tag
    if type(value) is not int:
        raise InvalidValueError("none" if value is None else "type")
    if -INT_LIMIT <= value < INT_LIMIT:
        return INT
    if -LONG_LIMIT <= value < LONG_LIMIT:
        return LONG
    raise InvalidValueError("integer_too_large")


class _Writer:
    """Appends to `out`. One Python frame for each level, so that 512 levels fit into the interpreter's stack."""

    __slots__ = ("out", "real_text", "values")

    def __init__(self, *, real_text: bool) -> None:
        self.out: list[bytes] = []
        self.values = 1
        self.real_text = real_text

    def payload(self, tag: int, value: object, depth: int) -> None:
        if tag == COMPOUND:
            self._compound(cast("Mapping[object, object]", value), depth)
        elif tag == LIST:
            self._list(cast("Sequence[object]", value), depth)
        else:
            self._flat(tag, value)

    def _compound(self, value: Mapping[object, object], depth: int) -> None:
        if depth > MAX_DEPTH:
            raise InvalidValueError("depth")
        out = self.out
        for key, item in value.items():
            try:
                tag = TAG_OF.get(type(item))
                if tag is None:
                    if item is None:
                        continue
                    tag = _tag(item)
                out.append(self._head(tag, key))
                self.values += 1
                if tag == COMPOUND:
                    self._compound(cast("Mapping[object, object]", item), depth + 1)
                elif tag == LIST:
                    self._list(cast("Sequence[object]", item), depth + 1)
                else:
                    self._flat(tag, item)
            except InvalidValueError as error:
                error.path.append(f".{str(key)[:80]}")
                raise
        out.append(TAGS[END])

    def _list(self, value: Sequence[object], depth: int) -> None:
        if depth > MAX_DEPTH:
            raise InvalidValueError("depth")
        kind = _list_kind(value)
        self.out += (TAGS[kind], struct.pack(">i", len(value)))
        self.values += len(value)
        if kind in LIST_FORMAT:
            self._array(LIST_FORMAT[kind], value)
            return
        depth += 1
        for place, item in enumerate(value):
            try:
                tag = _tag(item)
                wrapped = kind == COMPOUND and (tag != COMPOUND or _is_wrapper(cast("Mapping[str, object]", item)))
                if wrapped:
                    self._open_wrapper(tag, depth)
                if tag == COMPOUND:
                    self._compound(cast("Mapping[object, object]", item), depth + wrapped)
                elif tag == LIST:
                    self._list(cast("Sequence[object]", item), depth + wrapped)
                else:
                    self._flat(tag, item)
                if wrapped:
                    self.out.append(TAGS[END])
            except InvalidValueError as error:
                error.path.append(f"[{place}]")
                raise

    def _open_wrapper(self, tag: int, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise InvalidValueError("depth")
        self.values += 1
        self.out += (TAGS[tag], b"\0\0")

    def _head(self, tag: int, key: object) -> bytes:
        if type(key) is not str:
            raise InvalidValueError("key_type")
        if self.real_text and not key.isascii() and has_surrogate(key):
            raise InvalidValueError("surrogate")
        return _short_head(tag, key) if len(key) <= SHORT_NAME else TAGS[tag] + _text(key)

    def _flat(self, tag: int, value: object) -> None:
        if tag == STRING:
            text = cast("str", value)
            if self.real_text and not text.isascii() and has_surrogate(text):
                raise InvalidValueError("surrogate")
            self.out.append(_text(text))
        elif tag in NUMBER:
            self._number(tag, cast("float", value))
        elif tag == BYTES:
            raw = cast("bytes", value)
            self.out += (struct.pack(">i", len(raw)), raw)
        else:
            numbers = cast("tuple[int, ...]", value)
            self.out.append(struct.pack(">i", len(numbers)))
            self.values += len(numbers)
            self._array("i" if tag == INTS else "q", numbers)

    def _number(self, tag: int, value: float) -> None:
        if tag == FLOAT and isinstance(value, Float) and value.bits is not None:
            self.out.append(struct.pack(">I", value.bits))
            return
        try:
            self.out.append(NUMBER[tag](value))
        except (struct.error, OverflowError) as error:
            raise InvalidValueError("number_too_large") from error

    def _array(self, kind: str, numbers: Sequence[object]) -> None:
        try:
            self.out.append(struct.pack(f">{len(numbers)}{kind}", *numbers))
        except struct.error as error:
            raise InvalidValueError("number_too_large") from error


def _list_kind(value: Sequence[object]) -> int:
    """The tag of all elements, COMPOUND where they differ, END where there are none."""
    types = set(map(type, value))
    if len(types) == 1 and types != {int}:
        return _tag(value[0])
    kinds: set[int] = set()
    for place, item in enumerate(value):
        try:
            kinds.add(_tag(item))
        except InvalidValueError as error:
            error.path.append(f"[{place}]")
            raise
    if not kinds:
        return END
    return kinds.pop() if len(kinds) == 1 else COMPOUND


def _is_wrapper(value: Mapping[str, object]) -> bool:
    return len(value) == 1 and "" in value
