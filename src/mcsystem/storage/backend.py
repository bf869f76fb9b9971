"""The seam between typed databases and where their rows lie: one contract for every kind of store."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from mcsystem.storage.nbt_write import Row


@dataclass(frozen=True, slots=True)
class Scope:
    """One database: a name (`shared`, a player's UUID, or another) and the file it has in a store of files."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class TableChange:
    """What one commit does to one table.

    Attributes:
        table: the table's ID.
        rows: key -> new row, or None to remove it.
        replace: whether keys that are not in `rows` are removed too.
    """

    table: str
    rows: Mapping[str, Row | None]
    replace: bool = False


class Committed(NamedTuple):
    """The outcome of a commit: the scope's revision now, and whether anything was different before."""

    revision: int
    changed: bool


class Snapshot(Protocol):
    """The rows of one scope at one revision; it never changes."""

    @property
    def revision(self) -> int:
        """Grows with each commit that changed something, and whenever the rows had to be read anew."""
        ...

    @property
    def size(self) -> int:
        """Bytes of the scope's content, decompressed."""
        ...

    def table_revision(self, table: str) -> int:
        """The revision at which `table` last changed."""
        ...

    def tables(self) -> Mapping[str, int]:
        """Every table's ID and number of rows."""
        ...

    def get(self, table: str, key: str) -> Row | None:
        """One row; None when there is none."""
        ...

    def rows(self, table: str) -> Iterator[tuple[str, Row]]:
        """Every row of a table, none when the table does not exist; in no promised order."""
        ...


@dataclass(frozen=True, slots=True)
class Finding:
    """What `check` found out about one scope.

    Attributes:
        scope: its name.
        path: its file.
        ok: whether every byte of it decodes.
        code: the error code when not, else an empty string.
        reason: one word such as `checksum` or `truncated`, empty when all is well.
        offset: where in the decompressed data reading stopped; None when unknown or all is well.
        tables: number of tables.
        values: number of rows.
        size: bytes, decompressed.
    """

    scope: str
    path: Path
    ok: bool
    code: str = ""
    reason: str = ""
    offset: int | None = None
    tables: int = 0
    values: int = 0
    size: int = 0


class Closeable(Protocol):
    """Something that is closed once."""

    def close(self) -> None:
        """End it."""
        ...


class StorageBackend(Protocol):
    """Keeps rows of encoded values by scope, table and key. Thread-safe and synchronous.

    Every backend passes `tests/contracts/test_storage_contract.py`.
    """

    def load(self, scope: Scope) -> Snapshot:
        """The published rows of `scope`; empty when it was never written.

        Errors: STORAGE_CORRUPT, STORAGE_NEWER_FORMAT, STORAGE_READ_FAILED; what is stored stays as it is.
        """
        ...

    def commit(self, scope: Scope, changes: Sequence[TableChange], *, expect: int | None = None) -> Committed:
        """Apply all `changes` or none; durable on return, published only then. One change a table.

        Errors: those of `load`; STORAGE_CONFLICT when `expect` is not the revision; STORAGE_TOO_LARGE;
        STORAGE_WRITE_FAILED and STORAGE_READ_ONLY, after which the old rows are still there.
        """
        ...

    def delete(self, scope: Scope) -> None:
        """Remove everything of `scope`, decodable or not.

        Errors: STORAGE_WRITE_FAILED, STORAGE_READ_ONLY.
        """
        ...

    def scopes(self) -> Iterator[Scope]:
        """Every scope that has something stored."""
        ...

    def watch(self, on_change: Callable[[Scope, str | None, int], None]) -> Closeable:
        """Tell of commits by other processes: scope, table (None: any) and revision. Nothing where there are none."""
        ...

    def check(self) -> list[Finding]:
        """Read everything that is stored once more, from where it is stored, and change nothing."""
        ...

    def close(self) -> None:
        """Finish the commits that run; the owner makes no further calls."""
        ...
