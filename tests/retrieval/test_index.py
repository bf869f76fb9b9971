"""The index against a slow plain search, and what an allow-list promises."""

import pickle
import random
from collections.abc import Sequence

import numpy as np
import plain_search
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcsystem.retrieval import Analysed, LexicalIndex, analyse, postings, ranking

WORDS = (  # noqa: SIM905 - reads better as text
    "claims claim shovel teleport teleprot diamond diamnod enchantment enchantmnet enchanted villager the how do i "
    "make minecraft:diamond_sword /sethome 1.20.1 领地 圈地 怎么领地 钻石剑 钻石 商店 的 x-ray Café ELYTRA elytra"
).split()
text = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
documents = st.lists(st.tuples(st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join), text), max_size=14)
questions = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


@pytest.fixture(params=["simple", "short cuts"])
def _paths(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "short cuts":  # every short cut for large collections on tiny ones
        monkeypatch.setattr(postings, "_SMALL", 0)
        monkeypatch.setattr(ranking, "_DIRECT", 0)
        monkeypatch.setattr(ranking, "_BLOCK", 1)
        monkeypatch.setattr(ranking, "_TRIES", (2, 1.2))


def build(docs: Sequence[tuple[str, str]]) -> tuple[LexicalIndex, list[Analysed]]:
    analysed = [analyse(title, body) for title, body in docs]
    return LexicalIndex.build(analysed), analysed


@pytest.mark.usefixtures("_paths")
@settings(deadline=None, max_examples=150)
@given(documents, questions, st.integers(-1, 20))
def test_search_equals_the_plain_reference(docs: list[tuple[str, str]], question: str, limit: int) -> None:
    """Passages, their order and the proportions of their scores are those of a plain sum, ties by passage id."""
    index, analysed = build(docs)
    hits = index.search(question, limit=limit)
    expected = plain_search.search(analysed, question, limit)
    assert [hit.id for hit in hits] == [passage for passage, _ in expected]
    if expected:
        scale = hits[0].score / float(expected[0][1])
        assert [hit.score for hit in hits] == pytest.approx([float(score) * scale for _, score in expected], rel=1e-12)


@pytest.mark.usefixtures("_paths")
@settings(deadline=None, max_examples=150)
@given(documents, questions, st.integers(1, 20), st.data())
def test_an_allow_list_equals_an_index_of_the_allowed_alone(
    docs: list[tuple[str, str]], question: str, limit: int, data: st.DataObject
) -> None:
    """Order, scores, hit decision and evidence, float for float: hidden passages leave no trace."""
    index, analysed = build(docs)
    allowed = sorted(data.draw(st.sets(st.integers(0, max(0, len(docs) - 1)))) & set(range(len(docs))))
    alone = LexicalIndex.build([analysed[place] for place in allowed])
    selection = index.select(allowed)
    assert len(selection) == len(allowed)
    seen = index.search(question, limit=limit, allowed=selection)
    expected = alone.search(question, limit=limit)
    assert [(hit.id, hit.score, hit.hit, hit.evidence) for hit in seen] == [
        (allowed[hit.id], hit.score, hit.hit, hit.evidence) for hit in expected
    ]


def many(count: int, seed: int) -> list[Analysed]:
    chance = random.Random(seed)
    words = [f"{chance.choice('bcdfg')}{chance.choice('aeiou')}{number:x}" for number in range(800)]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    return [analyse("", " ".join(chance.choices(words, weights, k=chance.randint(3, 30)))) for _ in range(count)]


def test_a_large_collection_is_ranked_exactly() -> None:
    """With the real limits: pruned lists, block maxima and masks give what the plain sum gives."""
    analysed = many(6_000, 5)
    index = LexicalIndex.build(analysed)
    chance = random.Random(6)
    half = sorted(chance.sample(range(6_000), 4_500))
    few = sorted(chance.sample(range(6_000), 60))
    for _ in range(4):
        frequent = " ".join(chance.choices(analysed[chance.randrange(6_000)].features, k=chance.randint(1, 5)))
        question = frequent.replace("~", "").replace("=", "")
        for limit in (1, 5, 40):
            got = index.search(question, limit=limit)
            assert [hit.id for hit in got] == [place for place, _ in plain_search.search(analysed, question, limit)]
            for allowed in (half, few):
                got = index.search(question, limit=limit, allowed=index.select(allowed))
                expected = plain_search.search([analysed[place] for place in allowed], question, limit)
                assert [hit.id for hit in got] == [allowed[place] for place, _ in expected]


def test_ids_may_come_in_any_order_and_number() -> None:
    """Repeated, unordered and unknown ids, lists and arrays: the same selection."""
    index, _ = build([("", "iron"), ("", "iron"), ("", "gold")])
    for ids in ([1, 0, 1, 99, -1], (0, 1), np.array([1, 0], np.int32)):
        hits = index.search("iron", limit=9, allowed=index.select(ids))
        assert [hit.id for hit in hits] == [0, 1]
    assert index.search("iron", limit=9, allowed=index.select([])) == []


def test_a_selection_of_another_index_is_refused() -> None:
    """Mixing them up would show forbidden passages, so it is an error."""
    first, _ = build([("", "iron")])
    second, _ = build([("", "iron")])
    with pytest.raises(ValueError, match="another index"):
        first.search("iron", limit=1, allowed=second.select([0]))


def test_hidden_words_are_no_corrections() -> None:
    """A mistyped word is not read as a word that only hidden passages have."""
    index, _ = build([("", "the secret teleporter"), ("", "a public shop")])
    assert index.search("teleportr", limit=5)[0].evidence.corrected == (("teleportr", "teleport"),)
    assert index.search("teleportr", limit=5, allowed=index.select([1])) == []


@pytest.mark.parametrize("question", ["", "   ", "?!", "the of", "怎么", "\x00\x1b[31m", "\ud800", "\u202eabc"])
def test_odd_questions_find_nothing_and_break_nothing(question: str) -> None:
    """Empty, symbols, function words alone, control characters, lone surrogates, direction marks."""
    index, _ = build([("Shop", "sell iron"), ("", ""), ("领地", "圈地")])
    assert index.search(question, limit=5) == []
    assert LexicalIndex.build([]).search(question, limit=5) == []
    assert LexicalIndex.build([analyse("", "")]).search("iron", limit=5) == []


def test_the_same_input_gives_the_same_output() -> None:
    """Building twice, and from analysed passages that went through pickle, changes nothing."""
    analysed = many(300, 9)
    again: list[Analysed] = pickle.loads(pickle.dumps(analysed))  # noqa: S301 - our own bytes
    question = " ".join(analysed[7].features[:6])
    first = LexicalIndex.build(analysed).search(question, limit=20)
    assert first
    assert LexicalIndex.build(again).search(question, limit=20) == first
