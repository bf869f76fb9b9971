"""A database against a plain dict: any order of writes, failures, crashes and restarts leaves both the same."""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch
from uuid import UUID

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage import Change, Database, Databases, Put, Remove, Replace, Table, atomic
from mcsystem.storage.container import read_tree

SOAK = bool(os.environ.get("MCSYSTEM_SOAK"))
PLAYER = UUID(int=7)
TABLES = (Table("example:one", str), Table("example:two", str))
Model = dict[str, dict[str, str]]

tables = st.sampled_from(TABLES)
keys = st.sampled_from([f"key {number}" for number in range(12)] + ["键", "\0", "\U0001f3ae"])
values = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=20), st.integers(5_000, 6_000).map("long ".__mul__)
)
calls = st.sampled_from(["open", "write", "fsync", "replace"])
changes: st.SearchStrategy[Change] = st.one_of(
    st.builds(Put[str], tables, keys, values),
    st.builds(Remove, tables, keys),
    st.builds(Replace[str], tables, st.dictionaries(keys, values, max_size=5)),
)


def applied(model: Model, done: list[Change]) -> Model:
    """What `model` is after some changes."""
    after = {table: dict(rows) for table, rows in model.items()}
    for change in done:
        rows = after.setdefault(change.table.id, {})
        match change:
            case Put():
                rows[change.key] = change.value
            case Remove():
                rows.pop(change.key, None)
            case Replace():
                after[change.table.id] = dict(change.values)
    return {table: rows for table, rows in after.items() if rows}


class Machine(RuleBasedStateMachine):
    """Drives one player's database."""

    def __init__(self) -> None:
        super().__init__()
        self.world = Path(tempfile.mkdtemp())
        self.model: Model = {}
        self.databases = Databases.open(self.world, write=True)
        self.revision = 0

    @property
    def database(self) -> Database:
        """The database under test."""
        return self.databases.player(PLAYER)

    def teardown(self) -> None:
        """Leave nothing behind."""
        self.databases.close()
        shutil.rmtree(self.world)

    @rule(change=changes)
    def change(self, change: Change) -> None:
        """One change by its own method."""
        match change:
            case Put():
                self.database.put(change.table, change.key, change.value)
            case Remove():
                there = change.key in self.model.get(change.table.id, {})
                assert self.database.remove(change.table, change.key) == there
            case Replace():
                self.database.replace(change.table, change.values)
        self.model = applied(self.model, [change])

    @rule(several=st.lists(changes, max_size=5))
    def commit(self, several: list[Change]) -> None:
        """Several changes at once."""
        revision = self.database.revision
        assert self.database.commit(several, expect=revision) >= revision
        self.model = applied(self.model, several)

    @rule(several=st.lists(changes, min_size=1, max_size=3))
    def conflict(self, several: list[Change]) -> None:
        """Changes worked out from another revision change nothing."""
        with pytest.raises(AssistantError) as caught:
            self.database.commit(several, expect=self.database.revision - 1)
        assert caught.value.code is ErrorCode.STORAGE_CONFLICT

    @rule(
        several=st.lists(changes, min_size=1, max_size=3), call=st.sampled_from(["open", "write", "fsync", "replace"])
    )
    def fault(self, several: list[Change], call: str) -> None:
        """A failing disk: either nothing had to be written, or it is an error and nothing changed."""

        def broken(*_: object, **__: object) -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        target: tuple[object, str] = (Path, "replace") if call == "replace" else (atomic.os, call)
        revision = self.database.revision
        with patch.object(*target, broken):
            try:
                self.database.commit(several)
            except AssistantError as error:
                assert error.code is ErrorCode.STORAGE_WRITE_FAILED
            else:
                assert applied(self.model, several) == self.model
        assert self.database.revision == revision

    @rule(several=st.lists(changes, min_size=1, max_size=3))
    def unknown_outcome(self, several: list[Change]) -> None:
        """The folder cannot be synced after the move: an error, and memory shows what the disk has."""
        real: Callable[[Path], None] = atomic.sync_folder

        def broken(folder: Path) -> None:
            if (folder / f"{PLAYER}.dat").exists():
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            real(folder)

        with patch.object(atomic, "sync_folder", broken):
            try:
                self.database.commit(several)
            except AssistantError as error:
                assert error.details["reason"] == "outcome unknown"
        self.model = applied(self.model, several)

    @rule(half=st.binary(max_size=50))
    def crash(self, half: bytes) -> None:
        """The process dies in the middle of a write and another one starts."""
        path = self.database.scope.path
        self.databases.close()
        if path.parent.exists():
            atomic.tmp_of(path).write_bytes(half)
        self.databases = Databases.open(self.world, write=True)
        self.revision = 0

    @precondition(lambda self: self.model)
    @rule()
    def delete(self) -> None:
        """The player is revoked."""
        old = self.database
        self.databases.delete_player(PLAYER)
        with pytest.raises(AssistantError):
            old.get(TABLES[0], "key 1")
        assert not old.scope.path.exists()
        self.model = {}

    @invariant()
    def equals_model(self) -> None:
        """Memory first, since the first use of a file takes away a left-over `.tmp`."""
        self.memory_equals_model()
        self.disk_equals_model()

    def memory_equals_model(self) -> None:
        """Typed reads give the model, and the revision never goes back."""
        for table in TABLES:
            assert self.database.entries(table) == self.model.get(table.id, {})
        assert self.database.tables() == {table: len(rows) for table, rows in self.model.items()}
        assert self.database.revision >= self.revision
        self.revision = self.database.revision

    def disk_equals_model(self) -> None:
        """The file, read without our memory, gives the model; no `.tmp` is left by a write that ended."""
        path = self.database.scope.path
        if path.exists():
            raw = path.read_bytes()
            assert read_tree(raw) == {"version": 1, "tables": self.model}
        else:
            assert self.model == {}
        assert not atomic.tmp_of(path).exists()


Machine.TestCase.settings = settings(
    max_examples=400 if SOAK else 20,
    stateful_step_count=50 if SOAK else 25,
    deadline=None,
)
TestMachine = Machine.TestCase
