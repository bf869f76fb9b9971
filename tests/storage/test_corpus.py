"""The shared corpus of edge and hostile files: each as its entry says, quickly and in little memory."""

import hashlib
import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage import Databases, Table
from mcsystem.storage.container import read_tree
from mcsystem.storage.tags import Byte, Float, IntArray, Long, LongArray, Short, Tree

DATA = Path(os.environ.get("MCSYSTEM_DATA") or Path(__file__).parents[3] / "shared" / "data") / "nbt"
NOTES = Table("example:notes", str)
KINDS: dict[type, str] = {
    bool: "byte",
    Byte: "byte",
    Short: "short",
    int: "int",
    Long: "long",
    str: "string",
    IntArray: "ints",
    LongArray: "longs",
}


def entries() -> list[Any]:
    """The corpus' entries; none where it is not at hand."""
    index = DATA / "index.json"
    return json.loads(index.read_text(encoding="utf-8"))["entries"] if index.is_file() else []


def typed(tree: Tree) -> list[Any]:  # noqa: PLR0911 - one line for each kind
    """A tree in the corpus' own form."""
    match tree:
        case Float():
            return ["float", struct.pack(">f", tree).hex() if tree.bits is None else f"{tree.bits:08x}"]
        case float():
            return ["double", struct.pack(">d", tree).hex()]
        case bytes():
            return ["bytes", tree.hex()]
        case dict():
            return ["compound", {key: typed(item) for key, item in tree.items()}]
        case list():
            return ["list", [typed(item) for item in tree]]
        case tuple():
            return [KINDS[type(tree)], list(tree)]
        case _:
            return [KINDS[type(tree)], int(tree) if isinstance(tree, int) else tree]


needs_corpus = pytest.mark.skipif(not entries(), reason="the corpus is not at hand; MCSYSTEM_DATA names its folder")


@needs_corpus
@pytest.mark.parametrize("entry", [pytest.param(it, id=it["file"]) for it in entries() if it["layer"] == "nbt"])
def test_file(entry: dict[str, Any]) -> None:
    """The codec gives the value or the reason that the entry states."""
    raw = (DATA / entry["file"]).read_bytes()
    expect = entry["expect"]
    if expect["result"] != "ok":
        with pytest.raises(AssistantError) as caught:
            read_tree(raw)
        assert (caught.value.code, caught.value.details["reason"]) == (ErrorCode.STORAGE_CORRUPT, expect["reason"])
        return
    root = read_tree(raw)
    if expect["value"] is not None:
        assert typed(root)[1] == expect["value"]


@needs_corpus
@pytest.mark.parametrize("entry", [pytest.param(it, id=it["file"]) for it in entries()])
def test_as_database(entry: dict[str, Any], tmp_path: Path) -> None:
    """As a world's shared database no file of the corpus is changed by reading, failing to write, or verifying."""
    raw = (DATA / entry["file"]).read_bytes()
    file = tmp_path / "system" / "database" / "shared.dat"
    file.parent.mkdir(parents=True)
    file.write_bytes(raw)
    databases = Databases.open(tmp_path, write=True)
    try:
        shared = databases.shared()
        try:
            shared.entries(NOTES)
            readable = True
        except AssistantError as error:
            assert error.code.value.startswith("STORAGE_")
            readable = False
        if entry["expect"]["result"] != "ok" and entry["layer"] == "nbt":
            assert not readable
            with pytest.raises(AssistantError):
                shared.put(NOTES, "k", "v")
        assert hashlib.sha256(file.read_bytes()).hexdigest() == entry["sha256"]
        databases.verify()
        assert hashlib.sha256(file.read_bytes()).hexdigest() == entry["sha256"]
    finally:
        databases.close()


LIMITS = """
import json, sys, time
from pathlib import Path
from mcsystem.errors import AssistantError
from mcsystem.storage.container import read_tree

worst = 0.0
for file in sys.argv[1:]:
    begin = time.process_time()
    try:
        read_tree(Path(file).read_bytes())
    except AssistantError:
        pass
    worst = max(worst, time.process_time() - begin)
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(json.dumps([worst, int(peak.split()[1])]))
"""


@needs_corpus
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process's own largest memory")
def test_limits() -> None:
    """No file costs more than a second of CPU, and all of them together no more than 300 MiB."""
    files = [str(DATA / entry["file"]) for entry in entries()]
    ran = subprocess.run([sys.executable, "-c", LIMITS, *files], check=True, capture_output=True, timeout=100)
    seconds, kibibytes = json.loads(ran.stdout)
    assert seconds < 1
    assert kibibytes / 1024 < 300
