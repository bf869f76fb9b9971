"""Databases: typed values, tables, revisions, limits, export and import."""

import json
from pathlib import Path
from typing import Any

import pytest
from scopes import ANNA, BEN, COUNTS, NOTES, PLACES, Place, fails, file_of

from mcsystem.errors import ErrorCode
from mcsystem.storage import Codec, Databases, Put, Remove, Replace, Table, Tree
from mcsystem.storage.container import read_tree


def test_values_come_back(databases: Databases) -> None:
    """Put, get, entries, keys, remove and replace do what they say, in one table only."""
    shared = databases.shared()
    assert shared.get(NOTES, "home") is None
    assert shared.entries(NOTES) == {}
    shared.put(NOTES, "home", "A private note")
    shared.put(COUNTS, "home", 5)
    assert shared.get(NOTES, "home") == "A private note"
    shared.replace(NOTES, {"a": "1", "b": "2"})
    assert shared.entries(NOTES) == {"a": "1", "b": "2"}
    assert sorted(shared.keys(NOTES)) == ["a", "b"]
    assert shared.tables() == {"example:notes": 2, "example:counts": 1}
    assert shared.remove(NOTES, "a")
    assert not shared.remove(NOTES, "a")
    assert shared.entries(COUNTS) == {"home": 5}
    assert shared.raw("example:counts", "home") == 5
    assert shared.raw("example:counts", "none") is None


def test_files(databases: Databases, world: Path) -> None:
    """A handle touches no disk, reading makes no file, the first write makes exactly the documented one."""
    shared, anna = databases.shared(), databases.player(ANNA)
    assert shared.get(NOTES, "a") is None
    assert anna.entries(NOTES) == {}
    shared.replace(NOTES, {})
    assert sorted(path.name for path in (world / "system" / "database").iterdir()) == [".lock"]
    anna.put(NOTES, "a", "b")
    assert read_tree(file_of(world, ANNA).read_bytes()) == {"version": 1, "tables": {"example:notes": {"a": "b"}}}
    assert not file_of(world).exists()
    assert databases.players() == (ANNA,)


def test_survives_reopening(world: Path) -> None:
    """What was put is there for the next process."""
    for round_ in range(3):
        databases = Databases.open(world, write=True)
        shared = databases.shared()
        assert shared.entries(NOTES) == {str(number): "x" for number in range(round_)}
        shared.put(NOTES, str(round_), "x")
        databases.close()


def test_scopes_do_not_mix(databases: Databases) -> None:
    """Nobody sees the values of another player or falls back to the shared ones."""
    databases.shared().put(NOTES, "k", "shared")
    databases.player(ANNA).put(NOTES, "k", "anna")
    assert databases.player(BEN).get(NOTES, "k") is None
    assert databases.shared().get(NOTES, "k") == "shared"
    assert databases.player(ANNA) is databases.player(ANNA)


def test_two_worlds(tmp_path: Path) -> None:
    """Two worlds open in one process share nothing, not even what a table's ID means."""
    one, two = Databases.open(tmp_path / "1", write=True), Databases.open(tmp_path / "2", write=True)
    one.shared().put(NOTES, "k", "1")
    assert two.shared().get(Table("example:notes", int), "k") is None
    one.close()
    two.close()


def test_stored_values_are_private(databases: Databases) -> None:
    """Changing what was put or what was got changes nothing stored."""
    shared = databases.shared()
    place = Place("home", [1])
    shared.put(PLACES, "p", place)
    place.marks.append(2)
    got = shared.get(PLACES, "p")
    assert got is not None
    assert got == Place("home", [1])
    got.marks.append(3)
    entries = shared.entries(PLACES)
    entries["p"].marks.append(4)
    del entries["p"]
    assert shared.get(PLACES, "p") == Place("home", [1])
    shared.put(NOTES, "n", "text")
    for _ in range(2):  # the second time they are remembered
        shared.entries(NOTES).clear()
    assert shared.entries(NOTES) == {"n": "text"}


def test_hot_table_is_decoded_once(databases: Databases) -> None:
    """Values that cannot change are decoded once; after a put only the new one is."""
    decoded: list[Tree] = []

    class Counting:
        structure = "counting"
        frozen = True

        def encode(self, value: str) -> Tree:
            return value

        def decode(self, tree: Tree) -> str:
            decoded.append(tree)
            return str(tree)

    codec: Codec[str] = Counting()
    table = Table("example:counting", codec)
    shared = databases.shared()
    shared.replace(table, {str(number): "x" for number in range(50)})
    for _ in range(3):
        assert len(shared.entries(table)) == 50
    assert len(decoded) == 50
    shared.put(table, "7", "new")
    assert shared.entries(table)["7"] == "new"
    assert len(decoded) == 51
    assert shared.get(table, "7") == "new"
    assert len(decoded) == 51


def test_one_id_one_structure(databases: Databases) -> None:
    """Using one table ID with two structures is an error, in any scope of the world."""
    databases.shared().put(NOTES, "k", "v")
    other = Table("example:notes", int)
    fails(ErrorCode.STORAGE_TABLE_MISMATCH, databases.shared().get, other, "k")
    fails(ErrorCode.STORAGE_TABLE_MISMATCH, databases.player(ANNA).put, other, "k", 1)
    assert databases.shared().get(Table("example:notes", str), "k") == "v"


@pytest.mark.parametrize("table_id", ["notes", "Example:notes", "example:", "example:a b", "", "e:" + "x" * 200])
def test_table_ids(table_id: str) -> None:
    """A table's ID is namespaced and in lower case."""
    fails(ErrorCode.STORAGE_ID_INVALID, Table, table_id, str)


@pytest.mark.parametrize("key", ["", "x" * 65_536, "\ud83d"])
def test_keys(databases: Databases, world: Path, key: str) -> None:
    """A key that no file could hold is refused and nothing is written."""
    error = fails(ErrorCode.STORAGE_VALUE_INVALID, databases.shared().put, NOTES, key, "v")
    assert error.details["reason"] == "key"
    assert not file_of(world).exists()


def test_too_long_text_names_its_key(databases: Databases, world: Path) -> None:
    """A string of 65,536 bytes is refused at the put, with table and key; nothing is written."""
    error = fails(ErrorCode.STORAGE_VALUE_INVALID, databases.shared().put, NOTES, "rules", "x" * 65_536)
    assert (error.details["table"], error.details["key"]) == ("example:notes", "rules")
    assert error.details["reason"] == "string_too_long"
    assert not file_of(world).exists()


def test_commit_is_all_or_none(databases: Databases, world: Path) -> None:
    """Several tables change together or not at all, and only from the revision they were worked out from."""
    shared = databases.shared()
    before = shared.revision
    after = shared.commit((Put(NOTES, "a", "1"), Put(COUNTS, "b", 2), Put(NOTES, "a", "3")))
    assert after == shared.revision > before
    assert (shared.get(NOTES, "a"), shared.get(COUNTS, "b")) == ("3", 2)
    raw = file_of(world).read_bytes()
    bad: tuple[Any, ...] = (Put(NOTES, "a", "9"), Put(COUNTS, "b", 1 << 70))
    fails(ErrorCode.STORAGE_VALUE_INVALID, shared.commit, bad)
    fails(ErrorCode.STORAGE_CONFLICT, shared.commit, (Put(NOTES, "a", "9"),), expect=before)
    assert file_of(world).read_bytes() == raw
    shared.commit((Replace(NOTES, {"x": "1", "y": "2"}), Put(NOTES, "z", "3"), Remove(NOTES, "x")), expect=after)
    assert shared.entries(NOTES) == {"y": "2", "z": "3"}
    shared.commit((Put(NOTES, "q", "1"), Replace(NOTES, {"y": "2"})))
    assert shared.entries(NOTES) == {"y": "2"}


def test_revisions(databases: Databases) -> None:
    """The revision grows with every write, a table's only with its own; a write of nothing new is none."""
    shared = databases.shared()
    shared.put(NOTES, "a", "1")
    notes, counts, whole = shared.table_revision(NOTES.id), shared.table_revision(COUNTS.id), shared.revision
    shared.put(COUNTS, "b", 1)
    assert shared.revision > whole
    assert shared.table_revision(NOTES.id) == notes
    assert shared.table_revision(COUNTS.id) > counts
    whole = shared.revision
    shared.put(COUNTS, "b", 1)
    assert not shared.remove(NOTES, "missing")
    assert shared.revision == whole


def test_export_and_import(databases: Databases) -> None:
    """An exported database, as JSON text, imports to the same values; a wrong document stores nothing."""
    shared, anna = databases.shared(), databases.player(ANNA)
    shared.put(PLACES, "p", Place("家", [1, 2]))
    shared.put(NOTES, "n", "x")
    anna.put(NOTES, "old", "gone after the import")
    anna.put(COUNTS, "stays", 1)
    text = json.dumps(shared.export())
    assert anna.import_(json.loads(text)) == {"example:notes": 1, "example:places": 1}
    assert anna.entries(PLACES) == {"p": Place("家", [1, 2])}
    assert anna.entries(NOTES) == {"n": "x"}
    assert anna.entries(COUNTS) == {"stays": 1}
    revision = anna.revision
    good: Any = json.loads(text)
    wrong_tables: tuple[Any, ...] = (5, {"example:notes": 5}, {"example:notes": {"n": ["int", "x"]}})
    for tables in wrong_tables:
        error = fails(ErrorCode.STORAGE_VALUE_INVALID, anna.import_, {**good, "tables": tables})
        assert {"table", "key", "path", "reason"} <= set(error.details)
    fails(ErrorCode.STORAGE_VALUE_INVALID, anna.import_, {**good, "version": 2})
    fails(ErrorCode.STORAGE_ID_INVALID, anna.import_, {**good, "tables": {"Bad": {}}})
    assert anna.revision == revision


def test_size_limit(databases: Databases, world: Path) -> None:
    """A write that would take the file over its limit is refused before anything is written."""
    shared = databases.shared()
    big = "x" * 60_000
    many = Table("example:many", tuple[str, ...])
    shared.put(many, "first", (big,) * 900)
    assert shared.size > 900 * 60_000
    raw = file_of(world).stat().st_mtime_ns
    error = fails(ErrorCode.STORAGE_TOO_LARGE, shared.put, many, "second", (big,) * 300)
    assert error.details["limit"] == shared.limit
    assert int(str(error.details["size"])) > shared.limit
    assert file_of(world).stat().st_mtime_ns == raw
    assert shared.keys(many) == ("first",)
    shared.replace(many, {"third": (big,) * 300})
    assert shared.keys(many) == ("third",)


def test_too_many_values(databases: Databases) -> None:
    """A file that would hold more values than may be read is refused before anything is written."""
    table = Table("example:flags", list[bool])
    flags = [True] * 5_000_000
    databases.shared().put(table, "a", flags)
    fails(ErrorCode.STORAGE_TOO_LARGE, databases.shared().put, table, "b", flags)
    assert databases.verify()[0].ok
