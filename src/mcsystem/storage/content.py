"""The content of a database file: `version`, and `tables` of rows that are sliced out without being understood."""

from typing import NamedTuple

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage.container import ROOT_DEPTH, read_root
from mcsystem.storage.nbt import Reader, broken
from mcsystem.storage.nbt_write import TAGS, Row
from mcsystem.storage.rows import FORMAT_VERSION, ROW_DEPTH
from mcsystem.storage.tags import COMPOUND, INT


class Content(NamedTuple):
    """What a file holds.

    Attributes:
        tables: table ID -> key -> row.
        extra: entries of the root that are not ours, as they stand in the file.
    """

    tables: dict[str, dict[str, Row]]
    extra: bytes


def read_content(raw: bytes) -> Content:
    """The content of a database file.

    Errors: STORAGE_CORRUPT (`reason` is `schema` where it is NBT but no database), STORAGE_NEWER_FORMAT.
    """
    return read_root(raw, _root)


def _root(reader: Reader, pos: int) -> tuple[Content, int]:
    version: int | None = None
    tables_at: int | None = None
    tables: dict[str, dict[str, Row]] | None = None
    extra: list[bytes] = []
    seen: set[str] = set()
    while entry := reader.entry(pos):
        begin, (tag, name, start) = pos, entry
        if name in seen:
            raise broken("duplicate", begin)
        seen.add(name)
        if name == "tables" and tag == COMPOUND and version == FORMAT_VERSION:
            tables, pos = _tables(reader, start)
            continue
        value, pos = reader.value(tag, start, ROOT_DEPTH)
        if name == "version" and tag == INT and isinstance(value, int):
            version = value
        elif name == "tables" and tag == COMPOUND:
            tables_at = start
        else:
            extra.append(reader.data[begin:pos])
    if version is not None and version > FORMAT_VERSION:
        raise AssistantError(ErrorCode.STORAGE_NEWER_FORMAT, version=version, supported=FORMAT_VERSION)
    if tables is None and tables_at is not None and version == FORMAT_VERSION:
        tables, _ = _tables(reader, tables_at)
    if version != FORMAT_VERSION or tables is None:
        raise broken("schema", 0)
    return Content(tables, b"".join(extra)), pos + 1


def _tables(reader: Reader, pos: int) -> tuple[dict[str, dict[str, Row]], int]:
    found: dict[str, dict[str, Row]] = {}
    while entry := reader.entry(pos):
        if entry.tag != COMPOUND:
            raise broken("schema", pos)
        if entry.name in found:
            raise broken("duplicate", pos)
        found[entry.name], pos = _rows(reader, entry.start)
    return found, pos + 1


def _rows(reader: Reader, pos: int) -> tuple[dict[str, Row], int]:
    found: dict[str, Row] = {}
    data = reader.data
    while entry := reader.entry(pos):
        tag, key, start = entry
        if key in found:
            raise broken("duplicate", pos)
        before = reader.left
        _, pos = reader.value(tag, start, ROW_DEPTH)
        found[key] = Row(TAGS[tag] + data[start:pos], before - reader.left + 1)
    return found, pos + 1
