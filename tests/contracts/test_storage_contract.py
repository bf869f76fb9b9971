"""What every storage backend does. A new backend joins by one line in BACKENDS and changes nothing else here."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage.backend import Scope, StorageBackend, TableChange
from mcsystem.storage.file_backend import FileBackend
from mcsystem.storage.nbt_write import Row, write_value

Opener = Callable[[Path], StorageBackend]
BACKENDS: Final[Mapping[str, Opener]] = {"file": lambda folder: FileBackend(folder, write=True)}
ANNA: Final = "00000000-0000-0000-0000-000000000001"
BEN: Final = "00000000-0000-0000-0000-000000000002"


def row(text: str) -> Row:
    """An encoded value."""
    return write_value(text)


def put(table: str, /, *, replace: bool = False, **values: str | None) -> TableChange:
    """A change of one table."""
    rows = {key: None if text is None else row(text) for key, text in values.items()}
    return TableChange(table, rows, replace=replace)


def failure(code: ErrorCode, call: Callable[[], object]) -> None:
    """Check that `call` fails with `code`."""
    with pytest.raises(AssistantError) as caught:
        call()
    assert caught.value.code is code


class StorageContract:
    """The promises of `StorageBackend`."""

    @pytest.fixture(params=sorted(BACKENDS))
    def opener(self, request: pytest.FixtureRequest) -> Opener:
        return BACKENDS[request.param]

    @pytest.fixture
    def backend(self, opener: Opener, tmp_path: Path) -> Iterator[StorageBackend]:
        with closing(opener(tmp_path)) as backend:
            yield backend

    @pytest.fixture
    def anna(self, tmp_path: Path) -> Scope:
        return Scope(ANNA, tmp_path / "players" / f"{ANNA}.dat")

    @pytest.fixture
    def ben(self, tmp_path: Path) -> Scope:
        return Scope(BEN, tmp_path / "players" / f"{BEN}.dat")

    def test_empty(self, backend: StorageBackend, anna: Scope) -> None:
        """A scope that was never written has no rows, and reading it makes nothing."""
        snapshot = backend.load(anna)
        assert snapshot.get("a:b", "k") is None
        assert list(snapshot.rows("a:b")) == []
        assert snapshot.tables() == {}
        assert list(backend.scopes()) == []
        assert backend.check() == []

    def test_rows(self, backend: StorageBackend, anna: Scope) -> None:
        """Rows come back byte for byte, by table and key, and count."""
        backend.commit(anna, [put("a:b", x="1", y="2"), put("c:d", x="3")])
        snapshot = backend.load(anna)
        assert snapshot.get("a:b", "x") == row("1")
        assert dict(snapshot.rows("a:b")) == {"x": row("1"), "y": row("2")}
        assert snapshot.tables() == {"a:b": 2, "c:d": 1}
        assert snapshot.size > 0

    def test_snapshot_stays(self, backend: StorageBackend, anna: Scope) -> None:
        """A snapshot that is held does not change under later commits."""
        backend.commit(anna, [put("a:b", x="1", y="2")])
        held = backend.load(anna)
        backend.commit(anna, [put("a:b", x="9", y=None)])
        assert dict(held.rows("a:b")) == {"x": row("1"), "y": row("2")}
        assert dict(backend.load(anna).rows("a:b")) == {"x": row("9")}

    def test_replace(self, backend: StorageBackend, anna: Scope) -> None:
        """Replacing drops what is not named, in that table only."""
        backend.commit(anna, [put("a:b", x="1", y="2"), put("c:d", x="3")])
        backend.commit(anna, [put("a:b", replace=True, y="4", z="5")])
        assert dict(backend.load(anna).rows("a:b")) == {"y": row("4"), "z": row("5")}
        assert backend.load(anna).tables()["c:d"] == 1

    def test_changed(self, backend: StorageBackend, anna: Scope) -> None:
        """A commit says whether anything was different before; if not, no revision moves."""
        first = backend.commit(anna, [put("a:b", x="1")])
        assert first.changed
        for change in (put("a:b", x="1"), put("a:b", missing=None), put("a:b", replace=True, x="1")):
            again = backend.commit(anna, [change])
            assert not again.changed
            assert again.revision == first.revision
        assert backend.commit(anna, [put("a:b", x=None)]).changed

    def test_revisions(self, backend: StorageBackend, anna: Scope, ben: Scope) -> None:
        """Revisions grow by scope and by table."""
        one = backend.commit(anna, [put("a:b", x="1")]).revision
        two = backend.commit(anna, [put("c:d", x="1")]).revision
        backend.commit(ben, [put("a:b", x="1")])
        snapshot = backend.load(anna)
        assert one < two == snapshot.revision
        assert snapshot.table_revision("a:b") == one
        assert snapshot.table_revision("c:d") == two

    def test_expect(self, backend: StorageBackend, anna: Scope) -> None:
        """A commit from an old revision changes nothing; one from the present revision goes through."""
        old = backend.load(anna).revision
        now = backend.commit(anna, [put("a:b", x="1")], expect=old).revision
        failure(ErrorCode.STORAGE_CONFLICT, lambda: backend.commit(anna, [put("a:b", x="2")], expect=old))
        assert backend.load(anna).get("a:b", "x") == row("1")
        backend.commit(anna, [put("a:b", x="3")], expect=now)
        assert backend.load(anna).get("a:b", "x") == row("3")

    def test_too_large(self, backend: StorageBackend, anna: Scope) -> None:
        """What does not fit changes nothing, not even the part of it that would fit."""
        backend.commit(anna, [put("a:b", x="1")])
        huge = write_value(b"\0" * (64 << 20))
        changes = [put("a:b", x="2"), TableChange("c:d", {"k": huge})]
        failure(ErrorCode.STORAGE_TOO_LARGE, lambda: backend.commit(anna, changes))
        assert backend.load(anna).tables() == {"a:b": 1}
        assert backend.load(anna).get("a:b", "x") == row("1")

    def test_durable(self, opener: Opener, tmp_path: Path, anna: Scope) -> None:
        """What was committed is there for the next one who opens the store."""
        with closing(opener(tmp_path)) as backend:
            backend.commit(anna, [put("a:b", x="1")])
        with closing(opener(tmp_path)) as backend:
            assert backend.load(anna).get("a:b", "x") == row("1")
            assert [scope.name for scope in backend.scopes()] == [ANNA]

    def test_delete(self, backend: StorageBackend, anna: Scope, ben: Scope) -> None:
        """Deleting one scope empties it, leaves others, and revisions go on growing."""
        backend.commit(anna, [put("a:b", x="1")])
        before = backend.commit(anna, [put("a:b", x="2")]).revision
        backend.commit(ben, [put("a:b", x="3")])
        backend.delete(anna)
        assert backend.load(anna).tables() == {}
        assert backend.load(anna).revision > before
        assert backend.load(ben).get("a:b", "x") == row("3")
        backend.delete(anna)
        assert [scope.name for scope in backend.scopes()] == [BEN]

    def test_concurrent_increments(self, backend: StorageBackend, anna: Scope) -> None:
        """Several threads that count with `expect` lose no step."""
        backend.commit(anna, [put("a:b", n="0")])

        def count() -> None:
            done = 0
            while done < 10:
                snapshot = backend.load(anna)
                found = snapshot.get("a:b", "n")
                assert found is not None
                after = put("a:b", n=str(int(found.data[3:]) + 1))
                try:
                    backend.commit(anna, [after], expect=snapshot.revision)
                except AssistantError as error:
                    assert error.code is ErrorCode.STORAGE_CONFLICT
                else:
                    done += 1

        threads = [threading.Thread(target=count) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert backend.load(anna).get("a:b", "n") == row("40")

    def test_check(self, backend: StorageBackend, anna: Scope) -> None:
        """A check finds every scope sound, with its counts."""
        backend.commit(anna, [put("a:b", x="1", y="2")])
        found = backend.check()
        assert [(it.scope, it.ok, it.tables, it.values) for it in found] == [(ANNA, True, 1, 2)]
        assert found[0].size == backend.load(anna).size

    def test_watch(self, backend: StorageBackend, anna: Scope) -> None:
        """Watching can be begun and ended; our own commits need not be told."""
        told: list[tuple[Scope, str | None, int]] = []
        with closing(backend.watch(lambda scope, table, revision: told.append((scope, table, revision)))):
            backend.commit(anna, [put("a:b", x="1")])
        assert all(scope == anna for scope, _, _ in told)


class TestBackends(StorageContract):
    """Every backend of BACKENDS."""
