"""What a look at one thing comes to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from mcsystem.errors import AssistantError, Detail


class Level(StrEnum):
    """How well one thing is."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report.

    Attributes:
        name: what was looked at, such as `disk`.
        level: how well it is.
        key: the sentence's language key is `doctor.<key>`, the fix's `doctor.<key>.fix` where the level is not ok.
        details: their slots.
        error: an error whose own sentence says what is wrong and what to do, instead of `key`.
    """

    name: str
    level: Level
    key: str
    details: Mapping[str, Detail] = field(default_factory=dict[str, Detail])
    error: AssistantError | None = None


def worst(checks: Sequence[Check]) -> Level:
    """The worst level of a report; ok when there is nothing to report."""
    order = list(Level)
    return max((check.level for check in checks), key=order.index, default=Level.OK)


def failed(name: str, error: AssistantError, *, level: Level = Level.ERROR) -> Check:
    """A check that ended in an error of ours."""
    return Check(name, level, "failed", error=error)
