"""A scope's file as pieces that are deflated once: one changed row costs one piece, the file stays one gzip member."""

import struct
import zlib
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from mcsystem.storage.nbt_write import Row, name_bytes

CHUNK_BYTES: Final = 48 * 1024
GZIP_HEAD: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
LAST_BLOCK: Final = b"\x03\x00"
POLYNOMIAL: Final = 0xEDB88320  # CRC-32, reflected
HIGH: Final = 1 << 31


class Packed(NamedTuple):
    """A deflated chunk.

    Attributes:
        data: deflated bytes; they begin and end at a byte and refer to nothing in front.
        crc: CRC-32 of the bytes before deflating.
        shift: what a CRC-32 in front is multiplied by to make room for the chunk's bytes.
    """

    data: bytes
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
        self._packed: Packed | None = None

    def packed(self) -> Packed:
        """The deflated rows."""
        if self._packed is None:
            parts: list[bytes] = []
            for key, row in self.rows.items():
                parts += (row.data[:1], name_bytes(key), row.data[1:])
            raw = b"".join(parts)
            deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
            data = deflate.compress(raw) + deflate.flush(zlib.Z_FULL_FLUSH)
            self._packed = Packed(data, zlib.crc32(raw), _shift(len(raw)))
        return self._packed


def entry_size(key: str, row: Row) -> int:
    """Bytes of one row in the file."""
    return len(name_bytes(key)) + len(row.data)


class Member:
    """Puts one gzip member together out of literal bytes and chunks."""

    def __init__(self) -> None:
        self._parts: list[bytes] = [GZIP_HEAD]
        self._crc = 0
        self._size = 0

    def literal(self, raw: bytes) -> None:
        """Add bytes as they are (a stored block)."""
        for start in range(0, len(raw), 0xFFFF):
            part = raw[start : start + 0xFFFF]
            self._parts += (struct.pack("<BHH", 0, len(part), len(part) ^ 0xFFFF), part)
        self._crc = zlib.crc32(raw, self._crc)
        self._size += len(raw)

    def chunks(self, chunks: Iterable[Chunk]) -> None:
        """Add chunks; those that were written before are not deflated again."""
        for chunk in chunks:
            packed = chunk.packed()
            self._parts.append(packed.data)
            self._crc = _product(packed.shift, self._crc) ^ packed.crc
            self._size += chunk.size

    def finish(self) -> bytes:
        """The whole member."""
        return b"".join((*self._parts, LAST_BLOCK, struct.pack("<II", self._crc, self._size & 0xFFFFFFFF)))


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
