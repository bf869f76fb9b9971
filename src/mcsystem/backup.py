"""A whole world's data in one file and back: databases, usage ledger and config, each file checked by its digest."""

import hashlib
import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage import WorldLock
from mcsystem.storage.atomic import (
    UnknownOutcomeError,
    make_folder,
    read_file,
    replace_file,
    sync_folder,
    write_error,
)

FORMAT: Final = 1
MANIFEST: Final = "mcsystem-backup.json"
MANIFEST_LIMIT: Final = 16 * 1024 * 1024
FILE_LIMIT: Final = 128 * 1024 * 1024
DATABASE: Final = Path("system", "database")
ASIDE: Final = Path("system", "before-restore")
STAGING: Final = Path("system", "restoring")
# What a backup may hold, and nothing else: no name leads anywhere but to its own place, and none holds code.
NAMES: Final = re.compile(
    r"database/shared\.dat|database/players/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.dat|ledger/token_usage\.dat"
    r"|config/(?:[\w-][\w.-]{0,99}/){0,4}[\w-][\w.-]{0,99}\.(?:json|txt)"
)
_NOT_A_BACKUP: Final = (
    zipfile.BadZipFile,
    zlib.error,
    msgspec.MsgspecError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    EOFError,
    ValueError,
)


class Entry(msgspec.Struct, frozen=True):
    """One file of a backup: its name in it, its size in bytes and its digest."""

    name: str
    size: int
    digest: str


class Manifest(msgspec.Struct, frozen=True):
    """What a backup says of itself; the first file in it."""

    format: int
    files: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Belongings:
    """Where a world's data lies.

    Attributes:
        world: the world's folder.
        config: the config folder.
        ledger: the usage ledger's file.
    """

    world: Path
    config: Path
    ledger: Path

    def place(self, name: str) -> Path:
        """Where the file with this name in a backup belongs."""
        kind, _, rest = name.partition("/")
        return {"database": self.world / DATABASE / rest, "config": self.config / rest, "ledger": self.ledger}[kind]

    def files(self) -> Iterator[tuple[str, Path]]:
        """Every file that is there, by its name in a backup."""
        if self.ledger.is_file():
            yield "ledger/token_usage.dat", self.ledger
        for kind, folder in (("database", self.world / DATABASE), ("config", self.config)):
            for path in sorted(folder.rglob("*")):
                name = f"{kind}/{path.relative_to(folder).as_posix()}"
                if path.is_file() and not path.is_symlink() and NAMES.fullmatch(name):
                    yield name, path

    @property
    def has_data(self) -> bool:
        """Whether there is a database or a ledger already."""
        return any(not name.startswith("config/") for name, _ in self.files())


def backup(belongings: Belongings, target: Path) -> Manifest:
    """Write everything to `target`, a zip file, whole or not at all. Takes no lock: files are replaced whole.

    A file that does not decode goes in as it is.

    Errors: STORAGE_READ_FAILED, STORAGE_WRITE_FAILED, STORAGE_READ_ONLY.
    """
    kept = [(name, content) for name, path in belongings.files() if (content := read_file(path)) is not None]
    manifest = Manifest(FORMAT, tuple(Entry(name, len(content), _digest(content)) for name, content in kept))
    tmp = target.with_name(target.name + ".tmp")
    try:
        with os.fdopen(os.open(tmp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
            with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
                archive.writestr(zipfile.ZipInfo(MANIFEST), msgspec.json.encode(manifest))
                for name, content in kept:
                    archive.writestr(zipfile.ZipInfo(name), content)
            stream.flush()
            os.fsync(stream.fileno())
        tmp.replace(target)
    except OSError as error:
        with suppress(OSError):
            tmp.unlink()
        raise write_error(target, error) from error
    return manifest


def restore(belongings: Belongings, source: Path) -> Manifest:
    """Put a backup's data in place of the world's. What was there is moved to `system/before-restore` first.

    Everything is read, checked and written beside the data before anything of it is touched; what fails in the middle
    of the exchange is taken back. Config files that are there are never overwritten.

    Errors: STORAGE_READ_FAILED, STORAGE_CORRUPT, STORAGE_NEWER_FORMAT for the backup; STORAGE_WORLD_LOCKED;
    STORAGE_WRITE_FAILED, STORAGE_READ_ONLY.
    """
    _read(source, lambda _name, _content: None)
    lock = WorldLock(belongings.world / DATABASE / ".lock")
    staging = belongings.world / STAGING
    try:
        shutil.rmtree(staging, ignore_errors=True)
        make_folder(staging)
        staged: dict[str, Path] = {}

        def keep(name: str, content: bytes) -> None:
            staged[name] = staging / str(len(staged))
            _written(staged[name], content)

        manifest = _read(source, keep)
        _exchange(belongings, staged)
    except OSError as error:
        raise write_error(belongings.world, error) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        lock.close()
    return manifest


def _read(source: Path, keep: Callable[[str, bytes], None]) -> Manifest:
    """Check every file of the backup and hand it on; one file is held in memory at a time."""
    try:
        with zipfile.ZipFile(source) as archive:
            manifest = msgspec.json.decode(_member(archive, MANIFEST, MANIFEST_LIMIT), type=Manifest)
            if manifest.format > FORMAT:
                raise AssistantError(
                    ErrorCode.STORAGE_NEWER_FORMAT, file=str(source), version=manifest.format, supported=FORMAT
                )
            for entry in manifest.files:
                keep(entry.name, _checked(archive, entry, source))
    except FileNotFoundError as error:
        raise AssistantError(ErrorCode.STORAGE_READ_FAILED, file=str(source), reason="missing") from error
    except OSError as error:
        reason = error.strerror or "unreadable"
        raise AssistantError(ErrorCode.STORAGE_READ_FAILED, file=str(source), reason=reason) from error
    except _NOT_A_BACKUP as error:
        raise _corrupt(source, "not a backup") from error
    return manifest


def _written(path: Path, content: bytes) -> None:
    try:
        replace_file(path, content)
    except UnknownOutcomeError as error:
        raise AssistantError(ErrorCode.STORAGE_WRITE_FAILED, file=str(path), reason="not synced") from error


def _exchange(belongings: Belongings, staged: dict[str, Path]) -> None:
    """Move the data that is there aside and the staged files in; every move is taken back when one fails."""
    moved: list[tuple[Path, Path]] = []
    aside = _free_folder(belongings.world / ASIDE)
    there = [(path, aside / name) for name, path in belongings.files() if not name.startswith("config/")]
    wanted = [(path, belongings.place(name)) for name, path in staged.items()]
    try:
        for source, target in [*there, *wanted]:
            if target.exists():  # a config file of this server stays
                continue
            make_folder(target.parent)
            source.replace(target)
            moved.append((source, target))
        for folder in {target.parent for _, target in moved}:
            sync_folder(folder)
    except OSError:
        for source, target in reversed(moved):
            target.replace(source)
        raise


def _free_folder(above: Path) -> Path:
    number = 1
    while (above / str(number)).exists():
        number += 1
    return above / str(number)


def _checked(archive: zipfile.ZipFile, entry: Entry, source: Path) -> bytes:
    if not NAMES.fullmatch(entry.name) or not 0 <= entry.size <= FILE_LIMIT:
        raise _corrupt(source, "a file that does not belong there")
    content = _member(archive, entry.name, entry.size)
    if len(content) != entry.size or _digest(content) != entry.digest:
        raise _corrupt(source, f"checksum of {entry.name}")
    return content


def _member(archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    with archive.open(name) as stream:
        return stream.read(limit + 1)[: limit + 1]


def _corrupt(source: Path, reason: str) -> AssistantError:
    return AssistantError(ErrorCode.STORAGE_CORRUPT, file=str(source), reason=reason, offset=0)


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=32).hexdigest()
