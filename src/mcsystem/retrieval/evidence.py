"""Decides from evidence whether a found passage is a match for the question."""

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from mcsystem.retrieval.question import Role, Unit

_GENERIC: Final = 0.3
_THRESHOLD: Final = 0.5


@dataclass(frozen=True, slots=True)
class Sought:
    """A unit of the question with what the allowed passages know of it.

    Attributes:
        unit: the piece of the question; when it was mended, the known word.
        typed: the piece as it was typed.
        body: id of its body feature, or -1.
        titles: ids of its title features.
        weight: its weight as evidence.
        credit: 1, or how far a mended word is trusted.
    """

    unit: Unit
    typed: str
    body: int
    titles: tuple[int, ...]
    weight: float
    credit: float = 1.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a passage counts as a match or does not.

    Attributes:
        confidence: the rule's value, 0..1; a hit from 0.5 on.
        coverage: share of the question's weight that the passage has, 0..1.
        title: share that its title path has.
        rarest: weight of the rarest piece found as a share of the rarest piece asked for.
        found: pieces of the question that the passage has, as written in the question.
        missing: pieces that it does not have.
        corrected: (typed, read as) of mistyped words that it has.
    """

    confidence: float
    coverage: float
    title: float
    rarest: float
    found: tuple[str, ...]
    missing: tuple[str, ...]
    corrected: tuple[tuple[str, str], ...]

    @property
    def hit(self) -> bool:
        """Whether the passage counts as a match."""
        return self.confidence >= _THRESHOLD


def inverse_frequency(size: int, frequency: int) -> float:
    """BM25's weight of a feature that `frequency` of `size` passages have."""
    return math.log(1 + (size - frequency + 0.5) / (frequency + 0.5))


def evidence_weight(unit: Unit, size: int, frequency: int) -> float:
    """The weight of a unit as evidence."""
    return inverse_frequency(size, frequency) * (_GENERIC if unit.generic else 1.0)


def weigh(sought: Sequence[Sought], present: AbstractSet[int]) -> Evidence:
    """Collect the evidence of one passage.

    Args:
        sought: the units of the question.
        present: feature ids of the passage.
    """
    counted = [entry for entry in sought if entry.unit.role is not Role.SUPPORT]
    whole = sum(entry.weight for entry in counted)
    covered = titled = rarest = 0.0
    found: list[str] = []
    missing: list[str] = []
    corrected: list[tuple[str, str]] = []
    for entry in counted:
        if entry.body not in present:
            missing.append(entry.typed)
            continue
        covered += entry.credit * entry.weight
        rarest = max(rarest, entry.credit * entry.weight)
        titled += entry.weight if not present.isdisjoint(entry.titles) else 0.0
        found.append(entry.typed)
        if entry.typed != entry.unit.text:
            corrected.append((entry.typed, entry.unit.text))
    coverage = covered / whole if whole else 0.0
    title = titled / whole if whole else 0.0
    greatest = max((entry.weight for entry in counted), default=0.0)
    share = rarest / greatest if greatest else 0.0
    return Evidence(
        _confidence(coverage, title, share), coverage, title, share, tuple(found), tuple(missing), tuple(corrected)
    )


def _confidence(coverage: float, title: float, rarest: float) -> float:
    return 1 / (1 + math.exp(-(8 * coverage + 2 * title + rarest - 4.5)))
