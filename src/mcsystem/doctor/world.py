"""The world: its folders, its disk, who holds it, whether every file decodes, and what it knows."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mcsystem.doctor.findings import Check, Level, failed
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.knowledge import KNOWLEDGE
from mcsystem.knowledge_import import imported_folders
from mcsystem.storage import Database, Databases, WorldLock

LEDGER_NAME: Final = "token_usage"
LOCK: Final = Path("system", "database", ".lock")
DATABASE: Final = Path("system", "database")
MEGABYTE: Final = 1_000_000
DISK_ERROR: Final = 64 * MEGABYTE  # less than the largest file a write needs beside the old one
# What `files` says of a file already.
TOLD: Final = frozenset({ErrorCode.STORAGE_CORRUPT, ErrorCode.STORAGE_NEWER_FORMAT, ErrorCode.STORAGE_READ_FAILED})
DISK_WARNING: Final = 1_000 * MEGABYTE


def check_folders(world: Path, config: Path, *, demo: bool) -> Iterator[Check]:
    """Whether the world and the config folder are there and may be written."""
    if world.is_dir():
        blocked = next((path for path in (world, world / "system", world / DATABASE) if _blocked(path)), None)
        if blocked is None:
            yield Check("world", Level.OK, "world", {"path": str(world)})
        else:
            yield Check("world", Level.ERROR, "world.rights", {"path": str(blocked)})
    elif world.exists():
        yield Check("world", Level.ERROR, "world.file", {"path": str(world)})
    elif demo:
        yield Check("world", Level.WARNING, "world.demo", {"path": str(world)})
    else:
        yield Check("world", Level.ERROR, "world.missing", {"path": str(world)})
    if config.exists() and not config.is_dir():
        yield Check("config", Level.ERROR, "config.file", {"path": str(config)})
    elif _blocked(existing(config)):
        yield Check("config", Level.WARNING, "config.rights", {"path": str(config)})
    else:
        yield Check("config", Level.OK, "config" if config.is_dir() else "config.new", {"path": str(config)})


def _blocked(path: Path) -> bool:
    return path.exists() and not (path.is_dir() and os.access(path, os.R_OK | os.W_OK | os.X_OK))


def existing(path: Path) -> Path:
    """The path itself or the nearest folder above it that is there."""
    return next((one for one in (path, *path.absolute().parents) if one.exists()), Path.cwd())


def check_disk(world: Path) -> Iterator[Check]:
    """Free space where the world lies."""
    try:
        free = shutil.disk_usage(existing(world)).free
    except OSError as error:
        reason = error.strerror or type(error).__name__
        yield failed("disk", AssistantError(ErrorCode.STORAGE_READ_FAILED, file=str(world), reason=reason))
        return
    details = {"free": free // MEGABYTE, "path": str(world)}
    if free < DISK_ERROR:
        yield Check("disk", Level.ERROR, "disk.full", details)
    elif free < DISK_WARNING:
        yield Check("disk", Level.WARNING, "disk.low", details)
    else:
        yield Check("disk", Level.OK, "disk", details)


def check_lock(world: Path, *, takes_orders: bool) -> Iterator[Check]:
    """Whether another process holds the world now, and whether commands can reach it."""
    if not (world / LOCK).is_file():
        return
    try:
        WorldLock(world / LOCK).close()
    except AssistantError as error:
        if error.code is not ErrorCode.STORAGE_WORLD_LOCKED:
            return  # the rights of the folder are told already
        if takes_orders:
            yield Check("lock", Level.OK, "lock.orders", error.details)
        else:
            yield Check("lock", Level.WARNING, "lock.held", error.details)
    else:
        yield Check("lock", Level.OK, "lock")


def check_databases(world: Path, ledger: Path) -> Iterator[Check]:
    """Whether every file decodes, and which languages have knowledge."""
    if not world.is_dir():
        return
    databases = Databases.open(world, write=False)
    try:
        yield from _files(databases, ledger)
        yield from _knowledge(databases.shared(), world)
    except AssistantError as error:
        yield failed("files", error)
    finally:
        databases.close()


def _files(databases: Databases, ledger: Path) -> Iterator[Check]:
    findings = databases.verify()
    for one in findings:
        if not one.ok:
            where = "-" if one.offset is None else one.offset
            details = {"file": str(one.path), "reason": one.reason or one.code, "offset": where}
            yield Check("files", Level.ERROR, "files.bad", details)
    if all(one.ok for one in findings):
        yield Check("files", Level.OK, "files", {"count": len(findings)})
    if ledger.exists():
        try:
            databases.file(ledger, LEDGER_NAME).tables()
        except AssistantError as error:
            yield failed("ledger", error)
        else:
            yield Check("ledger", Level.OK, "ledger", {"file": str(ledger)})


def _knowledge(shared: Database, world: Path) -> Iterator[Check]:
    try:
        languages = KNOWLEDGE.languages(shared)
        for language in languages:
            count = len(KNOWLEDGE.keys(shared, language))
            yield Check("knowledge", Level.OK, "knowledge", {"count": count, "knowledge_language": language})
        if not languages:
            yield Check("knowledge", Level.WARNING, "knowledge.none", {"path": str(world)})
        for collection, known in sorted(imported_folders(shared).items()):
            if not Path(known.folder).is_dir():
                details = {"folder": known.folder, "collection": collection}
                yield Check("knowledge", Level.WARNING, "knowledge.folder", details)
    except AssistantError as error:
        if error.code not in {
            ErrorCode.STORAGE_CORRUPT,
            ErrorCode.STORAGE_NEWER_FORMAT,
        }:  # those are told with the files
            yield failed("knowledge", error)
