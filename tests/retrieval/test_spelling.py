"""Typing slips: found exactly where edit distance says so, and within bounded time."""

import random
import time

import plain_search
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcsystem.retrieval import LexicalIndex, analyse
from mcsystem.retrieval.postings import go_on
from mcsystem.retrieval.spelling import Spellings

letters = st.text("abcé", min_size=1, max_size=11)


@settings(deadline=None, max_examples=300)
@given(st.lists(letters, max_size=30, unique=True), letters)
def test_the_words_found_are_those_of_the_edit_distance(words: list[str], typed: str) -> None:
    """One slip from four letters on, two from eight on with the same first letter; no other word."""
    spellings = Spellings.build(words, pause=go_on)
    known = [word for word in words if len(word) >= 3]
    one = {word for word in known if len(typed) >= 4 and plain_search.distance(word, typed) == 1}
    two = {
        word for word in known if len(typed) >= 8 and word[0] == typed[0] and plain_search.distance(word, typed) <= 2
    }
    assert {entry.word for entry in spellings.near(typed, 1)} == one
    assert {entry.word for entry in spellings.near(typed, 2)} == two
    assert all(words[entry.term] == entry.word and 0 < entry.credit < 1 for entry in spellings.near(typed, 2))


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("teleprot", "teleport"),
        ("diamnod", "diamond"),
        ("enchantmnet", "enchantment"),
        ("vilager", "villager"),
        ("clain", "claim"),
        ("spwan", "spawn"),
    ],
)
def test_a_mistyped_word_finds_its_passage_as_a_match(typed: str, read: str) -> None:
    """The passage is a hit and the evidence says what was read."""
    docs = [("Travel", "/tpa asks to teleport"), ("Shop", "a diamond costs 50 coins"), ("Magic", "enchantments here")]
    docs += [
        ("People", "a villager trades"),
        ("Land", "claim it with a shovel"),
        ("Start", "everybody begins at spawn"),
    ]
    docs += [("Magic table", "an enchantment table stands here")]
    index = LexicalIndex.build([analyse(title, text) for title, text in docs])
    best = index.search(typed, limit=3)[0]
    assert read in docs[best.id][1]
    assert best.hit
    assert best.evidence.corrected[0][0] == typed


def test_two_slips_find_but_prove_less() -> None:
    """A swap and a wrong letter in a long word: found, said, and trusted less than one slip."""
    index = LexicalIndex.build([analyse("", "enchantment table"), analyse("", "nothing of it")])
    one, two = (index.search(typed, limit=1)[0] for typed in ("enchantmnet", "enchatnmemt"))
    assert one.id == two.id == 0
    assert two.evidence.corrected[0][0] == "enchatnmemt"
    assert two.evidence.confidence < one.evidence.confidence


def test_a_known_word_is_never_corrected() -> None:
    """`steal` stays what it is even when `steel` is more frequent."""
    index = LexicalIndex.build([analyse("", "do not steal"), analyse("", "steel"), analyse("", "steel again")])
    assert [hit.id for hit in index.search("steal", limit=5)] == [0]


def test_a_wrong_chinese_character_still_finds() -> None:
    """The other characters and pairs remain."""
    index = LexicalIndex.build([analyse("", "钻石剑很锋利"), analyse("", "商店卖铁锭")])
    assert index.search("钻石箭", limit=1)[0].id == 0


def test_a_large_vocabulary_is_searched_quickly() -> None:
    """100,000 words: a question of unknown words costs milliseconds, not seconds."""
    chance = random.Random(4)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(4, 12))) for _ in range(100_000)]
    spellings = Spellings.build(sorted(set(words)), pause=go_on)
    started = time.process_time()
    for _ in range(8):
        typed = "".join(chance.choices("etaoinshrdlu", k=9)) + "zq"
        spellings.near(typed, 1)
        spellings.near(typed, 2)
    assert (time.process_time() - started) / 8 < 0.05
