"""The best passages for weighted posting lists, exactly, while touching as few postings as it can."""

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from mcsystem.retrieval.postings import Documents, PostingList

Scores = NDArray[np.float64]

_DIRECT: Final = 16_384  # up to this many postings everything is simply added up
_SPARSE: Final = 4  # fewer postings than span / 4: look at the touched documents only
_BLOCK: Final = 256
_TRIES: Final = (16, 4)  # the strongest lists holding 1/16, then 1/4 of the postings are tried alone


class Weighted(msgspec.Struct, frozen=True, gc=False):
    """A posting list and its factor in the score: a whole multiple of 2^-28, so that every sum is exact."""

    postings: PostingList
    factor: float

    @property
    def bound(self) -> float:
        """The most this list adds to a score."""
        return self.postings.bound * self.factor

    @property
    def parts(self) -> Scores:
        """What the list adds to the score of each of its documents."""
        return np.multiply(self.postings.weights, self.factor, dtype=np.float64)


def best(lists: Sequence[Weighted], span: int, limit: int) -> tuple[Documents, Scores]:
    """The `limit` best documents with their scores: score descending, then document ascending.

    Args:
        lists: none empty; each factor above zero.
        span: a number above every document number.
        limit: at least 1.

    Returns:
        Documents and scores of equal length; shorter than `limit` when fewer documents have any of the features.
    """
    if not lists:
        return np.zeros(0, np.int32), np.zeros(0, np.float64)
    total = sum(len(entry.postings.documents) for entry in lists)
    found = _prefix(lists, span, limit, total) if total > _DIRECT else None
    documents, scores = found if found is not None else _everything(lists, span, limit, total)
    order = np.lexsort((documents, -scores))[:limit]
    return documents[order], scores[order]


def _everything(lists: Sequence[Weighted], span: int, limit: int, total: int) -> tuple[Documents, Scores]:
    dense = _add_up(lists, span)
    if total * _SPARSE < span:  # looking at the touched documents costs less than at all
        touched = np.concatenate([entry.postings.documents for entry in lists])
        scores = dense[touched]
        enough = limit * len(lists)  # a document stands here once per list that has it
        if total > enough:
            kept = scores >= np.partition(scores, total - enough)[total - enough]
            touched = touched[kept]
        candidates = np.unique(touched)
    else:
        candidates = np.flatnonzero(dense >= max(_kth_at_least(dense, limit), 2.0**-60)).astype(np.int32)
    return candidates, dense[candidates]


def _add_up(lists: Sequence[Weighted], span: int) -> Scores:
    """Scores of all documents, padded with zeros to whole blocks."""
    padded = -(-span // _BLOCK) * _BLOCK
    documents = np.concatenate([entry.postings.documents for entry in lists])
    parts = np.concatenate([entry.parts for entry in lists])
    sums: Scores = np.bincount(documents, parts, padded).astype(np.float64, copy=False)
    return sums


def _kth_at_least(dense: Scores, limit: int) -> float:
    """A number that the `limit`-th best score reaches: that of the block maxima, or 0 with too few blocks."""
    maxima = dense.reshape(-1, _BLOCK).max(axis=1)
    if len(maxima) < limit:
        return 0.0
    return float(np.partition(maxima, len(maxima) - limit)[len(maxima) - limit])


def _prefix(lists: Sequence[Weighted], span: int, limit: int, total: int) -> tuple[Documents, Scores] | None:
    """Score the strongest lists alone; when no other document can come in, complete the survivors only."""
    ordered = sorted(lists, key=lambda entry: -entry.bound)
    for share in _TRIES:
        count, postings = 0, 0
        while postings + len(ordered[count].postings.documents) <= total // share:
            postings += len(ordered[count].postings.documents)
            count += 1
        rest = sum(entry.bound for entry in ordered[count:])
        if count == 0 or sum(entry.bound for entry in ordered[:count]) <= rest:
            continue
        dense = _add_up(ordered[:count], span)
        least = _kth_at_least(dense, limit)
        if least > rest:
            documents = np.flatnonzero(dense >= least - rest).astype(np.int32)
            return _complete(documents, dense[documents], ordered[count:], limit)
    return None


def _complete(documents: Documents, scores: Scores, lists: Sequence[Weighted], limit: int) -> tuple[Documents, Scores]:
    rest = sum(entry.bound for entry in lists)
    for entry in lists:
        if len(documents) > limit:
            kth = np.partition(scores, len(scores) - limit)[len(scores) - limit]
            kept = scores + rest >= kth
            documents, scores = documents[kept], scores[kept]
        places = entry.postings.documents.searchsorted(documents)
        places[places == len(entry.postings.documents)] = 0
        found = entry.postings.documents[places] == documents
        scores[found] += np.multiply(entry.postings.weights[places[found]], entry.factor, dtype=np.float64)
        rest -= entry.bound
    return documents, scores
