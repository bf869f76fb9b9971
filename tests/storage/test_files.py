"""Files as they are found: old forms are read, damaged ones are refused and kept, leftovers are no data."""

import gzip
import os
import shutil
import sys
from pathlib import Path

import pytest
from scopes import ANNA, BEN, COUNTS, NOTES, fails, file_of

from mcsystem.errors import ErrorCode
from mcsystem.storage import Databases, Tree, atomic
from mcsystem.storage.container import read_tree, write_tree


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


@pytest.mark.skipif(sys.platform == "win32", reason="Windows needs rights for links")
def test_a_file_that_becomes_a_link(databases: Databases, world: Path, tmp_path: Path) -> None:
    """A link that appears while the world is open is not replaced either; what it points to stays as it is."""
    databases.shared().put(NOTES, "a", "b")
    target = tmp_path / "target.dat"
    file_of(world).rename(target)
    file_of(world).symlink_to(target)
    raw = target.read_bytes()
    error = fails(ErrorCode.STORAGE_WRITE_FAILED, databases.shared().put, NOTES, "a", "c")
    assert error.details["reason"] == "symlink"
    assert file_of(world).is_symlink()
    assert target.read_bytes() == raw
    assert databases.shared().get(NOTES, "a") == "b"


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
