"""Run as a process that is killed: makes attempts for ever and says on stdout what is safely on disk."""

import sys
from pathlib import Path
from uuid import UUID

from mcsystem.gateways import AttemptState, Ledger, Usage
from mcsystem.storage import Databases


def main(world: Path) -> None:
    """Reserve, send and finish one attempt after the other; each line on stdout is a promise already kept."""
    databases = Databases.open(world, write=True)
    ledger = Ledger(databases.file(world / "data" / "system" / "token_usage.dat", "token_usage"))
    ledger.recover()
    while True:
        attempt = ledger.new(player=UUID(int=7), workflow="system:question", service="s", model="m")
        ledger.reserve(attempt, limit=1_000_000)
        print("reserved", attempt.id, flush=True)  # noqa: T201 - the parent reads it
        ledger.sent(attempt)
        print("sent", attempt.id, flush=True)  # noqa: T201 - the parent reads it
        ledger.finish(attempt, AttemptState.SUCCESS, usage=Usage(3, 4, 7))
        print("success", attempt.id, flush=True)  # noqa: T201 - the parent reads it


main(Path(sys.argv[1]))
