"""A world for each test."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcsystem.storage import Databases

sys.path.insert(0, str(Path(__file__).parent))  # the test folders are no packages; `scopes` lies here


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return tmp_path / "world"


@pytest.fixture
def databases(world: Path) -> Iterator[Databases]:
    with_lock = Databases.open(world, write=True)
    yield with_lock
    with_lock.close()
