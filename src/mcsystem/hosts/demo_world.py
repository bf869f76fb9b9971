"""The demo world: filled once with the packaged documents, again only when a newer System brings other ones."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.hosts.control_client import PAUSE, WAIT_SECONDS, connect
from mcsystem.knowledge_import import import_demo
from mcsystem.storage import Database, Databases, Table


@dataclass(frozen=True, slots=True)
class DemoState:
    """Which demo documents a world was filled with: a digest of all of them."""

    digest: str


DEMO: Final = Table("system:demo", DemoState)
KEY: Final = "documents"


def is_demo(shared: Database) -> bool:
    """Whether this world was filled with the demo's documents before.

    Errors: STORAGE_*.
    """
    return shared.get(DEMO, KEY) is not None


def demo_is_current(shared: Database) -> bool:
    """Whether the demo's documents of this System went in before.

    Errors: STORAGE_*.
    """
    known = shared.get(DEMO, KEY)
    return known is not None and known.digest == packaged_digest()


def fill_demo(shared: Database) -> bool:
    """Bring in the demo's documents unless these went in before; what an admin removed since then stays removed.

    Returns: whether anything was done.

    Errors: STORAGE_*.
    """
    if demo_is_current(shared):
        return False
    import_demo(shared)
    shared.put(DEMO, KEY, DemoState(packaged_digest()))
    return True


def ensure_demo(world: Path) -> None:
    """Make the demo world when it is not there, and bring it up to date; another process may be doing just that.

    Errors: STORAGE_* where there is no demo world yet and none can be made.
    """
    until = time.monotonic() + WAIT_SECONDS
    while not (world.is_dir() and _with(world, demo_is_current, write=False)):
        try:
            _with(world, fill_demo, write=True)
        except AssistantError as error:
            if error.code is not ErrorCode.STORAGE_WORLD_LOCKED:
                if world.is_dir():
                    return  # an older demo on a disk that cannot be written still answers
                raise
            with connect(world, error.details.get("pid")) as holder:
                if holder is not None:
                    return  # somebody plays there and filled it
            if time.monotonic() >= until:
                raise
            time.sleep(PAUSE)


def _with(world: Path, job: Callable[[Database], bool], *, write: bool) -> bool:
    databases = Databases.open(world, write=write)
    try:
        return job(databases.shared())
    finally:
        databases.close()


def packaged_digest() -> str:
    """A digest over names and bytes of the packaged documents."""
    made = hashlib.blake2b(digest_size=16)
    _feed(made, files("mcsystem").joinpath("data", "demo"), "")
    return made.hexdigest()


def _feed(made: "hashlib.blake2b", folder: Traversable, above: str) -> None:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        name = f"{above}/{entry.name}"
        if entry.is_dir():
            _feed(made, entry, name)
        else:
            content = entry.read_bytes()
            made.update(f"{name}\n{len(content)}\n".encode())
            made.update(content)
