"""What the tests of databases share: players, tables, where files lie, and the error of a call."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage import Table

ANNA, BEN = UUID(int=1), UUID(int=2)


@dataclass
class Place:
    """A value that can be changed."""

    name: str
    marks: list[int]


NOTES = Table("example:notes", str)
COUNTS = Table("example:counts", int)
PLACES = Table("example:places", Place)


def file_of(world: Path, player: UUID | None = None) -> Path:
    """Where a scope lies."""
    folder = world / "system" / "database"
    return folder / "shared.dat" if player is None else folder / "players" / f"{player}.dat"


def fails(code: ErrorCode, call: Any, *arguments: Any, **named: Any) -> AssistantError:
    """The error of a call, which must have this code."""
    with pytest.raises(AssistantError) as caught:
        call(*arguments, **named)
    assert caught.value.code is code
    return caught.value
