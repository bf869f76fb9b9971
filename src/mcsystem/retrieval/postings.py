"""Inverted lists as flat arrays: built by one sort, cut down to an allow-list, read term by term."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

Documents = NDArray[np.int32]
Weights = NDArray[np.uint16]
Offsets = NDArray[np.int64]
Ids = NDArray[np.int64]

_CHUNK: Final = 1 << 16  # postings handled between two pauses
_WEIGHT_BITS: Final = 16
_SMALL: Final = 4_096  # allow-lists up to this size are always copied out
_NO_DOCUMENTS: Final = np.zeros(0, np.int32)
_NO_WEIGHTS: Final = np.zeros(0, np.uint16)


class PostingList(msgspec.Struct, frozen=True, gc=False):
    """The passages that have one feature.

    Attributes:
        documents: their numbers, rising.
        weights: the feature's weight in each, in units of 1/65536.
        bound: a number no weight exceeds.
    """

    documents: Documents
    weights: Weights
    bound: int


class Lists(Protocol):
    """Posting lists of a fixed set of passages."""

    @property
    def size(self) -> int:
        """How many passages count."""
        ...

    @property
    def span(self) -> int:
        """A number above every document number in the lists."""
        ...

    def read(self, term: int) -> PostingList:
        """The list of a term; empty for a negative term and one that no counted passage has."""
        ...

    def passages(self, documents: Documents) -> Ids:
        """The passage ids behind document numbers."""
        ...


EMPTY: Final = PostingList(_NO_DOCUMENTS, _NO_WEIGHTS, 0)


@dataclass(frozen=True, slots=True)
class FlatLists:
    """Lists side by side in two arrays: all passages of an index, or a small allow-list copied out of it.

    Attributes:
        size: how many passages count.
        starts: where each list begins, and one last entry where the last one ends.
        documents: document numbers of all lists.
        weights: weights of all lists.
        bounds: greatest weight of each list.
        terms: rising ids of the terms that have a list here; None when list `n` belongs to term `n`.
        members: rising passage ids of the documents 0, 1, ...; None when document `n` is passage `n`.
    """

    size: int
    starts: Offsets
    documents: Documents
    weights: Weights
    bounds: Weights
    terms: Documents | None = None
    members: Ids | None = None

    @property
    def span(self) -> int:
        """See `Lists`."""
        return self.size

    def read(self, term: int) -> PostingList:
        """See `Lists`."""
        if term < 0:
            return EMPTY
        row = term
        if self.terms is not None:
            row = int(self.terms.searchsorted(term))
            if row == len(self.terms) or self.terms[row] != term:
                return EMPTY
        start, end = self.starts.item(row), self.starts.item(row + 1)
        return PostingList(self.documents[start:end], self.weights[start:end], self.bounds.item(row))

    def passages(self, documents: Documents) -> Ids:
        """See `Lists`."""
        return documents.astype(np.int64) if self.members is None else self.members[documents]


@dataclass(frozen=True, slots=True)
class MaskedLists:
    """A large allow-list: the lists of the whole index, each read through a mask.

    Attributes:
        whole: the lists of all passages.
        mask: one entry per passage, true where it is allowed.
        size: how many are allowed.
    """

    whole: FlatLists
    mask: NDArray[np.bool_]
    size: int

    @property
    def span(self) -> int:
        """See `Lists`."""
        return self.whole.span

    def read(self, term: int) -> PostingList:
        """See `Lists`."""
        found = self.whole.read(term)
        kept = self.mask[found.documents]
        return PostingList(found.documents[kept], found.weights[kept], found.bound)

    def passages(self, documents: Documents) -> Ids:
        """See `Lists`."""
        return self.whole.passages(documents)


@dataclass(frozen=True, slots=True)
class Rows:
    """The features of each passage, one passage after the other.

    Attributes:
        starts: where each passage begins, and one last entry where the last one ends.
        terms: feature ids.
        weights: their weights in the passage.
    """

    starts: Offsets
    terms: Documents
    weights: Weights

    def row(self, passage: int) -> dict[int, int]:
        """The feature ids of one passage with their weights."""
        start, end = self.starts.item(passage), self.starts.item(passage + 1)
        return dict(zip(self.terms[start:end].tolist(), self.weights[start:end].tolist(), strict=True))

    def pick(self, members: Ids) -> "Rows":
        """The rows of some passages, copied, in the given order."""
        lengths = self.starts[members + 1] - self.starts[members]
        starts = np.concatenate(([0], np.cumsum(lengths)))
        places: Ids = np.arange(starts.item(-1), dtype=np.int64) + np.repeat(
            self.starts[members] - starts[:-1], lengths
        )
        return Rows(starts, self.terms[places], self.weights[places])


def go_on() -> None:
    """The pause that does not wait."""


def invert(rows: Rows, *, members: Ids | None = None, pause: Callable[[], None] = go_on) -> FlatLists:
    """Turn rows into posting lists.

    One sort of whole numbers (term, document, weight packed into 64 bits) does it; sorting and slicing release the
    interpreter, and nothing between two pauses takes over some milliseconds.

    Args:
        rows: the passages.
        members: rising passage ids of the rows when they are an allow-list; None when row `n` is passage `n` and every
            term has a passage.
        pause: called between slices of the work.
    """
    size = len(rows.starts) - 1
    keys = _pack(rows, size, pause)
    keys.sort()
    pause()
    documents, weights = np.empty(len(keys), np.int32), np.empty(len(keys), np.uint16)
    starts: list[Offsets] = []
    terms: list[Documents] = []
    before = -1
    for left, right in _slices(len(keys), pause):
        part = keys[left:right]
        weights[left:right] = part & ((1 << _WEIGHT_BITS) - 1)
        part >>= _WEIGHT_BITS
        documents[left:right] = part & ((1 << size.bit_length()) - 1)
        part >>= size.bit_length()
        firsts = np.flatnonzero(np.diff(part, prepend=before))
        starts.append(firsts + left)
        terms.append(part[firsts].astype(np.int32))
        before = part.item(-1)
    starts.append(np.array([len(keys)], np.int64))
    ends = np.concatenate(starts)
    owners = None if members is None else np.concatenate([_NO_DOCUMENTS, *terms])
    return FlatLists(size, ends, documents, weights, _bounds(weights, ends, pause), owners, members)


def _pack(rows: Rows, size: int, pause: Callable[[], None]) -> NDArray[np.int64]:
    keys = np.empty(len(rows.terms), np.int64)
    for left, right in _slices(len(keys), pause):
        keys[left:right] = rows.terms[left:right]
    keys <<= size.bit_length()
    step = max(1, _CHUNK // max(1, len(keys) // max(1, size)))
    for first in range(0, size, step):
        last = min(first + step, size)
        left, right = rows.starts.item(first), rows.starts.item(last)
        keys[left:right] |= np.repeat(np.arange(first, last), np.diff(rows.starts[first : last + 1]))
        pause()
    for left, right in _slices(len(keys), pause):
        keys[left:right] <<= _WEIGHT_BITS
        keys[left:right] |= rows.weights[left:right]
    return keys


def _bounds(weights: Weights, starts: Offsets, pause: Callable[[], None]) -> Weights:
    bounds = np.empty(len(starts) - 1, np.uint16)
    for left, right in _slices(len(bounds), pause):
        first = starts.item(left)
        bounds[left:right] = np.maximum.reduceat(weights[first : starts.item(right)], starts[left:right] - first)
    return bounds


def _slices(total: int, pause: Callable[[], None]) -> Iterator[tuple[int, int]]:
    for left in range(0, total, _CHUNK):
        yield left, min(left + _CHUNK, total)
        pause()


def select(whole: FlatLists, rows: Rows, members: Ids) -> Lists:
    """The lists of an allow-list alone: copied out when it is small, seen through a mask when it is large.

    Args:
        whole: the lists of all passages.
        rows: the same passages' features.
        members: rising ids of the allowed passages.
    """
    if len(members) * 8 > whole.size and len(members) > _SMALL:
        mask = np.zeros(whole.size, np.bool_)
        mask[members] = True
        return MaskedLists(whole, mask, len(members))
    return invert(rows.pick(members), members=members)
