"""Reads and writes NBT values strictly: what is damaged, ambiguous or over a limit is an error, never a guess."""

import struct
from collections.abc import Callable
from typing import Final, NamedTuple

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage.tags import (
    BYTE,
    COMPOUND,
    DOUBLE,
    END,
    FLOAT,
    INT,
    LONG,
    LONGS,
    MAX_DEPTH,
    MAX_VALUES,
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
from mcsystem.storage.text import read_text

SMALL: Final[tuple[Tree, ...]] = (
    False,
    True,
    *(Byte(value) for value in range(2, 128)),
    *(Byte(value) for value in range(-128, 0)),
)
PLAIN_SMALL: Final[tuple[Tree, ...]] = (False, True, *range(2, 128), *range(-128, 0))
NUMBERS: Final = {BYTE: "b", SHORT: "h", INT: "i", LONG: "q", FLOAT: "f", DOUBLE: "d"}
# The fewest bytes that one element of a list can have, by tag.
LEAST: Final = (0, 1, 2, 4, 8, 4, 8, 4, 2, 5, 1, 4, 4)
SHORT_AT: Final = struct.Struct(">h").unpack_from
INT_AT: Final = struct.Struct(">i").unpack_from
LONG_AT: Final = struct.Struct(">q").unpack_from
FLOAT_AT: Final = struct.Struct(">f").unpack_from
BITS_AT: Final = struct.Struct(">I").unpack_from
DOUBLE_AT: Final = struct.Struct(">d").unpack_from


class Entry(NamedTuple):
    """The head of one entry of a compound: its tag, its name, and where its payload begins."""

    tag: int
    name: str
    start: int


def broken(reason: str, offset: int) -> AssistantError:
    """The error of damaged data: `reason` is one word, `offset` counts bytes of the decompressed data."""
    return AssistantError(ErrorCode.STORAGE_CORRUPT, reason=reason, offset=offset)


class Reader:
    """Reads values out of `data`.

    A position behind the end raises IndexError or struct.error; `reading` turns these into our error.

    Args:
        data: decompressed bytes.
        plain: give Python's own `int`, `float` and `list` instead of the exact tag classes; for typed decoding.

    Attributes:
        left: how many more values may be read.
    """

    __slots__ = ("data", "end", "left", "plain", "small")

    def __init__(self, data: bytes, *, plain: bool = False) -> None:
        self.data = data
        self.end = len(data)
        self.left = MAX_VALUES
        self.plain = plain
        self.small = PLAIN_SMALL if plain else SMALL

    def entry(self, pos: int) -> Entry | None:
        """The entry that begins at `pos`; None at the end of the compound, whose last byte is at `pos`."""
        tag = self.data[pos]
        if tag == END:
            return None
        name, start = self._text(pos + 1, 0)
        self._count(1, pos)
        return Entry(tag, str(name), start)

    def value(self, tag: int, pos: int, depth: int) -> tuple[Tree, int]:
        """The payload of a `tag` at `pos` and the position behind it; `depth` is that of the compound around it."""
        if tag > LONGS or tag == END:
            raise broken("format", pos)
        return READ[tag](self, pos, depth + 1)

    def compound(self, pos: int, depth: int) -> tuple[dict[str, Tree], int]:
        """The compound whose first entry is at `pos`, itself `depth` deep."""
        if depth > MAX_DEPTH:
            raise broken("depth", pos)
        data, end, inner = self.data, self.end, depth + 1
        found: dict[str, Tree] = {}
        while tag := data[pos]:
            start = pos + 3
            pos = start + (data[pos + 1] << 8 | data[pos + 2])
            raw = data[start:pos]
            if pos > end:
                raise broken("format" if tag > LONGS else "overrun", start)
            key = str(raw, "ascii") if raw.isascii() else _decoded(raw, start)
            if key in found:
                raise broken("duplicate", start)
            self.left -= 1
            if self.left < 0:
                raise broken("too_large", pos)
            if tag == STRING:
                start = pos + 2
                pos = start + (data[pos] << 8 | data[pos + 1])
                raw = data[start:pos]
                if pos > end:
                    raise broken("overrun", start)
                found[key] = str(raw, "ascii") if raw.isascii() else _decoded(raw, start)
            elif tag > LONGS:
                raise broken("format", pos)
            else:
                found[key], pos = READ[tag](self, pos, inner)
        return found, pos + 1

    def _list(self, pos: int, depth: int) -> tuple[list[Tree], int]:
        if depth > MAX_DEPTH:
            raise broken("depth", pos)
        tag = self.data[pos]
        count: int = INT_AT(self.data, pos + 1)[0]
        pos += 5
        if tag > LONGS or (tag == END and count > 0):
            raise broken("format", pos - 5)
        if count < 0:
            raise broken("length", pos - 4)
        if count * LEAST[tag] > self.end - pos:
            raise broken("overrun", pos - 4)
        if not count:
            return [], pos
        self._count(count, pos)
        if tag in NUMBERS:
            return self._numbers(tag, pos, count), pos + count * LEAST[tag]
        found: list[Tree] = []
        read, inner = READ[tag], depth + 1
        for _ in range(count):
            item, pos = read(self, pos, inner)
            if tag == COMPOUND and isinstance(item, dict) and len(item) == 1 and "" in item:
                item = item[""]  # how Minecraft 1.21.5 writes the elements of a mixed list
            found.append(item)
        return found, pos

    def _numbers(self, tag: int, pos: int, count: int) -> list[Tree]:
        if tag == BYTE:
            small = self.small
            return [small[byte] for byte in self.data[pos : pos + count]]
        numbers = struct.unpack_from(f">{count}{NUMBERS[tag]}", self.data, pos)
        if self.plain or tag in {INT, DOUBLE}:
            return list(numbers)
        if tag == FLOAT:
            return [self._float(pos + 4 * place, 0)[0] for place in range(count)]
        return [Short(number) if tag == SHORT else Long(number) for number in numbers]

    def _count(self, count: int, pos: int) -> None:
        self.left -= count
        if self.left < 0:
            raise broken("too_large", pos)

    def _length(self, pos: int, width: int) -> int:
        count: int = INT_AT(self.data, pos)[0]
        if count < 0:
            raise broken("length", pos)
        if count * width > self.end - pos - 4:
            raise broken("overrun", pos)
        return count

    def _byte(self, pos: int, _depth: int) -> tuple[Tree, int]:
        return self.small[self.data[pos]], pos + 1

    def _short(self, pos: int, _depth: int) -> tuple[Tree, int]:
        value: int = SHORT_AT(self.data, pos)[0]
        return value if self.plain else Short(value), pos + 2

    def _int(self, pos: int, _depth: int) -> tuple[Tree, int]:
        return INT_AT(self.data, pos)[0], pos + 4

    def _long(self, pos: int, _depth: int) -> tuple[Tree, int]:
        value: int = LONG_AT(self.data, pos)[0]
        return value if self.plain else Long(value), pos + 8

    def _float(self, pos: int, _depth: int) -> tuple[Tree, int]:
        value: float = FLOAT_AT(self.data, pos)[0]
        if self.plain:
            return value, pos + 4
        return Float(value, None if value == value else BITS_AT(self.data, pos)[0]), pos + 4  # noqa: PLR0124 - only a NaN differs from itself

    def _double(self, pos: int, _depth: int) -> tuple[Tree, int]:
        return DOUBLE_AT(self.data, pos)[0], pos + 8

    def _bytes(self, pos: int, _depth: int) -> tuple[Tree, int]:
        end = pos + 4 + self._length(pos, 1)
        return self.data[pos + 4 : end], end

    def _text(self, pos: int, _depth: int) -> tuple[Tree, int]:
        start = pos + 2
        end = start + (self.data[pos] << 8 | self.data[pos + 1])
        if end > self.end:
            raise broken("overrun", pos)
        raw = self.data[start:end]
        return str(raw, "ascii") if raw.isascii() else _decoded(raw, start), end

    def _ints(self, pos: int, _depth: int) -> tuple[Tree, int]:
        count = self._length(pos, 4)
        self._count(count, pos)
        numbers = struct.unpack_from(f">{count}i", self.data, pos + 4)
        return list(numbers) if self.plain else IntArray(numbers), pos + 4 + 4 * count

    def _longs(self, pos: int, _depth: int) -> tuple[Tree, int]:
        count = self._length(pos, 8)
        self._count(count, pos)
        numbers = struct.unpack_from(f">{count}q", self.data, pos + 4)
        return list(numbers) if self.plain else LongArray(numbers), pos + 4 + 8 * count

    def _end(self, pos: int, _depth: int) -> tuple[Tree, int]:
        raise broken("format", pos)

    BY_TAG = (_end, _byte, _short, _int, _long, _float, _double, _bytes, _text, _list, compound, _ints, _longs)


READ: Final[tuple[Callable[[Reader, int, int], tuple[Tree, int]], ...]] = Reader.BY_TAG


def _decoded(raw: bytes, start: int) -> str:
    try:
        return read_text(raw)
    except UnicodeDecodeError as error:
        raise broken("string", start) from error


def read_value(data: bytes, *, plain: bool = False) -> Tree:
    """The value whose tag byte and payload are exactly `data`, the form in which a table keeps it.

    Errors: STORAGE_CORRUPT.
    """
    reader = Reader(data, plain=plain)
    try:
        value, end = reader.value(data[0], 1, 0)
    except (IndexError, struct.error) as error:
        raise broken("truncated", len(data)) from error
    except RecursionError as error:
        raise broken("depth", 0) from error
    if end != len(data):
        raise broken("trailing", end)
    return value
