"""The disk fails in every way it can: the caller gets an error, the old value stays, memory equals the disk."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage import Databases, Table

HERE = Path(__file__).parent
NOTES = Table("example:notes", str)
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="a library is preloaded the Linux way")
WRITE_FAILED, READ_ONLY = "STORAGE_WRITE_FAILED", "STORAGE_READ_ONLY"
EXPECTED = {
    "full disk at open": (WRITE_FAILED, "No space left on device"),
    "read-only disk": (READ_ONLY, "Read-only file system"),
    "full disk at write": (WRITE_FAILED, "No space left on device"),
    "disk stays full": (WRITE_FAILED, "No space left on device"),
    "broken disk at write": (WRITE_FAILED, "Input/output error"),
    "half a write, then full": (WRITE_FAILED, "No space left on device"),
    "broken disk at fsync": (WRITE_FAILED, "Input/output error"),
    "fsync stays broken": (WRITE_FAILED, "Input/output error"),
    "quota at close": (WRITE_FAILED, "Disk quota exceeded"),
    "another file system": (WRITE_FAILED, "atomic move impossible"),
    "mounted file": (WRITE_FAILED, "atomic move impossible"),
    "broken disk at rename": (WRITE_FAILED, "Input/output error"),
    "rename not permitted": (READ_ONLY, "Permission denied"),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Every case, run in one process with the preloaded library."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler to build the fault library with")
    folder = tmp_path_factory.mktemp("faults")
    library = folder / "faults.so"
    source = str(HERE / "faults.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), source, "-ldl"], check=True, timeout=60)
    environ = {**os.environ, "LD_PRELOAD": str(library), "LC_ALL": "C"}
    command = [sys.executable, str(HERE / "fault_cases.py"), str(folder)]
    ran = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@linux_only
@pytest.mark.parametrize("name", EXPECTED)
def test_fault(results: dict[str, dict[str, Any]], name: str) -> None:
    """Error, old value on disk and in memory, no `.tmp` left, and the next put works."""
    result = results[name]
    assert (result["code"], result["reason"]) == EXPECTED[name]
    assert (result["k"], result["same"], result["tmp"], result["later"]) == ("old", True, False, "later")


@linux_only
def test_short_writes_are_gone_on_with(results: dict[str, dict[str, Any]]) -> None:
    """A disk that takes half of each write still gets the whole file."""
    result = results["half writes only"]
    assert (result["code"], result["k"], result["same"], result["later"]) == ("", "new", True, "later")


@linux_only
def test_folder_that_cannot_be_synced(results: dict[str, dict[str, Any]]) -> None:
    """After the move nobody knows what a power cut would leave: the caller gets an error, memory is read anew."""
    result = results["broken disk at folder fsync"]
    assert (result["code"], result["reason"]) == (WRITE_FAILED, "outcome unknown")
    assert (result["k"], result["same"], result["later"]) == ("new", True, "later")


@linux_only
def test_failed_read(results: dict[str, dict[str, Any]]) -> None:
    """A read that fails is an error of that moment; the file is read again at the next use."""
    assert results["broken disk at read"] == {"code": "STORAGE_READ_FAILED", "k": "old"}


FILE_LIMIT = """
import resource, sys
from pathlib import Path
from mcsystem.errors import AssistantError
from mcsystem.storage import Databases, Table

notes = Table("example:notes", str)
databases = Databases.open(Path(sys.argv[1]), write=True)
shared = databases.shared()
shared.put(notes, "k", "old")
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    shared.replace(notes, {str(number): str(number ** 40) for number in range(2000)})
except AssistantError as error:
    print(error.code.value, error.details["reason"])
assert shared.entries(notes) == {"k": "old"}
shared.put(notes, "small", "fits")
databases.close()
assert Databases.open(Path(sys.argv[1]), write=True).shared().entries(notes) == {"k": "old", "small": "fits"}
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_file_size_limit(tmp_path: Path) -> None:
    """A file that the system lets grow no further is an error like a full disk."""
    ran = subprocess.run([sys.executable, "-c", FILE_LIMIT, str(tmp_path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == "STORAGE_WRITE_FAILED File too large"


@linux_only
def test_small_disk(tmp_path: Path) -> None:
    """On a real disk of 8 KiB a write that does not fit is an error and the old value stays."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    mounted = tmp_path / "disk"
    mounted.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(mounted)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a tmpfs")
    try:
        path = mounted / "notes.dat"
        databases = Databases.open(tmp_path / "world", write=True)
        notes = databases.file(path, "notes")
        notes.put(NOTES, "k", "old")
        with pytest.raises(AssistantError) as caught:
            notes.replace(NOTES, {str(number): str(number**40) for number in range(2_000)})
        assert caught.value.code is ErrorCode.STORAGE_WRITE_FAILED
        assert notes.entries(NOTES) == {"k": "old"}
        assert [file.name for file in mounted.iterdir()] == ["notes.dat"]
        databases.close()
    finally:
        subprocess.run(["umount", str(mounted)], check=True)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows folders have no such rights")
def test_read_only_folder(tmp_path: Path) -> None:
    """A world that may not be written is a clear error at opening; for reading it opens."""
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(AssistantError) as caught:
            Databases.open(tmp_path, write=True)
        assert caught.value.code is ErrorCode.STORAGE_READ_ONLY
        assert Databases.open(tmp_path, write=False).shared().get(NOTES, "k") is None
    finally:
        tmp_path.chmod(0o700)


@linux_only
def test_read_only_mount(tmp_path: Path) -> None:
    """The same on a disk that is mounted read-only."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    mounted = tmp_path / "disk"
    mounted.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(mounted)], check=False).returncode:
        pytest.skip("this machine lets nobody mount a tmpfs")
    try:
        with pytest.raises(AssistantError) as caught:
            Databases.open(mounted, write=True)
        assert caught.value.code is ErrorCode.STORAGE_READ_ONLY
        assert Databases.open(mounted, write=False).shared().get(NOTES, "k") is None
    finally:
        subprocess.run(["umount", str(mounted)], check=True)
