"""The index of passages: built from analysed passages, searched by a question, filtered before ranking."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mcsystem.retrieval.analysis import Analysed
from mcsystem.retrieval.evidence import Evidence, Scale, weigh
from mcsystem.retrieval.lookup import look_up
from mcsystem.retrieval.postings import FlatLists, Lists, Offsets, Rows, go_on, invert, select
from mcsystem.retrieval.question import read_question
from mcsystem.retrieval.ranking import best
from mcsystem.retrieval.spelling import Spellings
from mcsystem.retrieval.vocabulary import Numbering, Vocabulary

_GROUP: Final = 1 << 12  # features numbered at once, about a millisecond
_LENGTHS: Final = 1 << 14  # passages measured at once


@dataclass(frozen=True, slots=True)
class Selection:
    """A prepared allow-list; keep it as long as the index and the permissions stay the same.

    Attributes:
        index: the index it was made for.
        lists: posting lists of the allowed passages alone.
        spellings: the words to mend typing slips with; those of no allowed passage are passed over when asked for.
    """

    index: "LexicalIndex"
    lists: Lists
    spellings: Spellings

    def __len__(self) -> int:
        return self.lists.size


@dataclass(frozen=True, slots=True)
class Hit:
    """A found passage.

    Attributes:
        id: its position among the passages the index was built from.
        score: share of the best conceivable score for the question, above 0, at most 1.
        hit: whether the evidence says that it is a match.
        evidence: what speaks for it.
    """

    id: int
    score: float
    hit: bool
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class LexicalIndex:
    """An unchanging index of passages; any number of threads may search it. Make one with `build`."""

    _rows: Rows
    _lists: FlatLists
    _vocabulary: Vocabulary
    _spellings: Spellings

    @classmethod
    def build(cls, analysed: Sequence[Analysed], *, pause: Callable[[], None] | None = None) -> "LexicalIndex":
        """Index passages; the id of a passage is its position.

        Args:
            analysed: results of `analyse`.
            pause: called between slices of a few milliseconds, so that a caller can let other threads go first.
        """
        wait = pause or go_on
        vocabulary = Vocabulary()
        rows = _number(analysed, vocabulary, wait)
        lists = invert(rows, pause=wait)
        return cls(rows, lists, vocabulary, Spellings.build(vocabulary.features, pause=wait))

    def __len__(self) -> int:
        return self._lists.size

    def analysed(self, passage: int) -> Analysed:
        """What `analyse` gave for a passage, so that the next index can be built without analysing it again."""
        left, right = self._rows.starts.item(passage), self._rows.starts.item(passage + 1)
        features = map(self._vocabulary.features.__getitem__, self._rows.terms[left:right].tolist())
        return Analysed(tuple(features), self._rows.weights[left:right].astype("<u2").tobytes())

    def select(self, ids: Sequence[int] | NDArray[np.integer[Any]]) -> Selection:
        """Prepare an allow-list: searching with it equals searching an index of these passages alone.

        Args:
            ids: allowed passage ids in any order; repeated ones count once, unknown ones are passed over.
        """
        members = np.unique(np.asarray(ids, np.int64))
        members = members[(members >= 0) & (members < len(self))]
        lists = select(self._lists, self._rows, members)
        spellings = self._spellings
        if isinstance(lists, FlatLists) and lists.terms is not None:  # copied out: so are its words
            spellings = spellings.within(lists.terms)
        return Selection(self, lists, spellings)

    def search(self, query: str, *, limit: int, allowed: Selection | None = None) -> list[Hit]:
        """The best passages for a question, best first, equal scores by id; only those with a word in common.

        Args:
            query: what was asked, as typed.
            limit: how many at most; below 1 gives none.
            allowed: the passages that count at all; every one when None. Others leave no trace in the result.

        Returns:
            Hits; `hit` says which ones count as a match. Empty when nothing is in common.
        """
        if allowed is not None and allowed.index is not self:
            raise ValueError("the selection belongs to another index")
        lists: Lists = self._lists if allowed is None else allowed.lists
        spellings = self._spellings if allowed is None else allowed.spellings
        if limit < 1 or lists.size == 0:
            return []
        asked = look_up(read_question(query), lists, self._vocabulary, spellings)
        documents, scores = best(asked.weighted, lists.span, limit)
        scale = Scale.of(asked.sought)
        hits: list[Hit] = []
        for passage, score in zip(lists.passages(documents).tolist(), scores.tolist(), strict=True):
            evidence = weigh(scale, self._rows.row(passage))
            hits.append(Hit(passage, score / asked.most, evidence.hit, evidence))
        return hits


def _number(analysed: Sequence[Analysed], vocabulary: Vocabulary, pause: Callable[[], None]) -> Rows:
    """The rows of all passages with features as numbers; the vocabulary learns the new ones."""
    starts = _starts(analysed, pause)
    terms, weights = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.uint16)
    numbering = Numbering(vocabulary)
    for first, last in _groups(starts):
        group: Sequence[Analysed] = analysed[first:last]
        left, right = starts.item(first), starts.item(last)
        features = chain.from_iterable([entry.features for entry in group])
        terms[left:right] = np.fromiter(map(numbering.__getitem__, features), np.int32, right - left)
        weights[left:right] = np.frombuffer(b"".join([entry.weights for entry in group]), "<u2")
        numbering.shrink()
        pause()
    return Rows(starts, terms, weights)


def _starts(analysed: Sequence[Analysed], pause: Callable[[], None]) -> Offsets:
    """Where each passage's features begin, and where the last one's end."""
    lengths = np.zeros(len(analysed) + 1, np.int64)
    for left in range(0, len(analysed), _LENGTHS):
        part = analysed[left : left + _LENGTHS]
        lengths[left + 1 : left + 1 + len(part)] = np.fromiter((len(e.features) for e in part), np.int64, len(part))
        pause()
    return np.cumsum(lengths)


def _groups(starts: Offsets) -> Iterator[tuple[int, int]]:
    """First and last-but-one of neighbouring passages that have some thousand features together."""
    first, count = 0, len(starts) - 1
    while first < count:
        last = int(starts.searchsorted(starts.item(first) + _GROUP, "right")) - 1
        last = min(max(last, first + 1), count)
        yield first, last
        first = last
