"""The caller's side: hand an order to the process that holds the world, or take the world when nobody does."""

import contextlib
import socket
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.hosts.control_protocol import (
    HANDSHAKE_LIMIT,
    HANDSHAKE_SECONDS,
    HOST,
    LINE_LIMIT,
    VERSION,
    Claim,
    Greeting,
    Message,
    Welcome,
    is_proof,
    new_nonce,
    proof,
    read_door,
)
from mcsystem.hosts.orders import Order, Tell, WorldOrder, perform_here
from mcsystem.hosts.wire import unpack
from mcsystem.knowledge_import import Progress
from mcsystem.storage import Databases

T = TypeVar("T")
WAIT_SECONDS: Final = 10.0  # how long a command waits for another short one to be done with the world
PAUSE: Final = 0.1


def share(  # each says another thing about one order
    world: Path,
    order: Order,
    kind: type[T],
    *,
    here: Callable[[], T],
    tell: Tell | None = None,
    patience: float = WAIT_SECONDS,
) -> T:
    """What `here` returns when the world is free, else the holder's result of `order`.

    A holder that takes no orders is another short command: it is waited for.

    Args:
        world: the world's folder.
        order: the same thing as `here` does, for the holder.
        kind: type of the result.
        here: does it in this process; STORAGE_WORLD_LOCKED when another one holds the world.
        tell: called with the holder's progress.
        patience: seconds to wait for another command that takes no orders.

    Errors: STORAGE_WORLD_LOCKED naming the holder, and those of the order.
    """
    until = time.monotonic() + patience
    while True:
        try:
            return here()
        except AssistantError as error:
            if error.code is not ErrorCode.STORAGE_WORLD_LOCKED:
                raise
            with connect(world, error.details.get("pid")) as connection:
                if connection is not None:
                    return connection.order(order, kind, tell=tell)
            if time.monotonic() >= until:
                raise
        time.sleep(PAUSE)


def fulfil(world: Path, order: WorldOrder, kind: type[T], *, tell: Tell | None = None) -> T:
    """The result of an order on a world, whoever holds it; see `share`.

    Errors: STORAGE_WORLD_LOCKED naming the holder, and those of the order.
    """

    def here() -> T:
        done = perform_here(world, order, tell=tell)
        if not isinstance(done, kind):
            raise TypeError(f"an order made a {type(done).__name__}")
        return done

    return share(world, order, kind, here=here, tell=tell)


def wait_until_free(world: Path) -> None:
    """Wait for another short command to be done with a world; returns at once when a holder takes orders there.

    Whoever opens the world next may still find it locked, and then says by whom.
    """
    until = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until and world.is_dir():
        try:
            Databases.open(world, write=True).close()
        except AssistantError as error:
            with connect(world, error.details.get("pid")) as connection:
                if error.code is not ErrorCode.STORAGE_WORLD_LOCKED or connection is not None:
                    return
            time.sleep(PAUSE)
        else:
            return


@contextlib.contextmanager
def connect(world: Path, holder: object = None) -> Generator["Connection | None"]:
    """A connection to the process that holds a world, when it takes orders and proves that it wrote the door's file.

    Args:
        world: the world's folder.
        holder: process ID in the world's lock, when it is known; the door of another process is an old one.
    """
    door = read_door(world)
    if door is None or (holder is not None and holder != door.pid):
        yield None
        return
    try:
        line = socket.create_connection((HOST, door.port), timeout=HANDSHAKE_SECONDS)
    except OSError:
        yield None
        return
    with line:
        connection = Connection(line)
        yield connection if connection.prove(door.token) else None


class Connection:
    """An open connection to a holder."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._rest = b""

    def prove(self, token: str) -> bool:
        """Both sides prove that they know the token, without saying it; False when the other one does not."""
        try:
            greeting = msgspec.json.decode(self._read(HANDSHAKE_LIMIT), type=Greeting)
            nonces = {"greeting": greeting.nonce, "claim": new_nonce()}
            self._write(Claim(nonces["claim"], proof(token, "caller", **nonces)))
            welcome = msgspec.json.decode(self._read(HANDSHAKE_LIMIT), type=Welcome)
        except (OSError, EOFError, msgspec.MsgspecError):
            return False
        return greeting.mcsystem == VERSION and is_proof(welcome.proof, proof(token, "holder", **nonces))

    def order(self, order: Order, kind: type[T], *, tell: Tell | None = None) -> T:
        """The result of an order.

        Errors: those of the order; ENGINE_CLOSED when the holder ends before it answers.
        """
        self._line.settimeout(None)  # the holder keeps the request's own limits
        try:
            self._write(order)
            while True:
                message = msgspec.json.decode(self._read(LINE_LIMIT), type=Message)
                if message.error is not None:
                    raise AssistantError(ErrorCode(message.error.code), **message.error.details)
                if message.progress is None:
                    return unpack(message.done, kind)
                if tell is not None:
                    tell(unpack(message.progress, Progress))
        except (OSError, EOFError, ValueError, msgspec.MsgspecError) as error:
            raise AssistantError(ErrorCode.ENGINE_CLOSED) from error

    def _write(self, message: Any) -> None:  # noqa: ANN401  # one of our structs
        self._line.sendall(msgspec.json.encode(message) + b"\n")

    def _read(self, limit: int) -> bytes:
        while b"\n" not in self._rest:
            if len(self._rest) > limit:
                raise EOFError
            piece = self._line.recv(65_536)
            if not piece:
                raise EOFError
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        return line
