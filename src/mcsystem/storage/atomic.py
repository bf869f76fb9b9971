"""Replaces a file whole or not at all, and says honestly which of the two is unknown."""

import errno
import os
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage.tags import MAX_BYTES

if sys.platform == "darwin":
    from fcntl import F_FULLFSYNC, fcntl

TMP_SUFFIX: Final = ".tmp"
READ_LIMIT: Final = MAX_BYTES + 1024 * 1024  # gzip adds a little to what it cannot shrink
NO_FOLLOW: Final[int] = getattr(os, "O_NOFOLLOW", 0)
CLOSE_ON_EXEC: Final[int] = getattr(os, "O_CLOEXEC", 0)
NO_WAIT: Final[int] = getattr(os, "O_NONBLOCK", 0)
BINARY: Final[int] = getattr(os, "O_BINARY", 0)
READ_ONLY_ERRORS: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
NO_MOVE_ERRORS: Final = frozenset({errno.EXDEV, errno.EBUSY, errno.ENOTSUP})
WINDOWS_BUSY: Final = frozenset({5, 32, 33})  # a virus scanner or an indexer holds the file
WINDOWS_WAITS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.4, 0.4, 0.4)


class UnknownOutcomeError(Exception):
    """The file was replaced but its folder could not be synced: after a power cut it may be the old or the new one."""


def tmp_of(path: Path) -> Path:
    """The file that a write of `path` goes through."""
    return path.with_name(path.name + TMP_SUFFIX)


def read_file(path: Path) -> bytes | None:
    """The bytes of a regular file, None when there is none. It is open only for as long as this takes.

    Errors: STORAGE_READ_FAILED (a folder, a link or a device too); STORAGE_CORRUPT when larger than any database.
    """
    try:
        file = os.open(path, os.O_RDONLY | NO_FOLLOW | CLOSE_ON_EXEC | NO_WAIT | BINARY)
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = "symlink" if error.errno == errno.ELOOP else _reason(error)
        raise AssistantError(ErrorCode.STORAGE_READ_FAILED, file=str(path), reason=reason) from error
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            reason = "folder" if stat.S_ISDIR(found.st_mode) else "not a file"
            raise AssistantError(ErrorCode.STORAGE_READ_FAILED, file=str(path), reason=reason)
        if found.st_size > READ_LIMIT:
            raise AssistantError(ErrorCode.STORAGE_CORRUPT, file=str(path), reason="too_large", offset=0)
        parts: list[bytes] = []
        while part := os.read(file, found.st_size + 1):
            parts.append(part)
        return b"".join(parts)
    except OSError as error:
        raise AssistantError(ErrorCode.STORAGE_READ_FAILED, file=str(path), reason=_reason(error)) from error
    finally:
        os.close(file)


def replace_file(path: Path, content: bytes) -> None:
    """Write `content` to `<name>.tmp` beside `path`, sync it, and move it over `path`; missing folders are made.

    Errors: STORAGE_READ_ONLY, STORAGE_WRITE_FAILED; `path` is as it was.

    Raises:
        UnknownOutcomeError: the new file is in place, yet the folder could not be synced.
    """
    tmp = tmp_of(path)
    try:
        make_folder(path.parent)
        _refuse_link(path)
        _write(tmp, content)
        _move(tmp, path)
    except OSError as error:
        with suppress(OSError):
            tmp.unlink()
        raise write_error(path, error) from error
    try:
        sync_folder(path.parent)
    except OSError as error:
        raise UnknownOutcomeError(str(error)) from error


def delete_file(path: Path) -> None:
    """Remove `path` and its `.tmp`, whatever they hold; nothing when there are none.

    Errors: STORAGE_READ_ONLY, STORAGE_WRITE_FAILED.
    """
    try:
        for gone in (tmp_of(path), path):
            gone.unlink(missing_ok=True)
        if path.parent.is_dir():
            sync_folder(path.parent)
    except OSError as error:
        raise write_error(path, error) from error


def drop_tmp(path: Path) -> bool:
    """Remove the left-over `.tmp` of a write that never finished; whether there was one. It is never read."""
    try:
        tmp_of(path).unlink()
    except OSError:
        return False  # the next write meets what is wrong and reports it
    return True


def make_folder(folder: Path) -> None:
    """Make `folder` and what is missing above it, each synced into its parent.

    Raises:
        OSError: as the system says.
    """
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable; Windows has no such call and orders its own journal.

    Raises:
        OSError: as the system says.
    """
    if sys.platform == "win32":
        return
    file = os.open(folder, os.O_RDONLY | CLOSE_ON_EXEC | os.O_DIRECTORY)
    try:
        _sync(file)
    finally:
        os.close(file)


def write_error(path: Path, error: OSError) -> AssistantError:
    """Our error for a failed write of `path`."""
    code = ErrorCode.STORAGE_READ_ONLY if error.errno in READ_ONLY_ERRORS else ErrorCode.STORAGE_WRITE_FAILED
    reason = "atomic move impossible" if error.errno in NO_MOVE_ERRORS else _reason(error)
    if error.errno == errno.ELOOP:
        reason = "symlink"
    return AssistantError(code, file=str(path), reason=reason)


def _reason(error: OSError) -> str:
    return "folder" if error.errno == errno.EISDIR else os.strerror(error.errno) if error.errno else str(error)


def _refuse_link(path: Path) -> None:
    """Replacing a link would leave the file it points to stale."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def _write(tmp: Path, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NO_FOLLOW | CLOSE_ON_EXEC | NO_WAIT | BINARY
    file = os.open(tmp, flags, 0o600)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(file, rest) :]
        _sync(file)
    finally:
        os.close(file)


def _sync(file: int) -> None:
    if sys.platform == "darwin":
        try:
            fcntl(file, F_FULLFSYNC)
        except OSError as error:
            if error.errno not in {errno.ENOTSUP, errno.EINVAL}:
                raise
        else:
            return
    os.fsync(file)


def _move(tmp: Path, path: Path) -> None:
    if sys.platform != "win32":
        tmp.replace(path)
        return
    for wait in WINDOWS_WAITS:
        try:
            tmp.replace(path)
        except OSError as error:
            if error.winerror not in WINDOWS_BUSY:
                raise
            time.sleep(wait)
        else:
            return
    tmp.replace(path)
