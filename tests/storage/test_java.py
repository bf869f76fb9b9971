"""Java reads our files to the last byte, with the classes that Minecraft uses."""

import shutil
import subprocess
from pathlib import Path

import pytest

from mcsystem.storage import Database, Databases, Table

HERE = Path(__file__).parent
TEXTS = Table("example:texts", str)
MIXED = Table("example:mixed", list[int | str])
INT, STRING, LIST, COMPOUND = 3, 8, 9, 10


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that walks files."""
    compiler, java = shutil.which("javac"), shutil.which("java")
    if compiler is None or java is None:
        pytest.skip("no Java to read the files with")
    folder = tmp_path_factory.mktemp("java")
    subprocess.run([compiler, "-d", str(folder), str(HERE / "Walk.java")], check=True, timeout=100)
    return [java, "-cp", str(folder), "Walk"]


def filled(databases: Databases, name: str, count: int) -> Database:
    """A database of `count` texts, some written one by one."""
    database = databases.file(databases.world / f"{name}.dat", name)
    database.replace(TEXTS, {f"{number}": f"text {number} 领地 \U0001f3ae \0" for number in range(count)})
    database.put(MIXED, "mixed", [1, "two", 3])
    for number in range(0, count, max(1, count // 20)):
        database.put(TEXTS, f"{number}", f"again {number}")
    return database


def utf16_units(text: str) -> int:
    """The length of `text` in Java."""
    return len(text.encode("utf-16-le")) // 2


def test_java_reads_our_files(walk: list[str], tmp_path: Path) -> None:
    """Files of 0, 1 and 10,000 values: every value and every letter is there, and nothing is left over."""
    databases = Databases.open(tmp_path, write=True)
    made = [filled(databases, f"of{count}", count) for count in (0, 1, 10_000)]
    ran = subprocess.run(
        [*walk, *(str(it.scope.path) for it in made)], capture_output=True, text=True, timeout=100, check=False
    )
    assert ran.returncode == 0, ran.stderr
    for database, line in zip(made, ran.stdout.splitlines(), strict=True):
        *counts, letters = map(int, line.split())
        texts = database.entries(TEXTS)
        names = ["version", "tables", "example:mixed", "mixed", "", "", "", "two", *([TEXTS.id] if texts else [])]
        assert counts[STRING] == len(texts) + 1
        assert (counts[INT], counts[LIST], counts[COMPOUND]) == (3, 1, 6 + bool(texts))
        assert letters == sum(map(utf16_units, [*names, *texts, *texts.values()]))
    databases.close()
