"""Many players ask at once with a scripted one-second model: all answered, the loop never blocked, memory bounded.

Anchor: a bare `asyncio.gather` of as many one-second sleeps with the same probe beside it, in the same process.
"""

import argparse
import asyncio
import json
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from mcsystem.app import Plan, open_assistant
from mcsystem.cards import Status
from mcsystem.engine.assistant import Assistant
from mcsystem.ids import Player, Request, offline_uuid
from mcsystem.knowledge import KNOWLEDGE, Audience, Document
from mcsystem.storage import Databases
from mcsystem.testing import MODEL_KEY, RecordingHost, ScriptedModel

ANSWER = json.dumps({"answered": True, "claims": [{"text": "Use a golden shovel.", "sources": [1]}]})
PROBE = 0.002
LATE = 20.0  # milliseconds


async def probe(late: list[float]) -> None:
    """Measure how much later than wanted the loop comes back, until cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + PROBE
        await asyncio.sleep(PROBE)
        late.append((loop.time() - due) * 1000)


def learn(world: Path, documents: int) -> None:
    """Fill the shared knowledge."""
    databases = Databases.open(world, write=True)
    found = [
        Document(
            f"d{n}.md",
            "en_us",
            f"Topic {n}",
            f"# Topic {n}\n\nTo claim land number {n} hold a shovel.\n",
            everyone,
            "b",
        )
        for n in range(documents)
        if (everyone := Audience.everyone())
    ]
    KNOWLEDGE.replace(databases.shared(), "en_us", found)
    databases.close()


def submit_all(assistant: Assistant, players: list[Player]) -> None:
    """Submit one question of each player, as a host's own thread does."""
    for player in players:
        assistant.submit(Request(player, "/question how do I claim land number 7"))


async def asked(folder: Path, players: int, delay: float, rounds: int) -> tuple[list[float], int, float]:
    """Let everybody ask at once; returns loop delays in ms, answered cards, seconds in all."""
    config = folder / "config"
    config.mkdir(parents=True, exist_ok=True)
    limits = {"limits": {"concurrentModelCalls": 256, "queue": 2048}}
    (config / "system-agent.json").write_text(json.dumps(limits), encoding="utf-8")
    host = RecordingHost()
    late: list[float] = []
    async with open_assistant(
        Plan(folder / "world", config, discover=False, environ={MODEL_KEY: "sk-x"}), host
    ) as assistant:
        assistant.services.gateway.use(ScriptedModel(lambda _: ANSWER, delay=delay))
        everybody = [Player(offline_uuid(f"P{n}"), f"P{n}", "en_us") for n in range(players)]
        await assistant.ask(Request(everybody[0], "/question claim land number 7"))
        watcher = asyncio.create_task(probe(late))
        began = time.perf_counter()
        answered = 0
        for _ in range(rounds):
            host.delivered.clear()
            await asyncio.to_thread(submit_all, assistant, everybody)
            while sum(card.status is not Status.NOTICE for _, card in host.delivered) < players:  # noqa: ASYNC110  # a plain host
                await asyncio.sleep(0.02)
            answered += sum(card.status is Status.ANSWERED for _, card in host.delivered)
        seconds = time.perf_counter() - began
        watcher.cancel()
    return late, answered, seconds


async def anchor(players: int, delay: float) -> list[float]:
    """The same probe beside sleeps alone."""
    late: list[float] = []
    watcher = asyncio.create_task(probe(late))
    await asyncio.gather(*(asyncio.sleep(delay) for _ in range(players)))
    watcher.cancel()
    return late


def percentile(values: list[float], share: float) -> float:
    """A percentile of the values."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main() -> int:
    """Print the table; the exit code says whether every bar was met."""
    options = argparse.ArgumentParser()
    options.add_argument("--players", type=int, default=200)
    options.add_argument("--documents", type=int, default=500)
    options.add_argument("--delay", type=float, default=1.0)
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "world").mkdir()
        learn(folder / "world", given.documents)
        idle = asyncio.run(anchor(given.players, given.delay))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        late, answered, seconds = asyncio.run(asked(folder, given.players, given.delay, given.rounds))
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    at_p99 = percentile(late, 0.99)
    wanted = given.players * given.rounds
    rows = [
        ("answered", f"{answered} of {wanted}", answered == wanted),
        ("seconds per round", f"{seconds / given.rounds:.2f} (model {given.delay:.1f})", True),
        ("loop late, median", f"{statistics.median(late):.2f} ms (idle {statistics.median(idle):.2f})", True),
        ("loop late, p99", f"{at_p99:.2f} ms (idle {percentile(idle, 0.99):.2f}), bar 20", at_p99 <= LATE),
        ("loop late, worst", f"{max(late):.2f} ms (idle {max(idle):.2f})", True),
        ("memory grown", f"{(after - before) / 1024:.0f} MiB, bar 200", after - before < 200 * 1024),
    ]
    for label, value, passed in rows:
        print(f"{'ok  ' if passed else 'MISS'} {label:20} {value}")
    return 0 if all(passed for _, _, passed in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
