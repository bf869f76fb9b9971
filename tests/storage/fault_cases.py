"""Run with the preloaded library: each fault against one put; prints what came of it as JSON. Not a test itself."""

import ctypes
import errno
import json
import sys
from pathlib import Path

from mcsystem.errors import AssistantError
from mcsystem.storage import Databases, Table
from mcsystem.storage.atomic import tmp_of
from mcsystem.storage.container import read_tree

NOTES = Table("example:notes", str)
# name: call, error, good calls before it, stays broken
CASES = {
    "full disk at open": ("open", errno.ENOSPC, 0, 0),
    "read-only disk": ("open", errno.EROFS, 0, 1),
    "full disk at write": ("write", errno.ENOSPC, 0, 0),
    "disk stays full": ("write", errno.ENOSPC, 0, 1),
    "broken disk at write": ("write", errno.EIO, 0, 0),
    "half a write, then full": ("half", errno.ENOSPC, 0, 0),
    "broken disk at fsync": ("fsync", errno.EIO, 0, 0),
    "fsync stays broken": ("fsync", errno.EIO, 0, 1),
    "quota at close": ("close", errno.EDQUOT, 0, 0),
    "another file system": ("rename", errno.EXDEV, 0, 1),
    "mounted file": ("rename", errno.EBUSY, 0, 1),
    "broken disk at rename": ("rename", errno.EIO, 0, 0),
    "rename not permitted": ("rename", errno.EACCES, 0, 0),
    "half writes only": ("half", 0, 0, 1),
    "broken disk at folder fsync": ("fsyncdir", errno.EIO, 0, 0),
}
arm = ctypes.CDLL(None).fault_arm


def disk(path: Path) -> dict[str, object]:
    """What the file says, read without our memory."""
    tables = read_tree(path.read_bytes())["tables"]
    assert isinstance(tables, dict)
    notes = tables["example:notes"]
    assert isinstance(notes, dict)
    return dict(notes)


def play(world: Path, fault: tuple[str, int, int, int]) -> dict[str, object]:
    """One put under one fault, then one without."""
    databases = Databases.open(world, write=True)
    shared = databases.shared()
    shared.replace(NOTES, {"k": "old", "big": "x" * 60_000})
    call, error, skip, stays = fault
    arm(call.encode(), error, skip, stays)
    try:
        shared.put(NOTES, "k", "new")
        code, reason = "", ""
    except AssistantError as failed:
        code, reason = failed.code.value, str(failed.details["reason"])
    arm(b"", 0, 0, 0)
    path = shared.scope.path
    on_disk, in_memory, tmp_left = disk(path), shared.entries(NOTES), tmp_of(path).exists()
    shared.put(NOTES, "k", "later")
    databases.close()
    later = disk(path)["k"]
    same = on_disk == in_memory
    return {"code": code, "reason": reason, "k": on_disk["k"], "same": same, "tmp": tmp_left, "later": later}


def unreadable(world: Path) -> dict[str, object]:
    """A read that fails once is an error, and no reason to believe the file gone."""
    databases = Databases.open(world, write=True)
    databases.shared().put(NOTES, "k", "old")
    databases.close()
    databases = Databases.open(world, write=True)
    arm(b"read", errno.EIO, 0, 0)
    try:
        databases.shared().put(NOTES, "new", "x")
        code = ""
    except AssistantError as failed:
        code = failed.code.value
    arm(b"", 0, 0, 0)
    found = databases.shared().get(NOTES, "k")
    databases.close()
    return {"code": code, "k": found}


folder = Path(sys.argv[1])
results = {name: play(folder / str(number), fault) for number, (name, fault) in enumerate(CASES.items())}
results["broken disk at read"] = unreadable(folder / "read")
sys.stdout.write(json.dumps(results))
