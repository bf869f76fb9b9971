"""What one file holds, in memory: immutable snapshots of encoded rows, and the draft of the next one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage.backend import TableChange
from mcsystem.storage.chunks import CHUNK_BYTES, Chunk, Member, entry_size
from mcsystem.storage.nbt_write import Row, name_bytes
from mcsystem.storage.tags import MAX_BYTES, MAX_VALUES

FORMAT_VERSION: Final = 1
ROOT: Final = b"\x0a\x00\x00"
HEAD: Final = b"\x03\x00\x07version" + FORMAT_VERSION.to_bytes(4, "big")
TABLES: Final = b"\x0a\x00\x06tables"
TAIL: Final = b"\x00\x00"
FIXED_VALUES: Final = 3  # root, version, tables
ROW_DEPTH: Final = 3  # compounds around a row: root, tables, its table


@dataclass(frozen=True, slots=True)
class TableRows:
    """The rows of one table.

    Attributes:
        index: key -> number of its chunk.
        chunks: number -> chunk; numbers only grow.
        size: bytes of the table in the file.
        values: NBT values of the table.
    """

    index: Mapping[str, int]
    chunks: Mapping[int, Chunk]
    size: int
    values: int

    def get(self, key: str) -> Row | None:
        """One row; None when there is none."""
        number = self.index.get(key)
        return None if number is None else self.chunks[number].rows[key]


@dataclass(frozen=True, slots=True)
class FileSnapshot:
    """One published state of a file; see `backend.Snapshot`.

    Attributes:
        revision: of the scope.
        base: the revision at which the file was read; older changes are not told apart.
        extra: entries of the root that are not ours, as they stood in the file.
    """

    revision: int
    base: int
    extra: bytes = b""
    table_rows: Mapping[str, TableRows] = field(default_factory=dict[str, TableRows])
    changed: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def size(self) -> int:
        """Bytes of the file, decompressed."""
        fixed = len(ROOT) + len(HEAD) + len(self.extra) + len(TABLES) + len(TAIL)
        return fixed + sum(rows.size for rows in self.table_rows.values())

    @property
    def values(self) -> int:
        """NBT values in the file, those of `extra` counted by their bytes."""
        return FIXED_VALUES + len(self.extra) + sum(rows.values for rows in self.table_rows.values())

    def table_revision(self, table: str) -> int:
        """The revision at which `table` last changed."""
        return self.changed.get(table, self.base)

    def tables(self) -> Mapping[str, int]:
        """Every table's ID and number of rows."""
        return {table: len(rows.index) for table, rows in self.table_rows.items()}

    def get(self, table: str, key: str) -> Row | None:
        """One row; None when there is none."""
        rows = self.table_rows.get(table)
        return None if rows is None else rows.get(key)

    def rows(self, table: str) -> Iterator[tuple[str, Row]]:
        """Every row of a table."""
        rows = self.table_rows.get(table)
        if rows is not None:
            for chunk in rows.chunks.values():
                yield from chunk.rows.items()

    def file_bytes(self) -> bytes:
        """The whole file: one gzip member, whose deflated chunks are the ones kept in memory."""
        member = Member()
        member.literal(ROOT + HEAD + self.extra + TABLES)
        for table, rows in self.table_rows.items():
            member.literal(b"\x0a" + name_bytes(table))
            member.chunks(rows.chunks.values())
            member.literal(b"\x00")
        member.literal(TAIL)
        return member.finish()


class _Difference(NamedTuple):
    key: str
    old: Row | None
    new: Row | None


class TableDraft:
    """The next state of one table, made from the present one by edits of single rows."""

    def __init__(self, table: str, base: TableRows | None) -> None:
        self._base = base
        self._index = dict(base.index) if base else {}
        self._chunks = dict(base.chunks) if base else {}
        self._open: dict[int, dict[str, Row]] = {}
        self._newest = max(self._chunks, default=0)
        self._fill = self._chunks[self._newest].size if self._chunks else 0
        self.size = base.size if base else len(name_bytes(table)) + 2
        self.values = base.values if base else 1

    def get(self, key: str) -> Row | None:
        """One row of the draft."""
        number = self._index.get(key)
        if number is None:
            return None
        rows = self._open.get(number)
        return (self._chunks[number].rows if rows is None else rows)[key]

    def keys(self) -> Iterator[str]:
        """Every key of the draft."""
        return iter(self._index)

    def apply(self, difference: _Difference) -> None:
        """Put the new row in the place of the old one."""
        key, old, new = difference
        if old is not None:
            self.size -= entry_size(key, old)
            self.values -= old.values
        if new is None:
            del self._rows(self._index.pop(key))[key]
            return
        size = entry_size(key, new)
        self.size += size
        self.values += new.values
        if old is None:
            if self._fill >= CHUNK_BYTES:
                self._newest, self._fill = self._newest + 1, 0
            self._index[key] = self._newest
            self._fill += size
        self._rows(self._index[key])[key] = new

    def finish(self) -> TableRows | None:
        """The table with new chunks for the rows that changed; None when no row is left."""
        if not self._index:
            return None
        for number, rows in self._open.items():
            if rows:
                self._cut(number, rows)
            else:
                self._chunks.pop(number, None)
        if len(self._chunks) > 4 + 2 * self.size // CHUNK_BYTES:
            self._repack()
        return TableRows(self._index, self._chunks, self.size, self.values)

    def _rows(self, number: int) -> dict[str, Row]:
        rows = self._open.get(number)
        if rows is None:
            chunk = self._chunks.get(number)
            rows = self._open[number] = dict(chunk.rows) if chunk else {}
        return rows

    def _cut(self, number: int, rows: dict[str, Row]) -> None:
        """Make `rows` chunk `number`; where they have grown too long, the rest gets new numbers."""
        for part in _split(rows):
            self._chunks[number] = Chunk(part)
            for key in part:
                self._index[key] = number
            self._newest += 1
            number = self._newest

    def _repack(self) -> None:
        """Many removals leave many small chunks: make full ones of them."""
        rows = {key: row for chunk in self._chunks.values() for key, row in chunk.rows.items()}
        self._chunks, self._index = {}, {}
        self._newest += 1
        self._cut(self._newest, rows)


def _split(rows: dict[str, Row]) -> Iterator[dict[str, Row]]:
    part: dict[str, Row] = {}
    fill = 0
    for key, row in rows.items():
        size = entry_size(key, row)
        if part and fill + size > 2 * CHUNK_BYTES:
            yield part
            part, fill = {}, 0
        part[key] = row
        fill += size
    yield part


class Draft:
    """The next state of a file: several commits are applied one after the other, then finished together."""

    def __init__(self, base: FileSnapshot) -> None:
        self._base = base
        self._tables: dict[str, TableDraft] = {}
        self._changed: dict[str, int] = dict(base.changed)
        self._size = base.size
        self._values = base.values
        self.revision = base.revision

    def apply(self, changes: Sequence[TableChange], revision: int) -> bool:
        """Apply all `changes`, which then have `revision`; whether anything differs.

        Errors: STORAGE_TOO_LARGE, and the draft is as it was.
        """
        differences = {change.table: self._differences(change) for change in changes}
        new_tables = [table for table, found in differences.items() if found and not self._has(table)]
        size = self._size + sum(map(_growth, differences.values())) + sum(len(name_bytes(it)) + 2 for it in new_tables)
        values = self._values + sum(map(_more_values, differences.values())) + len(new_tables)
        if size > MAX_BYTES or values > MAX_VALUES:
            raise AssistantError(
                ErrorCode.STORAGE_TOO_LARGE, size=size, limit=MAX_BYTES, values=values, value_limit=MAX_VALUES
            )
        for table, found in differences.items():
            if found:
                draft = self._draft(table)
                for difference in found:
                    draft.apply(difference)
                self._changed[table] = self.revision = revision
        self._size, self._values = size, values
        return any(differences.values())

    def finish(self) -> FileSnapshot:
        """The new snapshot."""
        tables = dict(self._base.table_rows)
        for table, draft in self._tables.items():
            rows = draft.finish()
            if rows is None:
                tables.pop(table, None)
            else:
                tables[table] = rows
        return FileSnapshot(self.revision, self._base.base, self._base.extra, tables, self._changed)

    def _draft(self, table: str) -> TableDraft:
        draft = self._tables.get(table)
        if draft is None:
            draft = self._tables[table] = TableDraft(table, self._base.table_rows.get(table))
        return draft

    def _differences(self, change: TableChange) -> list[_Difference]:
        source = self._tables.get(change.table) or self._base.table_rows.get(change.table)
        found: list[_Difference] = []
        if change.replace and source is not None:
            keys = source.keys() if isinstance(source, TableDraft) else iter(source.index)
            found += [_Difference(key, source.get(key), None) for key in keys if key not in change.rows]
        for key, new in change.rows.items():
            old = None if source is None else source.get(key)
            if old != new:
                found.append(_Difference(key, old, new))
        return found

    def _has(self, table: str) -> bool:
        return table in self._tables or table in self._base.table_rows


def _growth(found: list[_Difference]) -> int:
    return sum((entry_size(key, new) if new else 0) - (entry_size(key, old) if old else 0) for key, old, new in found)


def _more_values(found: list[_Difference]) -> int:
    return sum((new.values if new else 0) - (old.values if old else 0) for _, old, new in found)


def build_tables(rows: Mapping[str, Mapping[str, Row]]) -> dict[str, TableRows]:
    """Tables as read from a file; an empty one stays."""
    found: dict[str, TableRows] = {}
    for table, content in rows.items():
        draft = TableDraft(table, None)
        for key, row in content.items():
            draft.apply(_Difference(key, None, row))
        finished = draft.finish()
        found[table] = finished or TableRows({}, {}, draft.size, draft.values)
    return found
