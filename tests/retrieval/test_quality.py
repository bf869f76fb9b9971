"""Quality on a public set, and that building leaves the other threads their turns."""

import asyncio
import json
import os
import random
import threading
import time
from pathlib import Path

import pytest

from mcsystem.retrieval import Analysed, LexicalIndex, analyse

SOAK = bool(os.environ.get("MCSYSTEM_SOAK"))
DATA = Path(os.environ.get("MCSYSTEM_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data") / "text"
PASSAGES = 100_000 if SOAK else 2_000


@pytest.mark.parametrize(("language", "recall", "reciprocal"), [("en", 0.935, 0.958), ("zh", 0.935, 0.957)])
def test_quality_does_not_fall(language: str, recall: float, reciprocal: float) -> None:
    """Recall@1 and MRR@10 on xquad stay at the measured level (docs/search.md has all six sets and the anchor)."""
    base = DATA / "xquad"
    if not base.is_dir():
        pytest.skip(f"no text sets: set MCSYSTEM_DATA to the folder that holds text/xquad ({base} is not there)")
    passages = [json.loads(line) for line in (base / f"{language}.passages.jsonl").read_text("utf-8").splitlines()]
    questions = [json.loads(line) for line in (base / f"{language}.queries.jsonl").read_text("utf-8").splitlines()]
    index = LexicalIndex.build([analyse("", row["text"]) for row in passages])
    first = total = 0.0
    for row in questions:
        ids = [passages[hit.id]["id"] for hit in index.search(row["q"], limit=10)]
        first += ids[:1] == [row["doc"]]
        total += 1 / (ids.index(row["doc"]) + 1) if row["doc"] in ids else 0
    assert first / len(questions) >= recall
    assert total / len(questions) >= reciprocal


def made_up(count: int) -> list[Analysed]:
    chance = random.Random(1)
    words = ["".join(chance.choices("abcdefghijklmnop", k=chance.randint(3, 9))) for _ in range(30_000)]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    return [analyse("", " ".join(chance.choices(words, weights, k=60))) for _ in range(count)]


async def lateness(work: threading.Thread | None, seconds: float) -> float:
    """The most that a loop woke up too late, in seconds, while a thread worked or for a time."""
    worst, started = 0.0, time.perf_counter()
    if work is not None:
        work.start()
    while work.is_alive() if work is not None else time.perf_counter() - started < seconds:
        before = time.perf_counter()
        await asyncio.sleep(0.001)
        worst = max(worst, time.perf_counter() - before - 0.001)
    return worst


def test_building_on_a_worker_leaves_the_loop_its_turns() -> None:
    """The loop wakes at most 10 ms later than an idle one does; the best of five tries on a busy machine."""
    analysed = made_up(PASSAGES)
    tries: list[float] = []
    for _ in range(5):
        idle = asyncio.run(lateness(None, 0.3))
        work = threading.Thread(target=LexicalIndex.build, args=(analysed,), kwargs={"pause": lambda: time.sleep(0)})
        tries.append(asyncio.run(lateness(work, 0)) - idle)
        if tries[-1] < 0.010:
            return
    pytest.fail(f"the loop was late by {tries} seconds")


def test_the_pause_is_called_between_short_slices() -> None:
    """Many pauses, so that no slice is long: at least one for every few thousand features."""
    analysed = made_up(500)
    pauses: list[None] = []
    LexicalIndex.build(analysed, pause=lambda: pauses.append(None))
    assert len(pauses) >= sum(len(entry.features) for entry in analysed) // 8_192


def test_a_players_index_is_ready_at_once() -> None:
    """50 passages are indexed in under 5 ms (best of ten, processor time)."""
    analysed = made_up(50)
    best = 1.0
    for _ in range(10):
        started = time.process_time()
        LexicalIndex.build(analysed)
        best = min(best, time.process_time() - started)
    assert best < 0.005
