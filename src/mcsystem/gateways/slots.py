"""How many model calls run at once, and how many may wait for their turn."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Final

from mcsystem.errors import AssistantError, ErrorCode

WAITING: Final = 256


class Slots:
    """Places for calls that run at once; for one event loop.

    Args:
        places: calls at once.
        waiting: calls that may wait; one more is refused at once.
    """

    def __init__(self, places: int, *, waiting: int = WAITING) -> None:
        self._places = places
        self._free = asyncio.Semaphore(places)
        self._room = waiting + places
        self._inside = 0

    @contextlib.asynccontextmanager
    async def hold(self, *, until: float) -> AsyncGenerator[None]:
        """Hold one place; waits for it until the event loop time `until`.

        Errors: MODEL_BUSY.
        """
        if self._inside >= self._room:
            raise AssistantError(ErrorCode.MODEL_BUSY, limit=self._places)
        self._inside += 1
        try:
            if not await self._acquire(until):
                raise AssistantError(ErrorCode.MODEL_BUSY, limit=self._places)
            try:
                yield
            finally:
                self._free.release()
        finally:
            self._inside -= 1

    async def _acquire(self, until: float) -> bool:
        try:
            async with asyncio.timeout_at(until):
                return await self._free.acquire()
        except TimeoutError:
            return False
