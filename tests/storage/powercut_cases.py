"""Cuts the power of a loop device, in effect, while a process writes to it; prints the sums as JSON. Not a test itself.

The writer is stopped at a random moment and the device's image is copied: what the filesystem had not handed to the
device is missing from the copy. The copy is mounted (the journal is replayed) and compared with what was acknowledged.
Leave the folder sync out of the storage and about one cut in five loses its last write.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from mcsystem.storage import Databases, Table

COUNTS = Table("example:counts", int)
PAPERS = Table("example:papers", str)
SKIP = 77
IMAGE_MIB = 24


@contextmanager
def mounted(image: Path, folder: Path) -> Generator[Path, None, None]:
    """Mount an image for the length of a `with` block."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-o", "loop,commit=60", str(image), str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def write_until_stopped(world: Path, acknowledge: int) -> None:
    """Put numbers, acknowledging each when its put has returned."""
    shared = Databases.open(world, write=True).shared()
    shared.replace(PAPERS, {str(number): str(number) * 100 for number in range(100)})
    number = 0
    while True:
        number += 1
        shared.put(COUNTS, "n", number)
        os.write(acknowledge, f"{number}\n".encode())


def one_cut(folder: Path, chance: random.Random) -> tuple[int, int]:
    """The last number acknowledged before a cut, and the number found after it (-1 where the file is broken)."""
    image, copy = folder / "disk.img", folder / "copy.img"
    with image.open("wb") as file:
        file.truncate(IMAGE_MIB << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
    reader, writer = os.pipe()
    with mounted(image, folder / "disk") as disk:
        child = os.fork()
        if child == 0:
            os.close(reader)
            write_until_stopped(disk / "world", writer)
        os.close(writer)
        first = os.read(reader, 1 << 16)
        time.sleep(0.05 + chance.random() * 0.4)
        os.kill(child, signal.SIGSTOP)
        os.waitpid(child, os.WUNTRACED)
        shutil.copyfile(image, copy)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    with os.fdopen(reader, "rb") as rest:
        last = int((first + rest.read()).split(b"\n")[-2])
    with mounted(copy, folder / "after") as disk:
        databases = Databases.open(disk / "world", write=True)
        sound = all(found.ok for found in databases.verify())
        found = databases.shared().get(COUNTS, "n") if sound else -1
        databases.close()
    return last, found or 0


def main() -> None:
    """`powercut_cases.py FOLDER CUTS`."""
    folder, cuts = Path(sys.argv[1]), int(sys.argv[2])
    if subprocess.run(["losetup", "-f"], stdout=subprocess.DEVNULL, check=False).returncode:
        sys.exit(SKIP)
    chance = random.Random(5)
    total = {"cuts": 0, "acks": 0, "lost": 0}
    for _ in range(cuts):
        last, found = one_cut(folder, chance)
        total["cuts"] += 1
        total["acks"] += last
        total["lost"] += not last <= found <= last + 1
    sys.stdout.write(json.dumps(total))


main()
