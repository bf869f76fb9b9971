"""All databases of one world."""

import threading
from pathlib import Path
from typing import Any, Final, Self
from uuid import UUID

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage.backend import Finding, Scope
from mcsystem.storage.database import Database, refuse_on_loop
from mcsystem.storage.file_backend import PLAYER_NAME, FileBackend
from mcsystem.storage.lock import WorldLock
from mcsystem.storage.table import Table

FOLDER: Final = Path("system", "database")
LOCK_NAME: Final = ".lock"


class Databases:
    """The shared database of a world, one for each player, and further files by the same rules.

    Made by `open`, ended by `close`; two of them share nothing.
    """

    def __init__(self, world: Path, *, lock: WorldLock | None) -> None:
        self.world = world
        self._lock = lock
        self._backend = FileBackend(world / FOLDER, write=lock is not None)
        self._open: dict[Path, Database] = {}
        self._structures: dict[str, str] = {}
        self._closed = False
        self._mutex = threading.Lock()

    @classmethod
    def open(cls, world: Path, *, write: bool) -> Self:
        """Open the databases of the world save at `world`.

        Args:
            world: the world's folder.
            write: take the world's lock, making folders where needed; else take none, write nothing, and see what
                another process writes.

        Errors: STORAGE_WORLD_LOCKED naming the holder; WORLD_NOT_FOUND (reading only); STORAGE_READ_ONLY,
        STORAGE_WRITE_FAILED; STORAGE_ON_LOOP.
        """
        refuse_on_loop()
        world = world.absolute()
        if not write and not world.is_dir():
            raise AssistantError(ErrorCode.WORLD_NOT_FOUND, path=str(world))
        return cls(world, lock=WorldLock(world / FOLDER / LOCK_NAME) if write else None)

    def shared(self) -> Database:
        """The database of the whole world. Touches no disk."""
        return self._database(self._backend.shared())

    def player(self, uuid: UUID) -> Database:
        """The database of one player. Touches no disk."""
        return self._database(self._backend.player(uuid))

    def file(self, path: Path, name: str) -> Database:
        """A database in a file of its own, by the same rules; `verify` knows it from now on. Touches no disk."""
        return self._database(self._backend.further(path.absolute(), name))

    def delete_player(self, uuid: UUID) -> None:
        """Delete a player's database, decodable or not; handles to it raise STORAGE_REVOKED from now on.

        Errors: STORAGE_READ_ONLY, STORAGE_WRITE_FAILED (handles are invalid, the file may be there), STORAGE_CLOSED.
        """
        refuse_on_loop()
        database = self.player(uuid)
        if self._lock is None:
            raise AssistantError(
                ErrorCode.STORAGE_READ_ONLY, file=str(database.scope.path), reason="opened for reading"
            )
        database.shut(ErrorCode.STORAGE_REVOKED)
        try:
            self._backend.delete(database.scope)
        finally:
            with self._mutex:
                self._open.pop(database.scope.path, None)

    def players(self) -> tuple[UUID, ...]:
        """Every player that has a database, by its file's exact name; empty when there is none."""
        refuse_on_loop()
        self._check_open()
        return tuple(UUID(scope.name) for scope in self._backend.scopes() if PLAYER_NAME.fullmatch(scope.name))

    def verify(self) -> list[Finding]:
        """Read every file once more from disk and say whether it decodes; changes nothing."""
        refuse_on_loop()
        self._check_open()
        return self._backend.check()

    def close(self) -> None:
        """Finish the writes that run, make every handle raise STORAGE_CLOSED, and give the world free."""
        refuse_on_loop()
        with self._mutex:
            if self._closed:
                return
            self._closed = True
            databases = list(self._open.values())
        for database in databases:
            database.shut(ErrorCode.STORAGE_CLOSED)
        self._backend.close()
        if self._lock is not None:
            self._lock.close()

    def _check_open(self) -> None:
        if self._closed:
            raise AssistantError(ErrorCode.STORAGE_CLOSED)

    def _database(self, scope: Scope) -> Database:
        with self._mutex:
            self._check_open()
            database = self._open.get(scope.path)
            if database is None:
                database = self._open[scope.path] = Database(
                    scope, self._backend, write=self._lock is not None, check_structure=self._check_structure
                )
            return database

    def _check_structure(self, table: Table[Any]) -> None:
        known = self._structures.setdefault(table.id, table.codec.structure)
        if known != table.codec.structure:
            raise AssistantError(ErrorCode.STORAGE_TABLE_MISMATCH, table=table.id)
