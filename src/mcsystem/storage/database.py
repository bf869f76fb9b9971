"""One database: the typed tables of the whole world or of one player."""

import asyncio
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, TypeVar, cast

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.ids import check_id
from mcsystem.storage.backend import Scope, Snapshot, StorageBackend, TableChange
from mcsystem.storage.gate import Gate
from mcsystem.storage.nbt import read_value
from mcsystem.storage.nbt_write import Row, write_value
from mcsystem.storage.rows import ROW_DEPTH
from mcsystem.storage.table import Change, Put, Remove, Replace, Table
from mcsystem.storage.tags import MAX_BYTES, MAX_TEXT, Tree
from mcsystem.storage.text import has_surrogate, write_text
from mcsystem.storage.typed_json import Json, from_json, to_json

T = TypeVar("T")
EXPORT_FORMAT: Final = "mcsystem-database"
EXPORT_VERSION: Final = 1
CACHE_BYTES: Final = 8 * 1024 * 1024  # decoded values of larger tables are not kept


class _Decoded(NamedTuple):
    """The values of a table whose type is frozen, kept as long as their rows are the same."""

    table: Table[Any]
    revision: int
    rows: Mapping[str, Row]
    values: Mapping[str, object]


def refuse_on_loop() -> None:
    """Refuse to block a thread that runs an event loop.

    Errors: STORAGE_ON_LOOP.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise AssistantError(ErrorCode.STORAGE_ON_LOOP)


class Database:
    """The tables of one scope. Thread-safe and synchronous; never for a thread that runs an event loop.

    Getting one touches no disk: the file is read at the first use and made at the first write.
    Every method raises STORAGE_CLOSED, STORAGE_REVOKED, STORAGE_ON_LOOP, STORAGE_CORRUPT, STORAGE_NEWER_FORMAT or
    STORAGE_READ_FAILED where that is so.

    Args:
        scope: whose rows.
        backend: where they lie.
        write: whether writes are allowed.
        check_structure: raises where a table's ID is known with another structure.
    """

    limit: Final = MAX_BYTES

    def __init__(
        self, scope: Scope, backend: StorageBackend, *, write: bool, check_structure: Callable[[Table[Any]], None]
    ) -> None:
        self.scope = scope
        self._backend = backend
        self._write = write
        self._check_structure = check_structure
        self._gate = Gate()
        self._decoded: dict[str, _Decoded] = {}

    @property
    def name(self) -> str:
        """`shared`, the player's UUID, or the name of a further file."""
        return self.scope.name

    @property
    def revision(self) -> int:
        """Grows with each published write of any table."""
        with self._reading() as snapshot:
            return snapshot.revision

    @property
    def size(self) -> int:
        """Bytes of the file, decompressed; a write that would take it over `limit` is refused."""
        with self._reading() as snapshot:
            return snapshot.size

    def table_revision(self, table_id: str) -> int:
        """Grows only when that table changed, or everything had to be read anew."""
        with self._reading() as snapshot:
            return snapshot.table_revision(table_id)

    def get(self, table: Table[T], key: str) -> T | None:
        """The value, or None when there is none.

        Errors: STORAGE_VALUE_INVALID when what is stored is not of the table's type; it stays stored.
        """
        with self._reading(table) as snapshot:
            row = snapshot.get(table.id, key)
            return None if row is None else self._value(table, key, row)

    def entries(self, table: Table[T]) -> dict[str, T]:
        """Every value by key; empty when there are none. Changing the dict changes nothing stored.

        Errors: STORAGE_VALUE_INVALID when one value is not of the table's type.
        """
        with self._reading(table) as snapshot:
            revision, known = snapshot.table_revision(table.id), self._decoded.get(table.id)
            if known is not None and known.table is table and known.revision == revision:
                return cast("dict[str, T]", dict(known.values))
            rows = dict(snapshot.rows(table.id))
            found = {key: self._value(table, key, row) for key, row in rows.items()}
            if table.codec.frozen and sum(len(row.data) for row in rows.values()) <= CACHE_BYTES:
                self._decoded[table.id] = _Decoded(table, revision, rows, dict(found))
            return found

    def keys(self, table: Table[Any]) -> tuple[str, ...]:
        """Every key; decodes nothing."""
        with self._reading(table) as snapshot:
            return tuple(key for key, _ in snapshot.rows(table.id))

    def put(self, table: Table[T], key: str, value: T) -> None:
        """Store a value; it is on disk when this returns.

        Errors: as `commit`.
        """
        self.commit((Put(table, key, value),))

    def remove(self, table: Table[Any], key: str) -> bool:
        """Remove a value; whether there was one. Of several callers at once only one gets True.

        Errors: as `commit`.
        """
        return self._commit((Remove(table, key),), None)[1]

    def replace(self, table: Table[T], values: Mapping[str, T]) -> None:
        """Make the table hold exactly `values`; other tables stay.

        Errors: as `commit`.
        """
        self.commit((Replace(table, values),))

    def commit(self, changes: Sequence[Change], *, expect: int | None = None) -> int:
        """Make all changes, in order, or none; on disk when this returns. Returns the new revision.

        Args:
            changes: of any tables of this database.
            expect: the revision that the changes were worked out from.

        Errors: STORAGE_CONFLICT when the revision is not `expect`; STORAGE_VALUE_INVALID, STORAGE_TOO_LARGE,
        STORAGE_WRITE_FAILED, STORAGE_READ_ONLY: nothing is stored.
        """
        return self._commit(changes, expect)[0]

    def tables(self) -> dict[str, int]:
        """Table ID -> number of values, tables that nothing installed declares included."""
        with self._reading() as snapshot:
            return dict(snapshot.tables())

    def raw(self, table_id: str, key: str) -> Tree | None:
        """The NBT tree of one value, or None when there is none."""
        with self._reading() as snapshot:
            row = snapshot.get(table_id, key)
            return None if row is None else read_value(row.data)

    def export(self) -> dict[str, Json]:
        """Everything in this database as JSON: `{"format", "version", "tables": {id: {key: [kind, content]}}}`."""
        with self._reading() as snapshot:
            tables: dict[str, Json] = {
                table: {key: to_json(read_value(row.data)) for key, row in snapshot.rows(table)}
                for table in sorted(snapshot.tables())
            }
        return {"format": EXPORT_FORMAT, "version": EXPORT_VERSION, "tables": tables}

    def import_(self, document: Mapping[str, object]) -> dict[str, int]:
        """Replace each table that is named in an exported document, all or none; other tables stay.

        Returns: table ID -> number of values it has now.

        Errors: STORAGE_VALUE_INVALID with `path`, STORAGE_ID_INVALID, and as `commit`; nothing is stored.
        """
        tables = document.get("tables")
        if document.get("format") != EXPORT_FORMAT or not isinstance(tables, dict):
            raise _not_exported("not an exported database")
        if document.get("version") != EXPORT_VERSION:
            raise _not_exported("exported by another version")
        changes: list[TableChange] = []
        for table, content in cast("dict[str, object]", tables).items():
            if not isinstance(content, dict):
                raise _not_exported("a table is not an object", check_id(table))
            rows = {key: self._imported(table, key, pair) for key, pair in cast("dict[str, object]", content).items()}
            changes.append(TableChange(check_id(table), rows, replace=True))
        with self._writing():
            self._backend.commit(self.scope, changes)
        return {change.table: len(change.rows) for change in changes}

    def shut(self, code: ErrorCode) -> None:
        """Make every later call fail with `code`; returns when no call runs any more."""
        self._gate.shut(code)
        self._decoded.clear()

    @contextmanager
    def _reading(self, table: Table[Any] | None = None) -> Generator[Snapshot, None, None]:
        refuse_on_loop()
        with self._gate.enter():
            if table is not None:
                self._check_structure(table)
            yield self._backend.load(self.scope)

    @contextmanager
    def _writing(self) -> Generator[None, None, None]:
        refuse_on_loop()
        with self._gate.enter():
            if not self._write:
                raise AssistantError(
                    ErrorCode.STORAGE_READ_ONLY, file=str(self.scope.path), reason="opened for reading"
                )
            yield

    def _commit(self, changes: Sequence[Change], expect: int | None) -> tuple[int, bool]:
        with self._writing():
            for change in changes:
                self._check_structure(change.table)
            outcome = self._backend.commit(self.scope, self._folded(changes), expect=expect)
            return outcome.revision, outcome.changed

    def _folded(self, changes: Sequence[Change]) -> list[TableChange]:
        """One change a table: of several changes of one key the last one counts."""
        rows: dict[str, dict[str, Row | None]] = {}
        replaced: set[str] = set()
        for change in changes:
            table = change.table
            found = rows.setdefault(table.id, {})
            match change:
                case Put():
                    found[change.key] = self._encoded(table, change.key, change.value)
                case Remove():
                    found[change.key] = None
                case Replace():
                    found.clear()
                    replaced.add(table.id)
                    found.update((key, self._encoded(table, key, value)) for key, value in change.values.items())
        return [TableChange(table, found, replace=table in replaced) for table, found in rows.items()]

    def _encoded(self, table: Table[T], key: str, value: T) -> Row:
        try:
            tree = table.codec.encode(value)
        except AssistantError as error:
            raise _placed(error, table.id, key) from error
        return self._row(table.id, key, tree)

    def _row(self, table_id: str, key: str, tree: Tree) -> Row:
        try:
            check_key(key)
            return write_value(tree, depth=ROW_DEPTH, real_text=True)
        except AssistantError as error:
            raise _placed(error, table_id, key) from error

    def _imported(self, table_id: str, key: str, pair: object) -> Row:
        try:
            tree = from_json(pair)
        except AssistantError as error:
            raise _placed(error, table_id, key) from error
        return self._row(table_id, key, tree)

    def _value(self, table: Table[T], key: str, row: Row) -> T:
        known = self._decoded.get(table.id)
        if known is not None and known.table is table and known.rows.get(key) is row:
            return cast("T", known.values[key])
        try:
            return table.codec.decode(read_value(row.data, plain=True))
        except AssistantError as error:
            raise _placed(error, table.id, key) from error


def check_key(key: str) -> None:
    """Refuse a key that is empty, longer than 65,535 bytes, or no real text.

    Errors: STORAGE_VALUE_INVALID.
    """
    if not key or has_surrogate(key) or len(write_text(key)) > MAX_TEXT:
        raise AssistantError(ErrorCode.STORAGE_VALUE_INVALID, reason="key", path="$")


def _not_exported(reason: str, table_id: str = "") -> AssistantError:
    return AssistantError(ErrorCode.STORAGE_VALUE_INVALID, reason=reason, path="$", table=table_id, key="")


def _placed(error: AssistantError, table_id: str, key: str) -> AssistantError:
    return AssistantError(error.code, **{**error.details, "table": table_id, "key": key[:80]})
