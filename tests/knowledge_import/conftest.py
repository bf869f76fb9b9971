"""A world with its databases open, and a folder to import."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mcsystem.storage import Database, Databases


@pytest.fixture
def databases(tmp_path: Path) -> Iterator[Databases]:
    """The databases of a fresh world."""
    opened = Databases.open(tmp_path / "world", write=True)
    yield opened
    opened.close()


@pytest.fixture
def shared(databases: Databases) -> Database:
    """Its shared database."""
    return databases.shared()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder."""
    made = tmp_path / "docs"
    made.mkdir()
    return made
