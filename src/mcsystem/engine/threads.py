"""The workers: a bounded pool for everything that blocks, so that the loop never waits for a disk or an index."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from mcsystem.errors import AssistantError, ErrorCode

T = TypeVar("T")


class Workers:
    """A pool of threads with a bounded queue before it.

    Args:
        threads: threads that run at once.
        queue: jobs that may wait or run; one more is ENGINE_BUSY.
    """

    def __init__(self, *, threads: int, queue: int) -> None:
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
        return await asyncio.wrap_future(self.submit(job))

    def close(self) -> None:
        """Refuse new jobs, drop those that wait, and wait for those that run."""
        self._closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)
