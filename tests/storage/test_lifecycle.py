"""Opening, locking, deleting and closing; and where file access is refused."""

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path
from uuid import UUID

import pytest
from scopes import ANNA, BEN, COUNTS, NOTES, fails, file_of

from mcsystem.errors import ErrorCode
from mcsystem.storage import Codec, Databases, Table, Tree, atomic
from mcsystem.storage.container import read_tree


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


def test_delete_waits_for_a_put_that_has_not_come_to_its_write(databases: Databases, world: Path) -> None:
    """A put that still encodes its value when a delete begins does not bring the file back either."""
    entered, go_on = threading.Event(), threading.Event()

    class Slow:
        structure = "slow"
        frozen = True

        def encode(self, value: str) -> Tree:
            entered.set()
            assert go_on.wait(10)
            return value

        def decode(self, tree: Tree) -> str:
            return str(tree)

    codec: Codec[str] = Slow()
    putting = threading.Thread(target=databases.player(ANNA).put, args=(Table("example:slow", codec), "a", "b"))
    putting.start()
    assert entered.wait(10)
    deleting = threading.Thread(target=databases.delete_player, args=(ANNA,))
    deleting.start()
    deleting.join(0.1)
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
    assert databases.verify() == []
    ledger.put(COUNTS, "calls", 3)
    assert read_tree(path.read_bytes()) == {"version": 1, "tables": {"example:counts": {"calls": 3}}}
    assert ledger.name == "token_usage"
    assert [found.scope for found in databases.verify()] == ["token_usage"]
    path.write_bytes(path.read_bytes()[:-1])
    assert [found.reason for found in databases.verify()] == ["truncated"]
    assert databases.players() == ()


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
