"""The store of files: one NBT file a scope, below `<world>/system/database`."""

import itertools
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final
from uuid import UUID

from mcsystem.errors import AssistantError
from mcsystem.storage.atomic import read_file
from mcsystem.storage.backend import Closeable, Committed, Finding, Scope, Snapshot, TableChange
from mcsystem.storage.content import read_content
from mcsystem.storage.rows import FileSnapshot, build_tables
from mcsystem.storage.scope_file import ScopeFile

SHARED: Final = "shared"
PLAYER_NAME: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class _Nothing:
    def close(self) -> None:
        """Nothing was opened."""


class FileBackend:
    """See `StorageBackend`.

    Args:
        folder: `<world>/system/database`.
        write: whether this process holds the world's lock.
    """

    def __init__(self, folder: Path, *, write: bool) -> None:
        self._folder = folder
        self._write = write
        self._files: dict[Path, ScopeFile] = {}
        self._further: dict[Path, Scope] = {}
        self._lock = threading.Lock()
        self._revisions = itertools.count(1)

    def load(self, scope: Scope) -> Snapshot:
        """See `StorageBackend.load`."""
        return self._file(scope).snapshot()

    def commit(self, scope: Scope, changes: Sequence[TableChange], *, expect: int | None = None) -> Committed:
        """See `StorageBackend.commit`."""
        return self._file(scope).commit(changes, expect)

    def delete(self, scope: Scope) -> None:
        """See `StorageBackend.delete`."""
        self._file(scope).delete()
        with self._lock:
            self._files.pop(scope.path, None)

    def scopes(self) -> Iterator[Scope]:
        """Shared and players' files with exactly the names we give, then the further ones that were asked for."""
        shared = self.shared()
        if shared.path.exists():
            yield shared
        players = self._folder / "players"
        for path in sorted(players.iterdir()) if players.is_dir() else ():
            if path.suffix == ".dat" and PLAYER_NAME.fullmatch(path.stem):
                yield Scope(path.stem, path)
        with self._lock:
            further = [scope for path, scope in self._further.items() if path.exists()]
        yield from further

    def shared(self) -> Scope:
        """The scope of the whole world."""
        return Scope(SHARED, self._folder / "shared.dat")

    def player(self, uuid: UUID) -> Scope:
        """The scope of one player."""
        return Scope(str(uuid), self._folder / "players" / f"{uuid}.dat")

    def further(self, path: Path, name: str) -> Scope:
        """The scope of a file that lies elsewhere; from now on it is one of `scopes`."""
        with self._lock:
            return self._further.setdefault(path, Scope(name, path))

    def watch(self, on_change: Callable[[Scope, str | None, int], None]) -> Closeable:
        """Nobody else writes these files while the world is locked, so nothing is ever told."""
        del on_change
        return _Nothing()

    def check(self) -> list[Finding]:
        """See `StorageBackend.check`."""
        return [_check(scope) for scope in self.scopes()]

    def close(self) -> None:
        """See `StorageBackend.close`."""
        with self._lock:
            files = list(self._files.values())
        for file in files:
            file.wait()

    def _file(self, scope: Scope) -> ScopeFile:
        with self._lock:
            file = self._files.get(scope.path)
            if file is None:
                next_revision = self._revisions.__next__
                file = self._files[scope.path] = ScopeFile(scope.path, write=self._write, next_revision=next_revision)
            return file


def _check(scope: Scope) -> Finding:
    try:
        raw = read_file(scope.path)
        content = read_content(raw) if raw is not None else None
    except AssistantError as error:
        offset, reason = error.details.get("offset"), str(error.details.get("reason", ""))
        at = offset if isinstance(offset, int) else None
        return Finding(scope.name, scope.path, ok=False, code=error.code.value, reason=reason, offset=at)
    tables = build_tables(content.tables) if content else {}
    found = FileSnapshot(0, 0, content.extra if content else b"", tables)
    rows = sum(found.tables().values())
    return Finding(scope.name, scope.path, ok=True, tables=len(tables), values=rows, size=found.size)
