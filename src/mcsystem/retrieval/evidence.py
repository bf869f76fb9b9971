"""Decides from evidence whether a found passage is a match for the question; docs/search.md has the measured curve."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mcsystem.retrieval.analysis import UNIT
from mcsystem.retrieval.question import Role, Unit

_GENERIC: Final = 0.3  # a generic word's weight as evidence
_PAIR: Final = 0.5  # pairs overlap: two of them say as much as one word
_BACKGROUND: Final = 200  # evidence is weighed as if so many other passages stood beside; keeps tiny collections sane
_HIT: Final = 0.5


@dataclass(frozen=True, slots=True)
class Rule:
    """The weights of the kinds of evidence; 0 is the border between a match and none.

    Attributes:
        start: the value without any evidence.
        amount: times the logarithm of (1 + weight found), rare and repeated words weighing most.
        coverage: times the share of the question's weight that is found.
        characters: times the share of the question's Chinese characters that is found, in pairs or not.
        title: times the share of the question's weight that the title path has.
    """

    start: float
    amount: float
    coverage: float
    characters: float
    title: float


# Fitted and checked by benchmarks/hits.py; the title's factor is set by hand, as the public sets have no titles.
WORDS_RULE: Final = Rule(start=-9.72, amount=3.71, coverage=4.90, characters=0.0, title=1.0)
CHINESE_RULE: Final = Rule(start=-8.47, amount=2.33, coverage=3.33, characters=5.07, title=1.0)


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
class Measures:
    """What one passage has of a question, in the numbers that the rule uses.

    Attributes:
        amount: weight found, less where a word stands once in a long passage; 0 or more.
        coverage: share of the question's weight that is found, 0..1.
        characters: share of the question's single Chinese characters that is found, 0..1.
        title: share of the question's weight that the title path has, 0..1.
        chinese: share of the question's weight that is Chinese, 0..1.
    """

    amount: float
    coverage: float
    characters: float
    title: float
    chinese: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a passage counts as a match or does not.

    Attributes:
        confidence: the rule's value between 0 and 1, comparable between indexes; a match from 0.5 on.
        measures: the numbers behind it.
        found: pieces of the question that the passage has, as they were typed.
        missing: pieces that it does not have.
        corrected: (typed, read as) of the mistyped words among the found ones.
    """

    confidence: float
    measures: Measures
    found: tuple[str, ...]
    missing: tuple[str, ...]
    corrected: tuple[tuple[str, str], ...]

    @property
    def hit(self) -> bool:
        """Whether the passage counts as a match."""
        return self.confidence >= _HIT


def inverse_frequency(size: int, frequency: int) -> float:
    """BM25's weight of a feature that `frequency` of `size` passages have."""
    return math.log(1 + (size - frequency + 0.5) / (frequency + 0.5))


def evidence_weight(unit: Unit, size: int, frequency: int) -> float:
    """The weight of a unit as evidence when `frequency` of `size` allowed passages have it."""
    return inverse_frequency(size + _BACKGROUND, frequency) * (_GENERIC if unit.generic else 1.0)


def weigh(sought: Sequence[Sought], row: Mapping[int, int]) -> Evidence:
    """Collect the evidence of one passage.

    Args:
        sought: the units of the question.
        row: the passage's feature ids with their weights in units of 1/65536.
    """
    measures = measure(sought, row)
    counted = [entry for entry in sought if entry.unit.role in _COUNTED]
    found = tuple(entry.typed for entry in counted if entry.body in row)
    missing = tuple(entry.typed for entry in counted if entry.body not in row)
    corrected = tuple(
        (entry.typed, entry.unit.text) for entry in counted if entry.body in row and entry.typed != entry.unit.text
    )
    return Evidence(confidence(measures), measures, found, missing, corrected)


def measure(sought: Sequence[Sought], row: Mapping[int, int]) -> Measures:
    """The numbers that the rule uses; see `weigh`."""
    whole = chinese = amount = covered = titled = parts = parts_found = 0.0
    for entry in sought:
        role, weight = entry.unit.role, entry.weight
        if role is Role.PART:
            parts += weight
            parts_found += weight if entry.body in row else 0.0
        if role not in _COUNTED:
            continue
        scale = 1.0 if role is Role.WORD else _PAIR
        whole += weight
        chinese += weight if role is not Role.WORD else 0.0
        if entry.body in row:
            covered += entry.credit * weight
            amount += entry.credit * weight * scale * row[entry.body] / UNIT
            titled += entry.credit * weight if any(title in row for title in entry.titles) else 0.0
    if whole == 0:
        return Measures(0.0, 0.0, 0.0, 0.0, 0.0)
    coverage = covered / whole
    characters = parts_found / parts if parts else coverage
    return Measures(amount, coverage, characters, titled / whole, chinese / whole)


def confidence(measures: Measures) -> float:
    """The rule: 0..1, a match from 0.5 on."""
    rule = CHINESE_RULE if measures.chinese >= 0.5 else WORDS_RULE  # noqa: PLR2004 - most of the question
    value = (
        rule.start
        + rule.amount * math.log1p(measures.amount)
        + rule.coverage * measures.coverage
        + rule.characters * measures.characters
        + rule.title * measures.title
    )
    return 1 / (1 + math.exp(-value))


_COUNTED: Final = frozenset((Role.WORD, Role.PAIR, Role.CHARACTER))
