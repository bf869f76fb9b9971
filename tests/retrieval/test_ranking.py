"""Pruned ranking against adding everything up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcsystem.retrieval import ranking
from mcsystem.retrieval.postings import PostingList
from mcsystem.retrieval.ranking import Weighted, best

SPAN = 60
Drawn = list[tuple[dict[int, int], int]]
LISTS = st.lists(
    st.tuples(
        st.dictionaries(st.integers(0, SPAN - 1), st.sampled_from([1, 2, 3]), min_size=1, max_size=40),
        st.sampled_from([1, 2, 3, 5, 8, 13, 21]),
    ),
    min_size=1,
    max_size=6,
)


@pytest.fixture(params=[0, 1_000_000], ids=["touched only", "all"])
def _tiny_limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "_DIRECT", 0)
    monkeypatch.setattr(ranking, "_BLOCK", 1)
    monkeypatch.setattr(ranking, "_TRIES", (4, 2, 1.3))
    monkeypatch.setattr(ranking, "_SPARSE", request.param)


@pytest.mark.usefixtures("_tiny_limits")
@settings(deadline=None, max_examples=400)
@given(LISTS, st.integers(1, 8))
def test_pruning_changes_nothing(drawn: Drawn, limit: int) -> None:
    """Documents, scores and the order of equal ones are those of the plain sums, whatever was not looked at."""
    sums: dict[int, int] = {}
    lists: list[Weighted] = []
    for weights, factor in drawn:
        documents = np.array(sorted(weights), np.int32)
        values = np.array([weights[document] for document in sorted(weights)], np.uint16)
        lists.append(Weighted(PostingList(documents, values, int(values.max())), float(factor)))
        for document, weight in weights.items():
            sums[document] = sums.get(document, 0) + weight * factor
    expected = sorted(sums.items(), key=lambda item: (-item[1], item[0]))[:limit]
    documents, scores = best(lists, SPAN, limit)
    assert list(zip(documents.tolist(), scores.tolist(), strict=True)) == expected
