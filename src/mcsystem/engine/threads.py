"""The workers: a bounded pool for everything that blocks, so that the loop never waits for a disk or an index."""

import asyncio
import gc
import sys
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, TypeVar

from mcsystem.errors import AssistantError, ErrorCode

T = TypeVar("T")

SLICE: Final = 0.001  # seconds a worker computes before the loop may go on


def favour_loop() -> None:
    """Keep the loop quick beside busy workers: short thread slices, and start-up objects out of garbage collections.

    Both are settings of the whole process and change nothing but timing; call once everything is loaded.
    """
    sys.setswitchinterval(min(sys.getswitchinterval(), SLICE))
    gc.collect()
    gc.freeze()


class Turns:
    """Lets few tasks go on in one turn of the loop, however many were woken at once, so that nothing else waits long.

    A file write that answers two hundred waiting players wakes two hundred tasks; without this they would all run
    before the loop looks at its sockets and timers again.
    """

    def __init__(self, *, at_once: int = 4) -> None:
        self._at_once = at_once
        self._used = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def take(self) -> None:
        """Go on at once when this turn has room, else in one of the next turns, first come first served."""
        loop = asyncio.get_running_loop()
        if self._used == 0 and not self._waiting:
            loop.call_soon(self._next, loop)
        if self._used < self._at_once and not self._waiting:
            self._used += 1
            return
        future: asyncio.Future[None] = loop.create_future()
        self._waiting.append(future)
        await future

    def _next(self, loop: asyncio.AbstractEventLoop) -> None:
        self._used = 0
        while self._waiting and self._used < self._at_once:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
                self._used += 1
        if self._used:
            loop.call_soon(self._next, loop)


class Workers:
    """A pool of threads with a bounded queue before it.

    Args:
        threads: threads that run at once.
        queue: jobs that may wait or run; one more is ENGINE_BUSY.
    """

    def __init__(self, *, threads: int, queue: int) -> None:
        self.turns: Final = Turns()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="mcsystem-worker")
        self._room = threading.BoundedSemaphore(queue)
        self._closed = False

    def submit(self, job: Callable[[], T]) -> "Future[T]":
        """Queue a job from any thread.

        Errors: ENGINE_BUSY when the queue is full; ENGINE_CLOSED.
        """
        if self._closed:
            raise AssistantError(ErrorCode.ENGINE_CLOSED)
        if not self._room.acquire(blocking=False):
            raise AssistantError(ErrorCode.ENGINE_BUSY)
        try:
            future = self._pool.submit(job)
        except RuntimeError as error:
            self._room.release()
            raise AssistantError(ErrorCode.ENGINE_CLOSED) from error
        future.add_done_callback(lambda _: self._room.release())
        return future

    async def run(self, job: Callable[[], T]) -> T:
        """Run a job on a worker and wait for it without blocking the loop; a cancelled wait drops the result.

        Errors: ENGINE_BUSY, ENGINE_CLOSED, and whatever the job raises.
        """
        result = await asyncio.wrap_future(self.submit(job))
        await self.turns.take()
        return result

    async def run_surely(self, job: Callable[[], T]) -> T:
        """As `run`, outside the bounded queue: for what must not be refused, such as writing down what was paid."""
        result = await asyncio.to_thread(job)
        await self.turns.take()
        return result

    def close(self) -> None:
        """Refuse new jobs, drop those that wait, and wait for those that run."""
        self._closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)
