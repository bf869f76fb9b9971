"""The lock of a world: one process writes it; the lock dies with its process."""

import os
import platform
import re
import sys
from pathlib import Path
from typing import Final

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage.atomic import CLOSE_ON_EXEC, NO_FOLLOW, make_folder, write_error

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

HELD_BYTE: Final = 1 << 30  # Windows locks bytes against reading too, so not one of the text's
HOLDER: Final = re.compile(r"pid (\d+) on (\S+)")


class WorldLock:
    """Held from construction to `close`.

    Args:
        path: the lock file; made when missing and never removed, since removing it would let two processes in.

    Errors: STORAGE_WORLD_LOCKED naming the holder; STORAGE_READ_ONLY, STORAGE_WRITE_FAILED.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            make_folder(path.parent)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | CLOSE_ON_EXEC | NO_FOLLOW, 0o644)
        except OSError as error:
            raise write_error(path, error) from error
        try:
            if not _take(self._file):
                raise self._locked()
            os.ftruncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, f"pid {os.getpid()} on {platform.node()}\n".encode())
        except AssistantError:
            os.close(self._file)
            raise
        except OSError as error:
            os.close(self._file)
            raise write_error(path, error) from error

    def close(self) -> None:
        """Give the world to the next process."""
        os.close(self._file)

    def _locked(self) -> AssistantError:
        holder = read_holder(self.path)
        pid, host = holder or (0, "")
        return AssistantError(ErrorCode.STORAGE_WORLD_LOCKED, path=str(self.path.parent), pid=pid, host=host)


def read_holder(path: Path) -> tuple[int, str] | None:
    """Process ID and host name of the last one who took the lock at `path`; None when it says nothing readable."""
    try:
        found = HOLDER.match(path.read_bytes()[:300].decode("utf-8", "replace"))
    except OSError:
        return None
    return (int(found[1]), found[2]) if found else None


if sys.platform == "win32":

    def _take(file: int) -> bool:
        os.lseek(file, HELD_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True
else:

    def _take(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
