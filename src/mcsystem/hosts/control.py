"""The holder's side: while a process holds a world, other commands of the same account hand it their orders."""

import asyncio
import contextlib
import logging
import os
import secrets
import threading
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, Final

import msgspec

from mcsystem.engine.assistant import Assistant
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.hosts.control_protocol import (
    HANDSHAKE_LIMIT,
    HANDSHAKE_SECONDS,
    HOST,
    LINE_LIMIT,
    VERSION,
    Claim,
    Door,
    Failure,
    Greeting,
    Message,
    Welcome,
    is_proof,
    new_nonce,
    proof,
    remove_door,
    write_door,
)
from mcsystem.hosts.orders import Ask, Order, perform
from mcsystem.hosts.wire import pack
from mcsystem.ids import Player, Request
from mcsystem.knowledge_import import Progress

LOG: Final = logging.getLogger(__name__)
CONNECTIONS: Final = 32
UNREAD_LIMIT: Final = 65_536  # bytes of progress that a slow caller has not read; more is not told
TELL_SECONDS: Final = 0.1


@contextlib.asynccontextmanager
async def control(world: Path, assistant: Assistant) -> AsyncGenerator[Door | None]:
    """Take orders for `world` while the block runs; None where this machine lets us not listen, which harms nothing."""
    served = Control(assistant)
    try:
        server = await asyncio.start_server(served.connected, HOST, 0, limit=LINE_LIMIT, backlog=CONNECTIONS)
        served.door = Door(server.sockets[0].getsockname()[1], secrets.token_hex(32), os.getpid())
        await asyncio.to_thread(write_door, world, served.door)
    except OSError as error:
        LOG.warning("no control socket: %s", error.strerror)
        yield None
        return
    try:
        yield served.door
    finally:
        await asyncio.to_thread(remove_door, world, served.door)
        server.close()
        await served.close()


class Control:
    """Connections of callers, and what they ordered.

    Args:
        assistant: of the world that is held.
    """

    def __init__(self, assistant: Assistant) -> None:
        self.door = Door(0, "", 0)
        self._assistant = assistant
        self._tasks: set[asyncio.Task[None]] = set()
        self._one_at_a_time = asyncio.Lock()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one caller; whoever cannot prove to know the token is cut off without an answer."""
        task = asyncio.current_task()
        if task is None or len(self._tasks) >= CONNECTIONS:
            writer.close()
            return
        self._tasks.add(task)
        try:
            order = await self._admit(reader, writer)
            if order is not None:
                await self._serve(order, reader, writer)
        except (
            OSError,
            asyncio.IncompleteReadError,
            asyncio.LimitOverrunError,
            TimeoutError,
            msgspec.MsgspecError,
        ) as e:
            LOG.info("a control connection ended: %s", type(e).__name__)
        finally:
            self._tasks.discard(task)
            writer.close()

    async def close(self) -> None:
        """Stop what runs for callers."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Order | None:
        """The caller's order, None when they do not know the token."""
        async with asyncio.timeout(HANDSHAKE_SECONDS):
            greeting = Greeting(VERSION, new_nonce())
            await _send(writer, greeting)
            claim = msgspec.json.decode(await _line(reader, HANDSHAKE_LIMIT), type=Claim)
            nonces = {"greeting": greeting.nonce, "claim": claim.nonce}
            if not is_proof(claim.proof, proof(self.door.token, "caller", **nonces)):
                return None
            await _send(writer, Welcome(proof(self.door.token, "holder", **nonces)))
            try:
                return msgspec.json.decode(await _line(reader, LINE_LIMIT), type=Order)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                await _send(
                    writer, Message(error=Failure(ErrorCode.TOOL_ARGUMENTS_INVALID, {"tool": "control", "field": "-"}))
                )
                return None

    async def _serve(self, order: Order, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Do the order, as long as the caller stays."""
        work = asyncio.create_task(self._done(order, writer))
        gone = asyncio.create_task(reader.read(1))  # a caller says nothing more: bytes or the end both mean stop
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await _send(writer, await work)
        finally:
            gone.cancel()
            work.cancel()

    async def _done(self, order: Order, writer: asyncio.StreamWriter) -> Message:
        try:
            return Message(done=pack(await self._do(order, writer)))
        except AssistantError as error:
            return Message(error=Failure(error.code.value, dict(error.details)))
        except Exception:  # a bug of ours must not end the holder
            LOG.exception("an order over the control socket failed")
            return Message(error=Failure(ErrorCode.INTERNAL.value, {}))

    async def _do(self, order: Order, writer: asyncio.StreamWriter) -> Any:  # noqa: ANN401  # packed as JSON at once
        if isinstance(order, Ask):
            player = Player(order.player, order.name, order.language, order.permission)
            return await self._assistant.ask(Request(player, order.text, language=order.asked_in))
        stopped = threading.Event()
        teller = _Teller(asyncio.get_running_loop(), writer)
        databases = self._assistant.services.databases
        async with self._one_at_a_time:
            job = asyncio.create_task(
                asyncio.to_thread(perform, databases, order, tell=teller.tell, stop=stopped.is_set)
            )
            try:
                return await asyncio.shield(job)
            finally:
                stopped.set()
                await asyncio.wait({job})  # the thread sees it before the next file; nothing is half done


class _Teller:
    """Passes progress from a worker to the caller, at most ten times a second and never faster than it is read."""

    def __init__(self, loop: asyncio.AbstractEventLoop, writer: asyncio.StreamWriter) -> None:
        self._loop = loop
        self._writer = writer
        self._last = 0.0

    def tell(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._last >= TELL_SECONDS or progress.files == progress.total_files:
            self._last = now
            self._loop.call_soon_threadsafe(self._write, Message(progress=pack(progress)))

    def _write(self, message: Message) -> None:
        transport = self._writer.transport
        if not transport.is_closing() and transport.get_write_buffer_size() < UNREAD_LIMIT:
            self._writer.write(msgspec.json.encode(message) + b"\n")


async def _line(reader: asyncio.StreamReader, limit: int) -> bytes:
    line = await reader.readuntil(b"\n")
    if len(line) > limit:
        raise asyncio.LimitOverrunError("too long", len(line))
    return line


async def _send(writer: asyncio.StreamWriter, message: msgspec.Struct) -> None:
    writer.write(msgspec.json.encode(message) + b"\n")
    await writer.drain()
