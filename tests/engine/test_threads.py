"""Workers: a bounded queue, errors pass through, closing is clean."""

import asyncio
import threading

import pytest

from mcsystem.engine.threads import Workers
from mcsystem.errors import AssistantError, ErrorCode


def test_one_more_than_the_queue_is_busy_and_room_comes_back() -> None:
    """MOD-06: when the queue is full it says busy; afterwards it takes jobs again."""
    gate = threading.Event()
    workers = Workers(threads=1, queue=3)
    for _ in range(3):
        workers.submit(gate.wait)
    with pytest.raises(AssistantError) as caught:
        workers.submit(gate.wait)
    assert caught.value.code is ErrorCode.ENGINE_BUSY
    gate.set()
    assert asyncio.run(settled(workers))
    workers.close()


async def settled(workers: Workers) -> bool:
    for _ in range(500):
        try:
            await workers.run(lambda: None)
        except AssistantError:
            await asyncio.sleep(0.01)
        else:
            return True
    return False


def test_errors_pass_through_and_closed_workers_refuse() -> None:
    """A job's error reaches the one who waits; after closing there is a clear refusal."""
    workers = Workers(threads=2, queue=8)

    def fails() -> None:
        raise AssistantError(ErrorCode.STORAGE_CLOSED)

    async def main() -> None:
        with pytest.raises(AssistantError) as caught:
            await workers.run(fails)
        assert caught.value.code is ErrorCode.STORAGE_CLOSED

    asyncio.run(main())
    workers.close()
    with pytest.raises(AssistantError) as caught:
        workers.submit(fails)
    assert caught.value.code is ErrorCode.ENGINE_CLOSED
