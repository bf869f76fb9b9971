"""Finds the words that a mistyped word may stand for, by Damerau edit distance."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mcsystem.retrieval.analysis import SPELLING

_SHORTEST_FOR: Final = (0, 4, 8)  # one slip from four letters on, two from eight on
_SHORTEST_KNOWN: Final = 3
_LONGEST: Final = 24
_LETTER_BITS: Final = 21
_FIRST_CJK: Final = "\u2e80"
_CHUNK: Final = 4_096
_CREDIT: Final = (1.0, 0.95, 0.75)  # by the number of slips
_OTHER_START: Final = 0.75  # slips at the first letter are rare
_SHORT_LENGTH: Final = 0.85  # a letter more or less in a short word
_SHORT_SWAP: Final = 0.6  # another letter in a short word, not beside it on the keyboard, is rather another word
_SHORT: Final = 6
_KEY_ROWS: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm")

Letters = NDArray[np.uint16]
Lengths = NDArray[np.int64]
Distances = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Correction:
    """A known word that an unknown one may stand for.

    Attributes:
        word: the known word.
        term: the feature id that says where it occurs.
        slips: letters inserted, left out, replaced or swapped with their neighbour, at most.
        credit: how far it is trusted, 0..1.
    """

    word: str
    term: int
    slips: int
    credit: float


@dataclass(frozen=True, slots=True)
class Spellings:
    """All words of an index as written, ordered by length and first letter.

    Attributes:
        words: all words of the index.
        rows: by feature id, which of the words it is, or -1.
        places: which word each row stands for.
        terms: the feature ids that say where they occur.
        letters: one row of letters a word, zeros behind its end.
        signatures: which letters a word contains, one bit each, letters 64 apart sharing one.
        groups: length and first letter of each word in one number, rising.
    """

    words: Sequence[str]
    rows: Lengths
    places: Lengths
    terms: NDArray[np.int64]
    letters: Letters
    signatures: NDArray[np.uint64]
    groups: Lengths

    @classmethod
    def build(cls, features: Sequence[str], *, pause: Callable[[], None]) -> "Spellings":
        """Collect the words among features; those with digits or Chinese characters are no words here."""
        groups: dict[int, tuple[list[str], list[int]]] = {}
        for left in range(0, len(features), _CHUNK):
            for term, feature in enumerate(features[left : left + _CHUNK], left):
                word = feature[1:] if feature[0] == SPELLING else feature
                if _SHORTEST_KNOWN <= len(word) <= _LONGEST and word.isalpha() and word[0] < _FIRST_CJK:
                    words, terms = groups.setdefault(_group(len(word), word[0]), ([], []))
                    words.append(word)
                    terms.append(term)
            pause()
        keys = sorted(groups)
        ordered = list(chain.from_iterable(groups[key][0] for key in keys))
        numbers = np.zeros(len(ordered), np.int64)
        letters = np.zeros((len(ordered), _LONGEST), np.uint16)
        signatures = np.zeros(len(ordered), np.uint64)
        every = chain.from_iterable(groups[key][1] for key in keys)
        for left in range(0, len(ordered), _CHUNK):
            part = slice(left, min(left + _CHUNK, len(ordered)))
            numbers[part] = np.fromiter(islice(every, part.stop - left), np.int64, part.stop - left)
            letters[part] = _letters(ordered[part])
            signatures[part] = _signatures(letters[part])
            pause()
        owners = np.repeat(np.array(keys, np.int64), [len(groups[key][0]) for key in keys])
        rows = np.full(len(features), -1, np.int64)
        rows[numbers] = np.arange(len(ordered))
        return cls(ordered, rows, rows[numbers], numbers, letters, signatures, owners)

    def within(self, terms: NDArray[np.int32]) -> "Spellings":
        """The words that some features stand for, such as those of an allow-list.

        Args:
            terms: feature ids.
        """
        rows = self.rows[terms]
        kept = np.sort(rows[rows >= 0])
        places, letters, signatures = self.places[kept], self.letters[kept], self.signatures[kept]
        return Spellings(self.words, self.rows, places, self.terms[kept], letters, signatures, self.groups[kept])

    def near(self, word: str, slips: int) -> list[Correction]:
        """Words at exactly one slip, or within two; none for short words, numbers and other scripts.

        Args:
            word: a word in normal form.
            slips: 1 or 2.
        """
        if len(word) < _SHORTEST_FOR[slips] or len(word) > _LONGEST or not word.isalpha() or word[0] >= _FIRST_CJK:
            return []
        size, typed = len(word), _letters([word])
        signature = _signatures(typed)[0]
        if slips == 1:
            borders = [(_group(size - 1, ""), _group(size + 2, ""))]
        else:  # two slips with the first letter among them make another word
            start = ord(word[0])
            borders = [
                (_group(length, "") + start, _group(length, "") + start + 1) for length in range(size - 2, size + 3)
            ]
        found: list[Lengths] = []
        for first, last in self.groups.searchsorted(borders).tolist():
            theirs = self.signatures[first:last]
            possible = _few_bits(theirs & ~signature, slips) & _few_bits(signature & ~theirs, slips)
            found.append(np.flatnonzero(possible) + first)
        rows = np.concatenate(found)
        compare = _one_slip if slips == 1 else _two_slips
        close = rows[compare(typed[0, : len(word)], self.letters[rows], self.groups[rows] >> _LETTER_BITS)]
        return [self._correction(word, row, slips) for row in close.tolist()]

    def _correction(self, typed: str, row: int, slips: int) -> Correction:
        word = self.words[self.places.item(row)]
        credit = _CREDIT[slips]
        if word[0] != typed[0]:
            credit *= _OTHER_START
        if len(typed) < _SHORT:
            credit *= _SHORT_LENGTH if len(word) != len(typed) else _SHORT_SWAP if _far_swap(typed, word) else 1.0
        return Correction(word, self.terms.item(row), slips, credit)


def _group(length: int, letter: str) -> int:
    return (length << _LETTER_BITS) + (ord(letter) if letter else 0)


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


def _letters(words: Sequence[str]) -> Letters:
    codes = np.array(words, f"<U{_LONGEST}").view(np.uint32).reshape(len(words), _LONGEST)
    return codes.astype(np.uint16)


def _signatures(letters: Letters) -> NDArray[np.uint64]:
    bits = np.left_shift(np.uint64(1), (letters & 63).astype(np.uint64))
    return np.bitwise_or.reduce(np.where(letters > 0, bits, np.uint64(0)), axis=1)


def _few_bits(values: NDArray[np.uint64], most: int) -> NDArray[np.bool_]:
    """Where at most `most` bits are set."""
    one = np.uint64(1)
    for _ in range(most):
        values = values & (values - one)  # takes the lowest bit away; 0 stays 0
    return values == 0


def _one_slip(typed: Letters, letters: Letters, lengths: Lengths) -> NDArray[np.bool_]:
    """Where one letter is inserted, left out, replaced, or swapped with its neighbour."""
    count = len(typed)
    here = letters[:, :count] == typed
    shorter = _leading(here[:, : count - 1]) + _trailing(letters[:, : count - 1] == typed[1:]) >= count - 1
    longer = _leading(here) + _trailing(letters[:, 1 : count + 1] == typed) >= count
    wrong = count - here.sum(axis=1)
    swapped = (
        (letters[:, 1:count] == typed[:-1]) & (letters[:, : count - 1] == typed[1:]) & ~here[:, 1:] & ~here[:, :-1]
    )
    equal = (wrong == 1) | ((wrong == 2) & swapped.any(axis=1))  # noqa: PLR2004 - both swapped letters are wrong here
    return np.where(lengths == count, equal, np.where(lengths < count, shorter, longer))


def _leading(same: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.logical_and.accumulate(same, axis=1).sum(axis=1)


def _trailing(same: NDArray[np.bool_]) -> NDArray[np.int64]:
    return _leading(same[:, ::-1])


def _two_slips(typed: Letters, letters: Letters, lengths: Lengths) -> NDArray[np.bool_]:
    """Where the edit distance with swapped neighbours (optimal string alignment) is at most two."""
    count, width = len(letters), int(lengths.max(initial=0))
    columns = np.ascontiguousarray(letters.T)
    far = np.full(count, 3, np.int8)
    before: list[Distances] = [far] * (width + 1)
    last: list[Distances] = [np.full(count, min(column, 3), np.int8) for column in range(width + 1)]
    for row, letter in enumerate(typed.tolist(), 1):
        current: list[Distances] = [np.full(count, min(row, 3), np.int8)] + [far] * width
        for column in range(max(1, row - 2), min(width, row + 2) + 1):
            value = np.minimum(last[column], current[column - 1]) + np.int8(1)
            value = np.minimum(value, last[column - 1] + (columns[column - 1] != letter))
            if row > 1 and column > 1:
                swapped = (columns[column - 2] == letter) & (columns[column - 1] == typed[row - 2])
                value = np.minimum(value, np.where(swapped, before[column - 2] + np.int8(1), far))
            current[column] = value
        before, last = last, current
    return np.stack(last)[lengths, np.arange(count)] <= 2 if count else np.zeros(0, np.bool_)  # noqa: PLR2004 - two slips
