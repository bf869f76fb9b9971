"""Words: what is taken from a text, and that no text takes long."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcsystem.retrieval import analyse
from mcsystem.retrieval.question import read_question
from mcsystem.retrieval.words import Kind, normal_form, tokens


def plain(text: str) -> list[str]:
    return [token.text for token in tokens(text)]


def test_identifiers_come_whole_and_in_parts() -> None:
    """Ids, commands and versions can be found as written and by their words."""
    assert plain("minecraft:diamond_sword") == ["minecraft:diamond_sword", "minecraft", "diamond", "sword"]
    assert plain("/sethome now") == ["/sethome", "sethome", "now"]
    assert plain("1.20.1") == ["1.20.1", "1", "20", "1"]
    assert plain("and/or don't player's") == ["and", "or", "dont", "player"]


def test_chinese_is_cut_at_function_words_and_mixes_with_latin() -> None:
    """Runs of characters stand between question words; Latin words beside them are words."""
    assert plain("请问怎么领地") == ["领地"]
    assert plain("机械动力的Create模组") == ["机械动力", "create", "模组"]
    assert [token.kind for token in tokens("how 领地")] == [Kind.FUNCTION, Kind.CHARACTERS]


def test_width_and_invisible_characters_do_not_matter() -> None:
    """Full-width letters, ligatures, zero-width joiners and direction marks give the plain word."""
    assert plain("ＳＨＯＰ ﬁre tele\u200bport \u202eabc\u202c") == ["shop", "fire", "teleport", "abc"]
    assert normal_form("e\u0301") == "é"


@given(st.text(max_size=200), st.text(max_size=40))
def test_every_text_can_be_analysed(text: str, title: str) -> None:
    """Any characters, lone surrogates too: features without spaces or repetitions, one weight each."""
    analysed = analyse(title, text)
    assert len(analysed.weights) == 2 * len(analysed.features) == 2 * len(set(analysed.features))
    assert all(feature and not feature.isspace() for feature in analysed.features)
    assert len(read_question(text)) <= 192


@pytest.mark.parametrize(
    "text",
    [
        *(
            "x" * 100_000,
            "字" * 100_000,
            "a.b" * 33_000,
            "\u0300\u0316" * 50_000,
            "e\u0301\u0323" * 33_000,
            "的" * 100_000,
        ),
        *(
            "/" * 100_000,
            "'" * 100_000,
            "a'" * 50_000,
            "\ud800" * 100_000,
            "\ufdfa" * 100_000,
            "_:" * 50_000,
            "9.9:9_" * 16_000,
        ),
    ],
)
def test_hostile_texts_take_bounded_time(text: str) -> None:
    """100,000 characters of anything cost seconds at most in a document, little in a question."""
    started = time.process_time()
    analyse("", text)
    assert time.process_time() - started < 4
    started = time.process_time()
    read_question(text)
    assert time.process_time() - started < 0.5


def test_a_passage_is_analysed_alone() -> None:
    """A word's weight depends on its passage only; more and earlier words weigh as BM25 says, titles have their own."""
    once, twice = analyse("", "iron gold"), analyse("", "iron iron gold")
    assert once.features == twice.features == ("iron", "gold")
    assert twice.weights[:2] > once.weights[:2] or int.from_bytes(twice.weights[:2], "little") > int.from_bytes(
        once.weights[:2], "little"
    )
    assert set(analyse("Shops", "").features) == {"shop", "=shops", "=shop", "~shops"}
