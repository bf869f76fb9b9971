"""Storage beside its anchors in one process: one put into a full store, many puts at once, and the NBT codec.

Run `python benchmarks/storage.py [--small]`. The stores take turns, so that a busy machine disturbs all alike. `median`
is the wall time of one durable put, `CPU` its processor time; on a busy machine each fsync waits: trust CPU and ratios.
"""

import argparse
import gzip
import io
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import lmdb
import nbtlib
import rapidnbt

from mcsystem.storage import Databases, Table
from mcsystem.storage.atomic import replace_file
from mcsystem.storage.container import read_tree, write_tree
from mcsystem.storage.nbt import read_value
from mcsystem.storage.nbt_write import write_value

WORDS = ("claim", "land", "shop", "领地", "商店", "teleport", "传送", "event", "活动", "rules", "规则", "diamond")
THREADS = 64


@dataclass(frozen=True, slots=True)
class Paper:
    """A document of about 460 bytes."""

    title: str
    text: str
    language: str
    number: int


PAPERS = Table("example:papers", Paper)


def paper(number: int) -> Paper:
    """One of many that differ."""
    seed = number * 2654435761 % (1 << 32)
    text = " ".join(f"{WORDS[(seed >> place) % len(WORDS)]}{(seed * place) % 9973}" for place in range(34))
    return Paper(f"Paper {number}", text, "en_us", number)


class Store(Protocol):
    """What is measured of a store."""

    def fill(self, papers: Mapping[str, Paper]) -> None:
        """Store everything at once."""
        ...

    def put(self, key: str, value: Paper) -> None:
        """Store one value; durable on return."""
        ...

    def get(self, key: str) -> Paper:
        """Read one value."""
        ...

    def written(self) -> int:
        """Bytes on disk."""
        ...


class Ours:
    """This project's file backend."""

    def __init__(self, folder: Path) -> None:
        self.databases = Databases.open(folder, write=True)
        self.database = self.databases.shared()

    def fill(self, papers: Mapping[str, Paper]) -> None:
        """One commit."""
        self.database.replace(PAPERS, papers)

    def put(self, key: str, value: Paper) -> None:
        """One put."""
        self.database.put(PAPERS, key, value)

    def get(self, key: str) -> Paper:
        """One get."""
        found = self.database.get(PAPERS, key)
        assert found is not None
        return found

    def written(self) -> int:
        """The file."""
        return self.database.scope.path.stat().st_size


class WholeNbt:
    """The plain way: a tree in memory, encoded and compressed whole at each put, replaced as safely as ours."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "whole.dat"
        self.rows: dict[str, object] = {}

    def fill(self, papers: Mapping[str, Paper]) -> None:
        """One write."""
        self.rows = {key: asdict(value) for key, value in papers.items()}
        self._write()

    def put(self, key: str, value: Paper) -> None:
        """One write."""
        self.rows[key] = asdict(value)
        self._write()

    def get(self, key: str) -> Paper:
        """From memory."""
        return Paper(**self.rows[key])

    def written(self) -> int:
        """The file."""
        return self.path.stat().st_size

    def _write(self) -> None:
        replace_file(self.path, write_tree({"version": 1, "tables": {"example:papers": self.rows}}))


class Sqlite:
    """SQLite in WAL mode with full synchronisation, values as the same NBT bytes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "papers.db"
        self.connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute("PRAGMA synchronous=FULL")
        self.connection.execute("CREATE TABLE kv (k TEXT PRIMARY KEY, v BLOB) WITHOUT ROWID")

    def fill(self, papers: Mapping[str, Paper]) -> None:
        """One transaction."""
        self.connection.execute("BEGIN")
        rows = ((key, encoded(value)) for key, value in papers.items())
        self.connection.executemany("INSERT OR REPLACE INTO kv VALUES (?, ?)", rows)
        self.connection.execute("COMMIT")

    def put(self, key: str, value: Paper) -> None:
        """One transaction."""
        self.connection.execute("INSERT OR REPLACE INTO kv VALUES (?, ?)", (key, encoded(value)))

    def get(self, key: str) -> Paper:
        """One query."""
        return decoded(self.connection.execute("SELECT v FROM kv WHERE k = ?", (key,)).fetchone()[0])

    def written(self) -> int:
        """The file and its log."""
        return sum(path.stat().st_size for path in self.path.parent.glob("papers.db*"))


class Lmdb:
    """LMDB, synchronous, values as the same NBT bytes."""

    def __init__(self, folder: Path) -> None:
        self.environment = lmdb.open(str(folder / "lmdb"), map_size=1 << 28)
        self.folder = folder / "lmdb"

    def fill(self, papers: Mapping[str, Paper]) -> None:
        """One transaction."""
        with self.environment.begin(write=True) as transaction:
            for key, value in papers.items():
                transaction.put(key.encode(), encoded(value))

    def put(self, key: str, value: Paper) -> None:
        """One transaction."""
        with self.environment.begin(write=True) as transaction:
            transaction.put(key.encode(), encoded(value))

    def get(self, key: str) -> Paper:
        """One read."""
        with self.environment.begin() as transaction:
            return decoded(transaction.get(key.encode()))

    def written(self) -> int:
        """The used part of the file."""
        return (self.folder / "data.mdb").stat().st_size


def encoded(value: Paper) -> bytes:
    """A value as NBT bytes, by the same codec as ours."""
    return write_value(PAPERS.codec.encode(value)).data


def decoded(raw: bytes) -> Paper:
    """The value back."""
    return PAPERS.codec.decode(read_value(raw, plain=True))


STORES: Mapping[str, Callable[[Path], Store]] = {
    "ours (file)": Ours,
    "whole NBT file": WholeNbt,
    "SQLite WAL FULL": Sqlite,
    "LMDB": Lmdb,
}


def clocked(action: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor milliseconds of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return (time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000


def puts(folder: Path, count: int, rounds: int) -> None:
    """Print what one put costs in each store of `count` documents."""
    folder.mkdir()
    stores = {name: opened(folder) for name, opened in STORES.items()}
    for store in stores.values():
        store.fill({str(number): paper(number) for number in range(count)})
        store.put("0", paper(1))
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in stores}
    reads: dict[str, list[float]] = {name: [] for name in stores}
    for number in range(rounds):
        key = str(number * 7919 % count)
        for name, store in stores.items():
            value = paper(number + count)
            times[name].append(clocked(lambda store=store, key=key, value=value: store.put(key, value)))
            reads[name].append(clocked(lambda store=store, key=key: store.get(key))[0] * 1000)
    base = statistics.median(cpu for _, cpu in times["ours (file)"])
    print(f"\n{count} documents: one durable put ({rounds} each, in turns)")
    print(f"{'':18}{'median ms':>10}{'min ms':>9}{'CPU ms':>9}{'CPU ratio':>11}{'get us':>8}{'MB':>7}")
    for name, store in stores.items():
        wall = [found[0] for found in times[name]]
        cpu = statistics.median(found[1] for found in times[name])
        line = f"{name:18}{statistics.median(wall):10.2f}{min(wall):9.2f}{cpu:9.2f}{cpu / base:11.2f}"
        print(f"{line}{statistics.median(reads[name]):8.0f}{store.written() / 1e6:7.2f}")


def together(folder: Path, count: int) -> None:
    """Print what 64 concurrent puts cost ours, and a whole-file store that writes one after the other."""
    ours = Ours(folder / "together")
    ours.fill({str(number): paper(number) for number in range(count)})
    ours.put("0", paper(1))
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda number: ours.get(str(number)), range(THREADS)))  # the threads exist
        for label, size in (("one after the other", 1), (f"{THREADS} at once", THREADS)):
            begin = time.perf_counter()
            if size == 1:
                for number in range(THREADS):
                    ours.put(f"new {number}", paper(number))
            else:
                list(pool.map(lambda number: ours.put(f"newer {number}", paper(number)), range(THREADS)))
            print(f"{THREADS} puts, {label}: {(time.perf_counter() - begin) * 1000:.0f} ms in all")


def reopened(folder: Path) -> None:
    """Print what the first read and the first put cost after a restart."""
    ours = Ours(folder / "reopened")
    ours.fill({str(number): paper(number) for number in range(10_000)})
    ours.databases.close()
    again = Ours(folder / "reopened")
    print(f"after a restart: first get {clocked(lambda: again.get('5'))[1]:.0f} ms of CPU", end=", ")
    print(f"first put {clocked(lambda: again.put('5', paper(7)))[1]:.0f} ms")


def best(action: Callable[[], object], rounds: int) -> float:
    """Least processor milliseconds of several calls."""
    return min(clocked(action)[1] for _ in range(rounds))


def nbtlib_tree(value: object) -> object:
    """A plain tree in nbtlib's classes."""
    match value:
        case dict():
            return nbtlib.Compound({key: nbtlib_tree(item) for key, item in value.items()})
        case int():
            return nbtlib.Int(value)
        case _:
            return nbtlib.String(value)


def nbtlib_write(tree: Mapping[str, object]) -> bytes:
    """A plain tree written by nbtlib."""
    out = io.BytesIO()
    nbtlib.File(nbtlib_tree(tree)).write(out)
    return out.getvalue()


def codecs(count: int, rounds: int) -> None:
    """Print how fast plain Python trees become bytes and come back, uncompressed."""
    tree = {str(number): asdict(paper(number)) for number in range(count)}
    body = gzip.decompress(write_tree(tree))
    big, none = rapidnbt.NbtFileFormat.BIG_ENDIAN, rapidnbt.NbtCompressionType.NONE
    codec: Sequence[tuple[str, Callable[[], object], Callable[[], object]]] = (
        ("ours", lambda: write_value(tree), lambda: read_tree(body)),
        ("nbtlib", lambda: nbtlib_write(tree), lambda: nbtlib.File.parse(io.BytesIO(body)).unpack()),
        (
            "rapidnbt",
            lambda: rapidnbt.nbtio.dumps(rapidnbt.CompoundTag(tree), big, none),
            lambda: rapidnbt.nbtio.loads(body, big).to_dict(),
        ),
    )
    megabytes = len(body) / 1e6
    print(f"\nNBT codec, {megabytes:.2f} MB of {count} documents, Python values on both sides (best of {rounds})")
    print(f"{'':18}{'write MB/s':>11}{'read MB/s':>11}")
    for name, write, read in codec:
        print(f"{name:18}{megabytes / best(write, rounds) * 1000:11.1f}{megabytes / best(read, rounds) * 1000:11.1f}")


def main() -> None:
    """Print every table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--small", action="store_true", help="1,000 documents instead of 10,000")
    count = 1_000 if arguments.parse_args().small else 10_000
    with tempfile.TemporaryDirectory(dir=".") as folder:
        puts(Path(folder, "few"), 100, 60)
        puts(Path(folder, "many"), count, 30)
        print()
        together(Path(folder), count)
        reopened(Path(folder))
    codecs(count, 5)


if __name__ == "__main__":
    main()
