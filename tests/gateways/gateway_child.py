"""Run as a process that is killed: asks the service named on the command line, one question after the other."""

import asyncio
import itertools
import sys
from pathlib import Path
from uuid import UUID

from mcsystem.gateways import Ledger, ModelCall, ModelGateway
from mcsystem.settings import ModelSettings
from mcsystem.storage import Databases


async def main(world: Path, url: str, start: int) -> None:
    """Print the number of each question when its answer is there."""
    databases = await asyncio.to_thread(lambda: Databases.open(world, write=True))
    ledger = Ledger(databases.file(world / "data" / "system" / "token_usage.dat", "token_usage"))
    await asyncio.to_thread(ledger.recover)
    settings = ModelSettings(base_url=url, api_key_environment="")
    gateway = ModelGateway(lambda: settings, ledger, concurrency=4, daily_calls=lambda: 1_000_000, environ={})
    for number in itertools.count(start):
        call = ModelCall("json", f"question {number}", "x", "w", UUID(int=1), 1000, 10, timeout=30.0)
        await gateway.ask(call, dict[str, int])
        print(number, flush=True)  # noqa: T201 - the parent reads it


asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
