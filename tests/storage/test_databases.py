"""Databases of a world: scopes, handles, isolation, what is read and what is refused."""

import asyncio
import gzip
import json
import os
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage import Codec, Databases, Put, Remove, Replace, Table, Tree, atomic
from mcsystem.storage.container import read_tree, write_tree

ANNA, BEN = UUID(int=1), UUID(int=2)


@dataclass
class Place:
    """A value that can be changed."""

    name: str
    marks: list[int]


NOTES = Table("example:notes", str)
COUNTS = Table("example:counts", int)
PLACES = Table("example:places", Place)


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return tmp_path / "world"


@pytest.fixture
def databases(world: Path) -> Any:
    with_lock = Databases.open(world, write=True)
    yield with_lock
    with_lock.close()


def file_of(world: Path, player: UUID | None = None) -> Path:
    """Where a scope lies."""
    folder = world / "system" / "database"
    return folder / "shared.dat" if player is None else folder / "players" / f"{player}.dat"


def fails(code: ErrorCode, call: Any, *arguments: Any, **named: Any) -> AssistantError:
    """The error of a call, which must have this code."""
    with pytest.raises(AssistantError) as caught:
        call(*arguments, **named)
    assert caught.value.code is code
    return caught.value


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


def test_old_forms_are_read(world: Path) -> None:
    """Uncompressed files and roots with no name or another one are read; the next save writes the standard form."""
    standard = write_tree({"version": 1, "tables": {"example:notes": {"home": "x"}}})
    body = gzip.decompress(standard)
    for raw in (standard, body, body[:1] + body[3:], b"\x0a\0\x04root" + body[3:], gzip.compress(body[:1] + body[3:])):
        shutil.rmtree(world, ignore_errors=True)
        file_of(world).parent.mkdir(parents=True)
        file_of(world).write_bytes(raw)
        databases = Databases.open(world, write=True)
        assert databases.shared().get(NOTES, "home") == "x"
        assert file_of(world).read_bytes() == raw
        databases.shared().put(NOTES, "b", "y")
        saved = gzip.decompress(file_of(world).read_bytes())
        assert saved.startswith(b"\x0a\0\0\x03\0\x07version\0\0\0\x01")
        assert read_tree(saved) == {"version": 1, "tables": {"example:notes": {"home": "x", "b": "y"}}}
        databases.close()


def test_unknown_tables_survive(world: Path) -> None:
    """Tables of modules that are not installed, and foreign entries of the root, survive every rewrite as they are."""
    wrapped: Tree = {"x": [{"": {"": 1}}, {"a": "b"}, {}], "long": [1.5, float("inf")]}
    root: dict[str, Tree] = {"other": [1, 2], "tables": {"gone:mod": {"": wrapped}, "gone:empty": {}}, "version": 1}
    file_of(world).parent.mkdir(parents=True)
    file_of(world).write_bytes(write_tree(root))
    databases = Databases.open(world, write=True)
    assert databases.shared().tables() == {"gone:mod": 1, "gone:empty": 0}
    databases.shared().put(NOTES, "a", "b")
    databases.shared().remove(NOTES, "a")
    databases.close()
    assert read_tree(file_of(world).read_bytes()) == root


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", ErrorCode.STORAGE_CORRUPT),
        (bytes(4096), ErrorCode.STORAGE_CORRUPT),
        (b'{"version":1}', ErrorCode.STORAGE_CORRUPT),
        (write_tree({}), ErrorCode.STORAGE_CORRUPT),
        (write_tree({"version": 1}), ErrorCode.STORAGE_CORRUPT),
        (write_tree({"version": "1", "tables": {}}), ErrorCode.STORAGE_CORRUPT),
        (write_tree({"version": 0, "tables": {}}), ErrorCode.STORAGE_CORRUPT),
        (write_tree({"version": 1, "tables": {"a:b": 1}}), ErrorCode.STORAGE_CORRUPT),
        (write_tree({"version": 1, "tables": 5}), ErrorCode.STORAGE_CORRUPT),
        (write_tree({"tables": {"a:b": 1}, "version": 2}), ErrorCode.STORAGE_NEWER_FORMAT),
        (write_tree({"version": 2, "tables": "another layout"}), ErrorCode.STORAGE_NEWER_FORMAT),
    ],
)
def test_unreadable_file_is_kept(world: Path, raw: bytes, code: ErrorCode) -> None:
    """A file that does not decode is an error at every use, stays byte for byte, and disturbs no other database."""
    file_of(world, ANNA).parent.mkdir(parents=True)
    file_of(world, ANNA).write_bytes(raw)
    databases = Databases.open(world, write=True)
    anna = databases.player(ANNA)
    for _ in range(2):
        error = fails(code, anna.get, NOTES, "a")
        assert error.details["file"] == str(file_of(world, ANNA))
        for call in (anna.entries, anna.keys):
            fails(code, call, NOTES)
        fails(code, anna.put, NOTES, "a", "b")
        fails(code, anna.remove, NOTES, "a")
        fails(code, anna.replace, NOTES, {})
        fails(code, anna.tables)
        fails(code, anna.export)
    assert file_of(world, ANNA).read_bytes() == raw
    databases.shared().put(NOTES, "a", "b")
    databases.player(BEN).put(NOTES, "a", "b")
    findings = {found.scope: found for found in databases.verify()}
    assert not findings[str(ANNA)].ok
    assert findings[str(ANNA)].code == code.value
    assert findings["shared"].ok
    assert file_of(world, ANNA).read_bytes() == raw
    databases.delete_player(ANNA)
    assert databases.player(ANNA).get(NOTES, "a") is None
    databases.close()


def test_repaired_file_is_read_again(world: Path) -> None:
    """When an admin puts a good file in the place of a bad one, it is read without a restart."""
    file_of(world).parent.mkdir(parents=True)
    file_of(world).write_bytes(b"bad")
    databases = Databases.open(world, write=True)
    fails(ErrorCode.STORAGE_CORRUPT, databases.shared().get, NOTES, "a")
    file_of(world).write_bytes(write_tree({"version": 1, "tables": {"example:notes": {"a": "good"}}}))
    assert databases.shared().get(NOTES, "a") == "good"
    databases.close()


def test_wrong_type_in_file(world: Path) -> None:
    """A value of another type is an error where it is read; other tables stay readable and it is not rewritten."""
    file_of(world).parent.mkdir(parents=True)
    root: dict[str, Tree] = {"version": 1, "tables": {"example:notes": {"n": 5}, "example:counts": {"n": 5}}}
    file_of(world).write_bytes(write_tree(root))
    databases = Databases.open(world, write=True)
    error = fails(ErrorCode.STORAGE_VALUE_INVALID, databases.shared().get, NOTES, "n")
    assert (error.details["table"], error.details["key"], error.details["path"]) == ("example:notes", "n", "$")
    fails(ErrorCode.STORAGE_VALUE_INVALID, databases.shared().entries, NOTES)
    assert databases.shared().entries(COUNTS) == {"n": 5}
    databases.shared().put(NOTES, "other", "x")
    assert databases.shared().raw("example:notes", "n") == 5
    databases.close()


def test_folder_in_place_of_a_file(databases: Databases, world: Path) -> None:
    """A folder named like a database is a clear error, and nothing in it is touched."""
    inside = file_of(world) / "inside"
    inside.mkdir(parents=True)
    error = fails(ErrorCode.STORAGE_READ_FAILED, databases.shared().get, NOTES, "a")
    assert error.details["reason"] == "folder"
    fails(ErrorCode.STORAGE_READ_FAILED, databases.shared().put, NOTES, "a", "b")
    assert inside.is_dir()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows needs rights for links and has no pipes in folders")
def test_links_and_pipes_are_refused(databases: Databases, world: Path, tmp_path: Path) -> None:
    """Replacing a link would leave its target stale, and a pipe would wait for ever: both are refused at once."""
    target = tmp_path / "target.dat"
    target.write_bytes(write_tree({"version": 1, "tables": {}}))
    file_of(world).symlink_to(target)
    error = fails(ErrorCode.STORAGE_READ_FAILED, databases.shared().get, NOTES, "a")
    assert error.details["reason"] == "symlink"
    fails(ErrorCode.STORAGE_READ_FAILED, databases.shared().put, NOTES, "a", "b")
    assert read_tree(target.read_bytes())["tables"] == {}
    file_of(world, ANNA).parent.mkdir(parents=True)
    os.mkfifo(file_of(world, ANNA))
    fails(ErrorCode.STORAGE_READ_FAILED, databases.player(ANNA).get, NOTES, "a")
    databases.delete_player(ANNA)
    assert not file_of(world, ANNA).exists()


def test_left_over_tmp(world: Path) -> None:
    """The `.tmp` of a broken-off write is never read, and removed when the world is written."""
    tmp = atomic.tmp_of(file_of(world))
    tmp.parent.mkdir(parents=True)
    tmp.write_bytes(write_tree({"version": 1, "tables": {"example:notes": {"a": "never"}}}))
    reading = Databases.open(world, write=False)
    assert reading.shared().get(NOTES, "a") is None
    assert tmp.exists()
    databases = Databases.open(world, write=True)
    assert databases.shared().get(NOTES, "a") is None
    assert not tmp.exists()
    databases.close()


def test_delete_player(databases: Databases, world: Path) -> None:
    """Deleting removes file and `.tmp`, makes old handles fail, leaves others alone, and a new handle starts empty."""
    old = databases.player(ANNA)
    old.put(NOTES, "a", "b")
    revision = old.revision
    databases.shared().put(NOTES, "a", "b")
    atomic.tmp_of(file_of(world, ANNA)).write_bytes(b"half")
    databases.delete_player(ANNA)
    assert list(file_of(world, ANNA).parent.iterdir()) == []
    for call in (old.get, old.remove):
        fails(ErrorCode.STORAGE_REVOKED, call, NOTES, "a")
    fails(ErrorCode.STORAGE_REVOKED, old.put, NOTES, "a", "b")
    assert databases.player(ANNA).entries(NOTES) == {}
    assert databases.player(ANNA).revision > revision
    assert databases.shared().get(NOTES, "a") == "b"
    databases.delete_player(BEN)
    assert databases.players() == ()


def test_delete_waits_for_the_write_that_runs(
    databases: Databases, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A put that began before a delete ends before it: it never brings the file back."""
    entered, go_on = threading.Event(), threading.Event()
    real = atomic.sync_folder

    def slow(folder: Path) -> None:
        entered.set()
        assert go_on.wait(10)
        real(folder)

    anna = databases.player(ANNA)
    anna.put(NOTES, "a", "b")
    monkeypatch.setattr(atomic, "sync_folder", slow)
    putting = threading.Thread(target=anna.put, args=(NOTES, "a", "c"))
    putting.start()
    assert entered.wait(10)
    deleting = threading.Thread(target=databases.delete_player, args=(ANNA,))
    deleting.start()
    deleting.join(0.1)
    assert deleting.is_alive()
    databases.shared()
    go_on.set()
    putting.join(10)
    deleting.join(10)
    assert not file_of(world, ANNA).exists()


def test_close(world: Path) -> None:
    """After closing, every handle fails and nothing is written; the world is free again."""
    databases = Databases.open(world, write=True)
    shared, anna = databases.shared(), databases.player(ANNA)
    shared.put(NOTES, "a", "b")
    databases.close()
    databases.close()
    raw = file_of(world).read_bytes()
    for handle in (shared, anna):
        fails(ErrorCode.STORAGE_CLOSED, handle.get, NOTES, "a")
        fails(ErrorCode.STORAGE_CLOSED, handle.put, NOTES, "a", "c")
    for call in (databases.shared, databases.players, databases.verify):
        fails(ErrorCode.STORAGE_CLOSED, call)
    fails(ErrorCode.STORAGE_CLOSED, databases.delete_player, ANNA)
    assert file_of(world).read_bytes() == raw
    Databases.open(world, write=True).close()


def test_reading_only(world: Path) -> None:
    """Opened for reading, nothing is locked or written, writes are refused, and what others write is seen."""
    fails(ErrorCode.WORLD_NOT_FOUND, Databases.open, world, write=False)
    assert not world.exists()
    writing = Databases.open(world, write=True)
    reading = Databases.open(world, write=False)
    seen = reading.shared()
    revision = seen.revision
    for number in range(3):
        writing.shared().put(COUNTS, "n", number)
        assert seen.get(COUNTS, "n") == number
        assert seen.entries(COUNTS) == {"n": number}
        assert seen.revision > revision
        revision = seen.revision
    fails(ErrorCode.STORAGE_READ_ONLY, seen.put, COUNTS, "n", 1)
    fails(ErrorCode.STORAGE_READ_ONLY, seen.remove, COUNTS, "n")
    fails(ErrorCode.STORAGE_READ_ONLY, reading.delete_player, ANNA)
    fails(ErrorCode.STORAGE_READ_ONLY, seen.import_, seen.export())
    reading.close()
    writing.close()


def test_never_on_the_event_loop(world: Path) -> None:
    """File access on a thread that runs an event loop is refused, in production too; on a worker it works."""

    async def on_loop() -> None:
        fails(ErrorCode.STORAGE_ON_LOOP, Databases.open, world, write=True)
        databases = await asyncio.to_thread(Databases.open, world, write=True)
        shared = databases.shared()
        fails(ErrorCode.STORAGE_ON_LOOP, shared.get, NOTES, "a")
        fails(ErrorCode.STORAGE_ON_LOOP, shared.put, NOTES, "a", "b")
        fails(ErrorCode.STORAGE_ON_LOOP, databases.verify)
        fails(ErrorCode.STORAGE_ON_LOOP, databases.delete_player, ANNA)
        fails(ErrorCode.STORAGE_ON_LOOP, databases.close)
        await asyncio.to_thread(shared.put, NOTES, "a", "b")
        assert await asyncio.to_thread(shared.get, NOTES, "a") == "b"
        await asyncio.to_thread(databases.close)

    asyncio.run(on_loop())


def test_only_exact_names_are_players(databases: Databases, world: Path) -> None:
    """Copies, temporary files and other names in the folder are nobody's database."""
    folder = file_of(world, ANNA).parent
    folder.mkdir(parents=True)
    for name in (f"{BEN}.dat.tmp", f"{BEN}.dat_old", f"{BEN}-1.dat", f"{str(UUID(int=0xABC)).upper()}.dat", "x.dat"):
        (folder / name).write_bytes(b"")
    databases.player(ANNA).put(NOTES, "a", "b")
    assert databases.players() == (ANNA,)


def test_further_file(databases: Databases, world: Path) -> None:
    """A further file, such as the ledger's, obeys the same rules."""
    path = world / "data" / "system" / "token_usage.dat"
    ledger = databases.file(path, "token_usage")
    assert databases.file(path, "token_usage") is ledger
    assert not path.exists()
    ledger.put(COUNTS, "calls", 3)
    assert read_tree(path.read_bytes()) == {"version": 1, "tables": {"example:counts": {"calls": 3}}}
    assert ledger.name == "token_usage"
    assert [found.scope for found in databases.verify()] == ["token_usage"]
    path.write_bytes(path.read_bytes()[:-1])
    assert [found.reason for found in databases.verify()] == ["truncated"]
    assert databases.players() == ()


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


SECOND = """
import sys
from pathlib import Path
from mcsystem.errors import AssistantError
from mcsystem.storage import Databases

try:
    Databases.open(Path(sys.argv[1]), write=True)
except AssistantError as error:
    print(error.code.value, error.details["pid"], error.details["host"])
else:
    print("open", flush=True)
    sys.stdin.read()
"""


def second(world: Path) -> subprocess.Popen[str]:
    """Another process that opens the same world."""
    command = [sys.executable, "-c", SECOND, str(world)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)


def first_line(process: subprocess.Popen[str]) -> str:
    """What it says first."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def end(process: subprocess.Popen[str]) -> None:
    """Kill it and let nothing be left."""
    process.kill()
    process.communicate()


def test_second_process(databases: Databases, world: Path) -> None:
    """A second process on the same world is refused, in this process too, and told who holds it."""
    other = second(world)
    code, pid, host = first_line(other).split()
    end(other)
    assert (code, int(pid)) == ("STORAGE_WORLD_LOCKED", os.getpid())
    assert host
    error = fails(ErrorCode.STORAGE_WORLD_LOCKED, Databases.open, world, write=True)
    assert error.details["pid"] == os.getpid()
    databases.shared().put(NOTES, "a", "b")


def test_dead_holder(world: Path) -> None:
    """The lock of a process that was killed is gone with it."""
    other = second(world)
    assert first_line(other) == "open"
    error = fails(ErrorCode.STORAGE_WORLD_LOCKED, Databases.open, world, write=True)
    assert error.details["pid"] == other.pid
    end(other)
    Databases.open(world, write=True).close()
