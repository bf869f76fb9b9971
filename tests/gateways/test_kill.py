"""A process that dies in the middle of paid calls: everything that reached the service is in the ledger."""

import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from bench import Bench
from hostile import Handler, HostileServer, Peer, chat, response

from mcsystem.storage import Databases

ROUNDS = 40 if os.environ.get("MCSYSTEM_SOAK") else 3


def number_of(body: bytes) -> int:
    found = re.search(rb"question (\d+)", body)
    assert found is not None
    return int(found[1])


def counting(peer: Peer) -> None:
    """Answers with the question's own number as its tokens, so that each row can be told apart."""
    number = number_of(peer.server.requests[-1].body)
    usage = {"prompt_tokens": number, "completion_tokens": 1, "total_tokens": number + 1}
    peer.send(response(chat('{"n": 1}', usage=usage)))


def test_kill_nine_loses_no_call_that_reached_the_service(
    tmp_path: Path, serve: Callable[[Handler], HostileServer]
) -> None:
    """Answered calls stand with their exact tokens, the rest as unknown, and at most one row a kill has no request."""
    world, draw = tmp_path / "world", random.Random(3)
    server = serve(counting)
    child = str(Path(__file__).with_name("gateway_child.py"))
    answered: set[int] = set()
    for turn in range(1, ROUNDS + 1):
        command = [sys.executable, child, str(world), server.url, str(turn * 1000)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for _ in range(draw.randrange(1, 8)):
                answered.add(int(process.stdout.readline()))
            process.kill()
            answered.update(int(line) for line in process.stdout.read().splitlines() if len(line) == len(f"{turn}000"))
    databases = Databases.open(world, write=True)
    ledger = Bench(databases).ledger
    ledger.recover()
    rows = ledger.attempts()
    databases.close()
    exact = {row.prompt for row in rows if row.state.value == "success"}
    assert answered <= exact <= {number_of(request.body) for request in server.requests}
    assert {row.state.value for row in rows} <= {"success", "unknown"}
    assert len(server.requests) <= len(rows) <= len(server.requests) + ROUNDS
