"""Commands in an empty home, and beside a world that knows something."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the test folders are no packages; `machine` lies here

from machine import Commands


@pytest.fixture
def mcsystem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Commands:
    """Commands in an empty home."""
    return Commands(tmp_path, capsys)


@pytest.fixture
def lighthouse(mcsystem: Commands) -> Commands:
    """Commands beside a world that knows about a lighthouse, the default world of this folder."""
    mcsystem.learn("harbour.md", "# Lighthouse\n\nThe lighthouse at the harbour is open from dusk until dawn.")
    mcsystem.environ["MCSYSTEM_WORLD"] = str(mcsystem.world)
    return mcsystem
