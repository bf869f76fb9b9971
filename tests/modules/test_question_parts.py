"""Parts of the question module: excerpts that read well, citations that are checked."""

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.modules.question.answer import Claim, LocalAnswer, check
from mcsystem.modules.question.excerpt import excerpt

TEXT = """## Claiming

A claim protects everything from
bedrock to sky. Hold a golden shovel and right-click two
opposite corners of the area.

| item | price |
| ---- | ----- |
| Wheat | 2 |

- `/claim list` shows every claim.
- **/claim abandon** gives it up.
"""


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("golden shovel corners", "Hold a golden shovel and right-click two opposite corners of the area."),
        ("what is the price of wheat", "item price"),
        ("how to abandon", "/claim abandon gives it up."),
        ("zebra", "Claiming"),
    ],
)
def test_the_closest_sentence_comes_with_what_follows(question: str, begins: str) -> None:
    """Wrapped lines are joined, tables and lists are read by the row, Markdown marks are gone."""
    assert excerpt(TEXT, question, 120).startswith(begins)


def test_a_short_passage_is_shown_whole() -> None:
    """What fits is not cut: steps of a list keep their order."""
    text = "Three steps:\n1. Take the shovel.\n2. Click one corner.\n3. Click the other.\n"
    assert excerpt(text, "click", 200) == "Three steps: Take the shovel. Click one corner. Click the other."


def test_chinese_sentences() -> None:
    """Chinese full stops end sentences, pairs of characters count."""
    text = "领地从基岩到天空都受保护。手持金锹,右键点击两个对角就能圈地。放弃用 /claim abandon。"
    assert excerpt(text, "怎么圈地", 40).startswith("手持金锹")


@given(st.text(max_size=400), st.text(max_size=60), st.integers(2, 200))
def test_an_excerpt_is_never_longer_than_asked_nor_fails(text: str, question: str, limit: int) -> None:
    """Whatever a document holds, the excerpt is bounded."""
    assert len(excerpt(text, question, limit)) <= limit


def test_marks_are_checked_and_put_at_the_end() -> None:
    """Inline marks in every bracket count as citations and are shown once."""
    checked = check(LocalAnswer(answered=True, claims=[Claim("Dig【2】 here [1, 3].", [1])]), 3)
    assert checked.lines == ("Dig here . [1][2][3]",)
    assert checked.cited == {1, 2, 3}


@pytest.mark.parametrize("mark", ["[4]", "【4】", "［4］", "[^4]", "[1-4]", "[1,4]", "[0]"])
def test_a_mark_without_a_passage_is_refused_in_every_spelling(mark: str) -> None:
    """WEB-09 for local answers: an unknown number in any spelling rejects the answer."""
    with pytest.raises(AssistantError) as caught:
        check(LocalAnswer(answered=True, claims=[Claim(f"Dig {mark}", [1])]), 3)
    assert caught.value.code is ErrorCode.MODEL_CITATION_INVALID


@pytest.mark.parametrize(
    "text",
    ["[" * 50_000, "[" + " " * 50_000, "![x](" * 20_000, "[1" + " " * 50_000 + "x", "【1," * 20_000, "[" + "9" * 6_000],
)
def test_a_hostile_answer_costs_no_time(text: str) -> None:
    """A megabyte of brackets is read in no time and never raises anything foreign: the loop must not stand still."""
    began = time.process_time()
    with contextlib.suppress(AssistantError):
        check(LocalAnswer(answered=True, claims=[Claim(text, [1])] * 8), 3)
    assert time.process_time() - began < 0.2


def test_a_number_too_long_to_be_one_is_refused() -> None:
    """`[9999999999]` is a mark without a passage."""
    for text in ("homes [9999999999]", "homes [" + "9" * 5_000 + "]"):
        with pytest.raises(AssistantError) as caught:
            check(LocalAnswer(answered=True, claims=[Claim(text, [1])]), 3)
        assert caught.value.code is ErrorCode.MODEL_CITATION_INVALID


@given(
    st.lists(st.tuples(st.text(max_size=80), st.lists(st.integers(-3, 9), max_size=4)), max_size=5), st.integers(1, 5)
)
def test_whatever_passes_cites_existing_passages(claims: list[tuple[str, list[int]]], count: int) -> None:
    """For random answers: either an error, or every number shown exists and no address is left."""
    try:
        checked = check(LocalAnswer(answered=True, claims=[Claim(*claim) for claim in claims]), count)
    except AssistantError as error:
        assert error.recoverable
        return
    assert checked.cited <= set(range(1, count + 1))
    assert not any("http://" in line for line in checked.lines)
