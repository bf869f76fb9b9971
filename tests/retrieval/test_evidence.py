"""What counts as a match: the documents of a small server, in both languages."""

from collections.abc import Mapping, Sequence

import pytest
import server_docs

from mcsystem.retrieval import LexicalIndex, analyse

CASES = [
    pytest.param(server_docs.ENGLISH, server_docs.ENGLISH_ANSWERED, server_docs.ENGLISH_UNANSWERED, id="en"),
    pytest.param(server_docs.CHINESE, server_docs.CHINESE_ANSWERED, server_docs.CHINESE_UNANSWERED, id="zh"),
]
LAND = {
    "Land claims": "Use a golden shovel to make a claim of land.",
    "Shop": "Open the market with /shop.",
    "领地": "圈地以后别人不能在里面盖房子。",
    "Rules": "No griefing.",
    "规则": "不要偷东西。",
}

LOOK_ALIKE = {"Bans": "Stealing ends in a ban.", "Advice": "The best thing to get is a friend."}


def build(docs: Mapping[str, str]) -> LexicalIndex:
    return LexicalIndex.build([analyse(title, text) for title, text in docs.items()])


@pytest.mark.parametrize(("docs", "answered", "unanswered"), CASES)
def test_answered_questions_match_their_document(
    docs: Mapping[str, str], answered: Sequence[tuple[str, str]], unanswered: Sequence[str]
) -> None:
    """At least 90 % of the answerable questions show their document as a match, all of them show it among five."""
    index, titles = build(docs), list(docs)
    kept = 0
    for question, title in answered:
        hits = {titles[hit.id]: hit for hit in index.search(question, limit=5)}
        assert title in hits, question
        kept += hits[title].hit
    assert kept >= 0.9 * len(answered)
    assert len(unanswered) >= 20


@pytest.mark.parametrize(("docs", "answered", "unanswered"), CASES)
def test_other_questions_match_nothing(
    docs: Mapping[str, str], answered: Sequence[tuple[str, str]], unanswered: Sequence[str]
) -> None:
    """At most 5 % of the questions that no document answers show one, and so do few whose document is hidden."""
    index, titles = build(docs), list(docs)
    shown = [question for question in unanswered if any(hit.hit for hit in index.search(question, limit=5))]
    assert len(shown) <= 0.05 * len(unanswered), shown
    hidden = 0
    for question, title in answered:
        rest = index.select([place for place, name in enumerate(titles) if name != title])
        hidden += any(hit.hit for hit in index.search(question, limit=5, allowed=rest))
    assert hidden <= 0.1 * len(answered)


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("how do I claim land", "Land claims"),
        ("shop", "Shop"),
        ("怎么领地", "领地"),
        ("领地", "领地"),
        ("请问怎么圈地？", "领地"),
    ],
)
def test_a_tiny_collection_answers(question: str, title: str) -> None:
    """Five short documents, where every word is rare: the right one comes first and is the only match."""
    hits = build(LAND).search(question, limit=5)
    assert [list(LAND)[hit.id] for hit in hits if hit.hit] == [title]
    assert hits[0].hit


@pytest.mark.parametrize(
    "question",
    [
        "what is the weather in Paris",
        "how do I make steel",
        "how do I",
        "怎么炼钢",
        "巴黎天气",
        "how to get the best bow",
    ],
)
def test_a_tiny_collection_does_not_answer_everything(question: str) -> None:
    """Function words, generic words and a look-alike (steel, stealing) prove nothing."""
    assert not any(hit.hit for hit in build({**LAND, **LOOK_ALIKE}).search(question, limit=5))


def test_the_evidence_says_what_was_found() -> None:
    """Found and missing pieces as they were typed, shares between 0 and 1, a confidence that decides."""
    hit = build(LAND).search("claim land with a sword", limit=1)[0]
    assert hit.evidence.found == ("claim", "land")
    assert hit.evidence.missing == ("sword",)
    assert 0 < hit.evidence.measures.coverage < 1
    assert 0 < hit.score <= 1
    assert hit.hit == hit.evidence.hit == (hit.evidence.confidence >= 0.5)


def test_a_word_of_the_title_counts_more() -> None:
    """Of two passages with the same words, the one that has them in its title comes first and is trusted more."""
    index = LexicalIndex.build(
        [analyse("Notes", "sell iron here, elytra too"), analyse("Elytra", "sell iron here, too")]
    )
    first, second = index.search("elytra", limit=2)
    assert (first.id, second.id) == (1, 0)
    assert first.evidence.confidence > second.evidence.confidence
