"""Whole NBT files: gzip or nothing around them, and a root compound with no name, an empty one, or any other."""

import gzip
import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeVar, cast

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage.nbt import Reader, broken
from mcsystem.storage.nbt_write import write_value
from mcsystem.storage.tags import COMPOUND, MAX_BYTES, Tree

T = TypeVar("T")

MAGIC: Final = b"\x1f\x8b"
MAX_MEMBERS: Final = 16
HEADER_FAULTS: Final = ("header", "compression method")
NAMELESS_EMPTY: Final = 2  # bytes of a nameless empty compound
ROOT_DEPTH: Final = 1
FINAL: Final = frozenset({"too_large", "depth", "duplicate"})  # whatever the root's name is


class Unpacked(NamedTuple):
    """The NBT bytes of a file, and whether they came out of gzip."""

    data: bytes
    zipped: bool


def unpack(raw: bytes) -> Unpacked:
    """The NBT bytes of a file, at most 64 MiB out of at most 16 gzip members; uncompressed files as they are.

    Errors: STORAGE_CORRUPT with `reason` empty, truncated, checksum, format, trailing or too_large.
    """
    if not raw:
        raise broken("empty", 0)
    if not raw.startswith(MAGIC):
        if len(raw) > MAX_BYTES:
            raise broken("too_large", MAX_BYTES)
        return Unpacked(raw, zipped=False)
    parts: list[bytes] = []
    room, members = MAX_BYTES, 0
    rest = raw
    while rest:
        if not rest.startswith(MAGIC):
            raise broken("trailing", len(raw) - len(rest))
        members += 1
        if members > MAX_MEMBERS:
            raise broken("too_large", len(raw) - len(rest))
        part, rest = _member(rest, room, len(raw) - len(rest))
        room -= len(part)
        parts.append(part)
    return Unpacked(b"".join(parts), zipped=True)


def _member(raw: bytes, room: int, offset: int) -> tuple[bytes, bytes]:
    inflate = zlib.decompressobj(wbits=31)
    try:
        part = inflate.decompress(raw, room + 1)
        while not inflate.eof and len(part) <= room and inflate.unconsumed_tail:
            more = inflate.decompress(inflate.unconsumed_tail, room + 1 - len(part))
            part += more
            if not more:
                break
    except zlib.error as error:
        reason = "format" if any(fault in str(error) for fault in HEADER_FAULTS) else "checksum"
        raise broken(reason, offset) from error
    if len(part) > room:
        raise broken("too_large", offset)
    if not inflate.eof:
        raise broken("truncated", offset + len(raw))
    return part, inflate.unused_data


def read_root(raw: bytes, read: Callable[[Reader, int], tuple[T, int]]) -> T:
    """What `read` makes of the entries of the root compound of a file.

    Args:
        raw: the file.
        read: gets a reader and the position of the first entry, gives a result and the position behind the root.

    Errors: STORAGE_CORRUPT with `reason` and `offset`, and what `read` raises.
    """
    data, zipped = unpack(raw)
    if not data:
        raise broken("empty", 0)
    if data[0] != COMPOUND:
        raise broken("format", 0)
    # Two zero bytes are the length of an empty name, except that a nameless empty root is just `0a 00`.
    named_first = data[1:2] == b"\0" and len(data) != NAMELESS_EMPTY
    try:
        return _read(data, read, named=named_first, zipped=zipped)
    except AssistantError as error:
        if named_first or error.code is not ErrorCode.STORAGE_CORRUPT or error.details.get("reason") in FINAL:
            raise
        try:
            return _read(data, read, named=True, zipped=zipped)
        except AssistantError as other:
            raise (other if other.code is not ErrorCode.STORAGE_CORRUPT else error) from other


def _read(data: bytes, read: Callable[[Reader, int], tuple[T, int]], *, named: bool, zipped: bool) -> T:
    try:
        start = 3 + int.from_bytes(data[1:3], "big") if named else 1
        result, end = read(Reader(data), start)
    except (IndexError, struct.error) as error:
        raise broken("truncated", len(data)) from error
    except RecursionError as error:
        raise broken("depth", 0) from error
    except AssistantError as error:
        if error.details.get("reason") != "overrun":
            raise
        # A length that points behind the end: gzip proves that nothing was cut off, so the length is wrong.
        offset = cast("int", error.details["offset"])
        raise broken("length" if zipped else "truncated", offset) from error
    if end != len(data):
        raise broken("trailing", end)
    return result


def read_tree(raw: bytes) -> dict[str, Tree]:
    """The root compound of an NBT file.

    Errors: STORAGE_CORRUPT.
    """
    return read_root(raw, lambda reader, start: reader.compound(start, ROOT_DEPTH))


def write_tree(root: Mapping[str, Tree]) -> bytes:
    """An NBT file in the form that Minecraft writes: gzip around a root compound with an empty name.

    Errors: STORAGE_VALUE_INVALID.
    """
    body = write_value(dict(root)).data
    return gzip.compress(body[:1] + b"\0\0" + body[1:], mtime=0)
