"""A slow plain search to compare the index with: dictionaries, whole-number sums, no arrays, no short cuts."""

import math
from collections.abc import Sequence
from fractions import Fraction

from mcsystem.retrieval.analysis import SPELLING, Analysed
from mcsystem.retrieval.question import Role, Unit, read_question, word_unit

Row = dict[str, int]


def row(analysed: Analysed) -> Row:
    """Feature -> weight in units of 1/65536."""
    weights = [
        int.from_bytes(analysed.weights[place : place + 2], "little") for place in range(0, len(analysed.weights), 2)
    ]
    return dict(zip(analysed.features, weights, strict=True))


def distance(one: str, other: str) -> int:
    """Edits with swapped neighbours (optimal string alignment)."""
    table = [[max(i, j) if 0 in {i, j} else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            table[i][j] = min(
                table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (one[i - 1] != other[j - 1])
            )
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


def search(passages: Sequence[Analysed], query: str, limit: int) -> list[tuple[int, Fraction]]:
    """Passage and raw score of the best passages: score descending, then passage ascending."""
    rows = [row(entry) for entry in passages]
    factors: dict[str, Fraction] = {}
    for unit in read_question(query):
        read, credit = _read(unit, rows)
        features = [(read.body, credit * unit.count)] if read.body else []
        features += [(feature, weight * credit * unit.count) for feature, weight in read.titles]
        for feature, weight in features:
            frequency = sum(feature in entry for entry in rows)
            idf = math.log(1 + (len(rows) - frequency + 0.5) / (frequency + 0.5))
            factors[feature] = factors.get(feature, Fraction(0)) + Fraction(round(4096 * (weight * idf)), 4096)
    scored: list[tuple[Fraction, int]] = []
    for place, entry in enumerate(rows):
        score = sum((factor * entry[feature] for feature, factor in factors.items() if feature in entry), Fraction(0))
        if score > 0:
            scored.append((-score / 65536, place))
    return [(place, -score) for score, place in sorted(scored)[: max(limit, 0)]]


def _read(unit: Unit, rows: Sequence[Row]) -> tuple[Unit, float]:
    """The unit, or the known word that an unknown one stands for when exactly one word is nearest."""
    if unit.role is not Role.WORD or any(unit.body in entry for entry in rows):
        return unit, 1.0
    word = unit.text
    known = {feature.removeprefix(SPELLING) for entry in rows for feature in entry if feature[0] not in "=/"}
    slips = (len(word) >= 4) + (len(word) >= 8)
    for allowed in range(1, slips + 1):
        near = [other for other in known if _comparable(other) and distance(word, other) <= allowed]
        near = [other for other in near if allowed == 1 or other[0] == word[0]]
        if near and word.isalpha():
            assert len(near) == 1, f"the test's words are too much alike: {word} {near}"
            credit = (1.0, 0.95, 0.75)[allowed] * (0.75 if near[0][0] != word[0] else 1.0)
            assert len(word) >= 6, "short words are tested apart"
            return word_unit(near[0], count=unit.count), credit
    return unit, 1.0


def _comparable(word: str) -> bool:
    return word.isalpha() and word.isascii() and len(word) >= 3
