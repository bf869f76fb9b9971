"""A scope's file as pieces that are deflated once: one changed row costs one piece, the file stays one gzip member."""

import struct
import zlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from mcsystem.storage.nbt_write import Row, name_bytes

CHUNK_BYTES: Final = 24 * 1024  # smaller: less CPU a put; larger: smaller files (64 KiB would save 5 %)
GZIP_HEAD: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
LAST_BLOCK: Final = b"\x03\x00"
POLYNOMIAL: Final = 0xEDB88320  # CRC-32, reflected
HIGH: Final = 1 << 31


class Checked(NamedTuple):
    """What the gzip trailer needs to know of some bytes.

    Attributes:
        crc: their CRC-32.
        shift: what a CRC-32 in front is multiplied by to make room for them.
    """

    crc: int
    shift: int


class Chunk:
    """Some rows of one table. Never changed; deflated once, when first written.

    Attributes:
        rows: key -> row.
        size: bytes of the rows in the file, before deflating.
        values: NBT values in the rows.
    """

    __slots__ = ("_packed", "rows", "size", "values")

    def __init__(self, rows: Mapping[str, Row]) -> None:
        self.rows = rows
        self.size = sum(entry_size(key, row) for key, row in rows.items())
        self.values = sum(row.values for row in rows.values())
        self._packed: tuple[bytes, Checked] | None = None

    def packed(self) -> tuple[bytes, Checked]:
        """The deflated rows: they begin and end at a byte and refer to nothing in front."""
        if self._packed is None:
            parts: list[bytes] = []
            for key, row in self.rows.items():
                parts += (row.data[:1], name_bytes(key), row.data[1:])
            raw = b"".join(parts)
            deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
            data = deflate.compress(raw) + deflate.flush(zlib.Z_FULL_FLUSH)
            self._packed = (data, _checked(raw))
        return self._packed


EMPTY: Final = Checked(0, HIGH)


def entry_size(key: str, row: Row) -> int:
    """Bytes of one row in the file."""
    return len(name_bytes(key)) + len(row.data)


class Member:
    """Puts one gzip member together out of literal bytes and chunks."""

    def __init__(self) -> None:
        self._parts: list[bytes] = [GZIP_HEAD]
        self._checked: list[Checked] = [EMPTY]
        self._size = 0

    def literal(self, raw: bytes) -> None:
        """Add bytes as they are (a stored block)."""
        for start in range(0, len(raw), 0xFFFF):
            part = raw[start : start + 0xFFFF]
            self._parts += (struct.pack("<BHH", 0, len(part), len(part) ^ 0xFFFF), part)
        self._checked.append(_checked(raw))
        self._size += len(raw)

    def chunks(self, chunks: Iterable[Chunk]) -> None:
        """Add chunks; those that were written before are not deflated again."""
        for chunk in chunks:
            data, checked = chunk.packed()
            self._parts.append(data)
            self._checked.append(checked)
            self._size += chunk.size

    def finish(self) -> bytes:
        """The whole member."""
        checked = self._checked
        while len(checked) > 1:  # by pairs: where one chunk changed, all but a few pairs are known from the last write
            pairs = [_joined(left, right) for left, right in zip(checked[::2], checked[1::2], strict=False)]
            checked = pairs if len(checked) % 2 == 0 else [*pairs, checked[-1]]
        trailer = struct.pack("<II", checked[0].crc, self._size & 0xFFFFFFFF)
        return b"".join((*self._parts, LAST_BLOCK, trailer))


@lru_cache(maxsize=8192)
def _joined(left: Checked, right: Checked) -> Checked:
    return Checked(_product(right.shift, left.crc) ^ right.crc, _product(left.shift, right.shift))


def _checked(raw: bytes) -> Checked:
    return Checked(zlib.crc32(raw), _shift(len(raw)))


def _product(left: int, right: int) -> int:
    """The product of two polynomials modulo the CRC's, both reflected."""
    product = 0
    while left:
        if left & HIGH:
            product ^= right
        left = (left << 1) & 0xFFFFFFFF
        right = (right >> 1) ^ POLYNOMIAL if right & 1 else right >> 1
    return product


def _powers() -> tuple[int, ...]:
    found = [1 << 30]  # x to the first
    for _ in range(39):
        found.append(_product(found[-1], found[-1]))
    return tuple(found)


POWERS: Final = _powers()  # x to the 2 to the n


def _shift(size: int) -> int:
    """The polynomial x to the power of 8 times `size`, modulo the CRC's."""
    shift, bit = HIGH, 3
    while size:
        if size & 1:
            shift = _product(POWERS[bit], shift)
        size >>= 1
        bit += 1
    return shift
