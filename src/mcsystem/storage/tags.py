"""The values an NBT tree is made of, and the limits every tree and file keeps."""

from typing import Final, Self, TypeAlias

MAX_BYTES: Final = 64 * 1024 * 1024  # of one file, decompressed
MAX_VALUES: Final = 8 * 1024 * 1024  # in one file
MAX_DEPTH: Final = 512  # compounds and lists inside one another, the root included
MAX_TEXT: Final = 65_535  # bytes of one string in modified UTF-8

END, BYTE, SHORT, INT, LONG, FLOAT, DOUBLE, BYTES, STRING, LIST, COMPOUND, INTS, LONGS = range(13)


class Byte(int):
    """A TAG_Byte other than 0 and 1, which are `bool`."""

    __slots__ = ()


class Short(int):
    """A TAG_Short."""

    __slots__ = ()


class Long(int):
    """A TAG_Long. A plain `int` is a TAG_Int where it fits into 32 bits, else a TAG_Long."""

    __slots__ = ()


class Float(float):
    """A TAG_Float: 32 bits. A plain `float` is a TAG_Double.

    Attributes:
        bits: the bit pattern of a NaN that was read, so that it can be written back; else None.
    """

    __slots__ = ("bits",)
    bits: int | None

    def __new__(cls, value: float, bits: int | None = None) -> Self:
        """Make one; `bits` only for a NaN."""
        made = super().__new__(cls, value)
        made.bits = bits
        return made


class IntArray(tuple[int, ...]):
    """A TAG_Int_Array."""

    __slots__ = ()


class LongArray(tuple[int, ...]):
    """A TAG_Long_Array."""

    __slots__ = ()


# bool and Byte: TAG_Byte; bytes: TAG_Byte_Array; dict: TAG_Compound; list: TAG_List, whose elements may differ in kind.
Tree: TypeAlias = bool | int | float | str | bytes | IntArray | LongArray | list["Tree"] | dict[str, "Tree"]
