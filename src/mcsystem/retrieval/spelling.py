"""Finds the words that a mistyped word may stand for, by Damerau edit distance."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mcsystem.retrieval.analysis import SPELLING

_SHORTEST: Final = 4  # one slip from this length on
_TWO_SLIPS: Final = 8  # two slips from this length on
_LONGEST: Final = 24
_FIRST_CJK: Final = "\u2e80"
_CHUNK: Final = 4_096
_CANDIDATES: Final = 4_096  # so many words at most are compared letter by letter
_CREDIT: Final = (1.0, 0.8, 0.6)  # by distance
_OTHER_START: Final = 0.7  # slips at the first letter are rare
_SHORT_SWAP: Final = 0.6  # another letter in a short word, not beside it on the keyboard, is rather another word
_SHORT: Final = 6
_KEY_ROWS: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


@dataclass(frozen=True, slots=True)
class Correction:
    """A known word that an unknown one may stand for.

    Attributes:
        word: the known word.
        term: the feature id that says where it occurs.
        distance: letters inserted, left out, replaced or swapped with their neighbour.
        credit: how far it is trusted, 0..1.
    """

    word: str
    term: int
    distance: int
    credit: float


@dataclass(frozen=True, slots=True)
class Spellings:
    """All words of an index as written, shortest first, as letters and as a signature of the letters they contain."""

    words: tuple[str, ...]
    terms: tuple[int, ...]
    letters: NDArray[np.uint16]
    signatures: NDArray[np.uint64]
    lengths: NDArray[np.int64]

    @classmethod
    def build(cls, features: Sequence[str], *, pause: Callable[[], None]) -> "Spellings":
        """Collect the words among features; those with digits or Chinese characters are no words here."""
        by_length: list[list[tuple[str, int]]] = [[] for _ in range(_LONGEST + 1)]
        for left in range(0, len(features), _CHUNK):
            for term, feature in enumerate(features[left : left + _CHUNK], left):
                word = feature.removeprefix(SPELLING)
                if _SHORTEST - 1 <= len(word) <= _LONGEST and word.isalpha() and word[0] < _FIRST_CJK:
                    by_length[len(word)].append((word, term))
            pause()
        pairs = [pair for group in by_length for pair in group]
        letters = np.zeros((len(pairs), _LONGEST), np.uint16)
        signatures = np.zeros(len(pairs), np.uint64)
        for left in range(0, len(pairs), _CHUNK):
            part = _letters([word for word, _ in pairs[left : left + _CHUNK]])
            letters[left : left + _CHUNK] = part
            signatures[left : left + _CHUNK] = _signatures(part)
            pause()
        lengths = np.repeat(np.arange(_LONGEST + 1), [len(group) for group in by_length])
        return cls(tuple(word for word, _ in pairs), tuple(term for _, term in pairs), letters, signatures, lengths)

    def near(self, word: str) -> list[Correction]:
        """Words within the allowed distance, most trusted first, then in alphabetical order; often empty."""
        slips = (len(word) >= _SHORTEST) + (len(word) >= _TWO_SLIPS)
        if slips == 0 or len(word) > _LONGEST or not word.isalpha() or word[0] >= _FIRST_CJK:
            return []
        first, last = self.lengths.searchsorted((len(word) - slips, len(word) + slips + 1)).tolist()
        typed = _letters([word])
        signature = _signatures(typed)[0]
        theirs = self.signatures[first:last]
        possible = _few_bits(theirs & ~signature, slips) & _few_bits(signature & ~theirs, slips)
        rows = (np.flatnonzero(possible) + first)[:_CANDIDATES]
        distances = _distances(typed[0, : len(word)], self.letters[rows], self.lengths[rows])
        close = np.flatnonzero(distances <= slips)
        found = [
            self._correction(word, row, distance)
            for row, distance in zip(rows[close].tolist(), distances[close].tolist(), strict=True)
        ]
        return sorted(found, key=lambda entry: (-entry.credit, entry.word))

    def _correction(self, typed: str, row: int, distance: int) -> Correction:
        word = self.words[row]
        credit = _CREDIT[distance]
        if word[0] != typed[0]:
            credit *= _OTHER_START
        if len(word) == len(typed) < _SHORT and distance == 1 and _far_swap(typed, word):
            credit *= _SHORT_SWAP
        return Correction(word, self.terms[row], distance, credit)


def _far_swap(typed: str, word: str) -> bool:
    """Whether exactly one letter differs and the two do not lie beside each other on a QWERTY keyboard."""
    different = [(mine, theirs) for mine, theirs in zip(typed, word, strict=True) if mine != theirs]
    return len(different) == 1 and not _beside(*different[0])


def _beside(one: str, other: str) -> bool:
    places = {letter: (row, column) for row, keys in enumerate(_KEY_ROWS) for column, letter in enumerate(keys)}
    if one not in places or other not in places:
        return False
    (row, column), (other_row, other_column) = places[one], places[other]
    return abs(row - other_row) <= 1 and abs(column - other_column) <= 1


def _letters(words: Sequence[str]) -> NDArray[np.uint16]:
    codes = np.array(words, f"<U{_LONGEST}").view(np.uint32).reshape(len(words), _LONGEST)
    return codes.astype(np.uint16)


def _signatures(letters: NDArray[np.uint16]) -> NDArray[np.uint64]:
    bits = np.left_shift(np.uint64(1), (letters & 63).astype(np.uint64))
    return np.bitwise_or.reduce(np.where(letters > 0, bits, np.uint64(0)), axis=1)


def _few_bits(values: NDArray[np.uint64], most: int) -> NDArray[np.bool_]:
    """Where at most `most` bits are set."""
    one = np.uint64(1)
    for _ in range(most):
        values = values & (values - np.minimum(values, one))
    return values == 0


def _distances(typed: NDArray[np.uint16], letters: NDArray[np.uint16], lengths: NDArray[np.int64]) -> NDArray[np.int8]:
    """Edit distances with swapped neighbours (optimal string alignment) between one word and many."""
    count, width = len(letters), int(lengths.max(initial=0))
    columns = np.ascontiguousarray(letters.T)
    before: list[NDArray[np.int8]] = []
    last = [np.full(count, column, np.int8) for column in range(width + 1)]
    for row, letter in enumerate(typed, 1):
        current = [np.full(count, row, np.int8)]
        for column in range(1, width + 1):
            same = columns[column - 1] == letter
            value = np.minimum(np.minimum(last[column], current[column - 1]) + 1, last[column - 1] + ~same)
            if row > 1 and column > 1:
                swapped = (columns[column - 2] == letter) & (columns[column - 1] == typed[row - 2])
                value = np.where(swapped, np.minimum(value, before[column - 2] + 1), value)
            current.append(value.astype(np.int8))
        before, last = last, current
    return np.stack(last)[lengths, np.arange(count)] if count else np.zeros(0, np.int8)
