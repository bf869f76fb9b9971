"""How two of our own processes talk over loopback: both prove that they read the world's token, then JSON lines."""

import hashlib
import hmac
import os
import secrets
from pathlib import Path
from typing import Any, Final

import msgspec

from mcsystem.errors import AssistantError, Detail
from mcsystem.storage.atomic import read_file

FILE: Final = Path("system", "control.json")
HOST: Final = "127.0.0.1"
VERSION: Final = 1
HANDSHAKE_LIMIT: Final = 1_024  # bytes of a line before both have proved themselves
LINE_LIMIT: Final = 1_048_576  # bytes of any other line
HANDSHAKE_SECONDS: Final = 5.0
FILE_LIMIT: Final = 4_096


class Door(msgspec.Struct, frozen=True):
    """Where the process that holds a world listens. Lies in a file that its own account alone can read."""

    port: int
    token: str
    pid: int


class Greeting(msgspec.Struct, frozen=True):
    """First line, from the holder."""

    mcsystem: int
    nonce: str


class Claim(msgspec.Struct, frozen=True):
    """Second line, from the caller: its own nonce and the proof that it knows the token."""

    nonce: str
    proof: str


class Welcome(msgspec.Struct, frozen=True):
    """Third line, from the holder: the proof that it knows the token too."""

    proof: str


class Failure(msgspec.Struct, frozen=True):
    """An error on its way to the caller."""

    code: str
    details: dict[str, Detail]


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """Any later line from the holder; exactly one field is set. The last one is `done` or `error`."""

    progress: Any = None  # Any: decoded by the caller, who knows what it ordered
    done: Any = None  # Any: as above
    error: Failure | None = None


def new_nonce() -> str:
    """A random word."""
    return secrets.token_hex(16)


def proof(token: str, side: str, *, greeting: str, claim: str) -> str:
    """What only somebody with the token can say about these two nonces; `side` is `caller` or `holder`."""
    return hmac.new(token.encode(), f"{side}\n{greeting}\n{claim}".encode(), hashlib.sha256).hexdigest()


def is_proof(given: str, expected: str) -> bool:
    """Whether the proof is right, in the same time for every wrong one."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def write_door(world: Path, door: Door) -> None:
    """Leave the door's file, readable by this account alone.

    Raises:
        OSError: where it cannot be written.
    """
    path = world / FILE
    tmp = path.with_name(path.name + ".tmp")
    tmp.unlink(missing_ok=True)
    handle = os.open(tmp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(msgspec.json.encode(door))
    tmp.replace(path)


def read_door(world: Path) -> Door | None:
    """The door of the process that holds this world; None when there is none that can be read."""
    try:
        content = read_file(world / FILE)  # a pipe or a device in its place is never waited for
        door = msgspec.json.decode(content[:FILE_LIMIT] if content else b"", type=Door)
    except (AssistantError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return door if 0 < door.port < 1 << 16 else None


def remove_door(world: Path, door: Door) -> None:
    """Take the file away if it still is this door's."""
    if read_door(world) == door:
        (world / FILE).unlink(missing_ok=True)
