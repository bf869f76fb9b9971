"""Decides from evidence whether a found passage is a match for the question; docs/search.md has the measured curve."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

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


class Sought(msgspec.Struct, frozen=True, gc=False):
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


class Measures(msgspec.Struct, frozen=True, gc=False):
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


class Scale(msgspec.Struct, frozen=True, gc=False):
    """A question's units sorted by what they are worth, and their weights together: the same for every passage.

    Attributes:
        counted: words, pairs and single characters.
        parts: characters inside pairs.
        whole: weight of the counted ones.
        parts_whole: weight of the parts.
        chinese: share of the counted weight that is Chinese.
    """

    counted: tuple[Sought, ...]
    parts: tuple[Sought, ...]
    whole: float
    parts_whole: float
    chinese: float

    @classmethod
    def of(cls, sought: Sequence[Sought]) -> "Scale":
        """Sort the units of a question."""
        counted = tuple(entry for entry in sought if entry.unit.role in _COUNTED)
        parts = tuple(entry for entry in sought if entry.unit.role is Role.PART)
        whole = sum(entry.weight for entry in counted)
        chinese = sum(entry.weight for entry in counted if entry.unit.role is not Role.WORD)
        parts_whole = sum(entry.weight for entry in parts)
        return cls(counted, parts, whole, parts_whole, chinese / whole if whole else 0.0)


def weigh(scale: Scale, row: Mapping[int, int]) -> Evidence:
    """Collect the evidence of one passage.

    Args:
        scale: the question.
        row: the passage's feature ids with their weights in units of 1/65536.
    """
    amount = covered = titled = 0.0
    found: list[str] = []
    missing: list[str] = []
    corrected: list[tuple[str, str]] = []
    for entry in scale.counted:
        if entry.body not in row:
            missing.append(entry.typed)
            continue
        found.append(entry.typed)
        weight = entry.credit * entry.weight
        covered += weight
        amount += weight * row[entry.body] / UNIT * (1.0 if entry.unit.role is Role.WORD else _PAIR)
        if any(title in row for title in entry.titles):
            titled += weight
        if entry.typed != entry.unit.text:
            corrected.append((entry.typed, entry.unit.text))
    whole = scale.whole or 1.0
    characters = covered / whole
    if scale.parts:
        characters = sum(entry.weight for entry in scale.parts if entry.body in row) / scale.parts_whole
    measures = Measures(amount, covered / whole, characters, titled / whole, scale.chinese)
    return Evidence(confidence(measures), measures, tuple(found), tuple(missing), tuple(corrected))


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
