"""Kills a writing process again and again and looks at what it left; prints the sums as JSON. Not a test itself."""

import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

from mcsystem.storage import Databases, Table
from mcsystem.storage.atomic import tmp_of

COUNTS = Table("example:counts", int)
PAPERS = Table("example:papers", str)
THREADS = 3


def write_until_killed(world: Path, round_: int, acknowledge: int) -> None:
    """Several threads count upwards; each number is acknowledged when its put has returned."""
    shared = Databases.open(world, write=True).shared()

    def count(thread: int) -> None:
        number = 0
        while True:
            number += 1
            shared.put(COUNTS, f"{round_}/{thread}", number)
            os.write(acknowledge, f"{thread} {number}\n".encode())

    for thread in range(THREADS):
        threading.Thread(target=count, args=(thread,), daemon=True).start()
    time.sleep(60)


def acknowledged(first: bytes, reader: int) -> dict[int, int]:
    """The last number of each thread that the dead process acknowledged."""
    last: dict[int, int] = {}
    with os.fdopen(reader, "rb") as rest:
        *lines, _ = (first + rest.read()).split(b"\n")
    for line in lines:
        thread, number = line.split()
        last[int(thread)] = int(number)
    return last


def one_round(world: Path, round_: int, chance: random.Random) -> dict[str, int]:
    """Start, kill, look: how many acknowledged writes there were, how many are lost, whether a `.tmp` was left."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        write_until_killed(world, round_, writer)
    os.close(writer)
    first = os.read(reader, 1 << 16)
    time.sleep(chance.random() * 0.12)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    last = acknowledged(first, reader)
    path = world / "system" / "database" / "shared.dat"
    tmp = tmp_of(path).exists()
    databases = Databases.open(world, write=True)
    counts = databases.shared().entries(COUNTS)
    lost = sum(counts.get(f"{round_}/{thread}", 0) < number for thread, number in last.items())
    torn = sum(counts.get(f"{round_}/{thread}", 0) > last.get(thread, 0) + 1 for thread in range(THREADS))
    broken = sum(not found.ok for found in databases.verify())
    papers_kept = len(databases.shared().keys(PAPERS)) == 300
    databases.close()
    return {"acks": sum(last.values()), "lost": lost + torn + broken + (not papers_kept), "tmp": int(tmp)}


def main() -> None:
    """`kill_cases.py WORLD ROUNDS`."""
    world, rounds = Path(sys.argv[1]), int(sys.argv[2])
    databases = Databases.open(world, write=True)
    databases.shared().replace(PAPERS, {str(number): str(number) * 100 for number in range(300)})
    databases.close()
    chance = random.Random(4)
    total = {"acks": 0, "lost": 0, "tmp": 0}
    for round_ in range(rounds):
        for name, found in one_round(world, round_, chance).items():
            total[name] += found
    sys.stdout.write(json.dumps(total))


main()
