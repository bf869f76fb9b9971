"""Fixtures of the gateway tests: hostile servers, and a gateway over a real ledger in a temporary world."""

import logging
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the test folders are no packages; `hostile` and `bench` lie here

from bench import Bench
from hostile import Handler, HostileServer

from mcsystem.storage import Databases


@pytest.fixture
def serve() -> Generator[Callable[..., HostileServer]]:
    """Starts servers on loopback that behave as the given function does; stops them at the end."""
    servers: list[HostileServer] = []

    def start(handler: Handler, *, reads: bool = True) -> HostileServer:
        servers.append(HostileServer(handler, reads))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def bench(tmp_path: Path) -> Generator[Bench]:
    """A gateway over the real ledger of a temporary world."""
    databases = Databases.open(tmp_path / "world", write=True)
    yield Bench(databases)
    databases.close()


@pytest.fixture
def all_logs(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Everything that anybody logs, the HTTP library's finest included."""
    caplog.set_level(logging.DEBUG)
    for name in ("httpx2", "httpcore2", "asyncio", "mcsystem"):
        caplog.set_level(logging.DEBUG, logger=name)
    return caplog
