"""Cutting: nothing is lost, nothing is too long, every passage knows where it stands."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcsystem.retrieval import Passage, cut_passages
from mcsystem.retrieval.passages import width

LINES = st.sampled_from(
    [
        "# Rules",
        "## Land claims ##",
        "Title",
        "===",
        "---",
        "",
        "",
        "Some text. And more of it! Is it so?",
        "怎么领地？用金锄。圈地以后，就可以盖房子；",
        "| a | b |",
        "- item",
        "```python",
        "```",
        "~~~",
        "# no heading " + "x" * 250,
        "word " * 40,
        "字" * 90,
        "\t  indented",
        "a\u2028b\x0cc",
    ]
)
BODIES = st.one_of(st.lists(LINES, max_size=25).map("\n".join), st.text(max_size=300))


@settings(deadline=None)
@given(BODIES, st.booleans(), st.integers(3, 200))
def test_nothing_is_lost_and_nothing_is_twice(body: str, markdown: bool, size: int) -> None:  # noqa: FBT001 - drawn
    """Passages are in order, do not overlap, and only blanks and headings named in title paths stand between them."""
    passages = cut_passages("Guide", body, markdown=markdown, size=size)
    end, path_text = 0, ""
    for passage in passages:
        assert body[passage.start : passage.end] == passage.text == passage.text.strip() != ""
        assert passage.start >= end
        path_text = " ".join([path_text[-2000:], passage.title])
        gap = body[end : passage.start]
        for word in gap.split():
            assert not word.strip("#=-") or word in passage.title or "Guide".casefold() == word.casefold()
        end = passage.end
    assert not markdown or not body[end:].strip() or passages
    if not markdown:
        assert "".join(passage.text for passage in passages).split() == [] or not body[end:].strip()
        assert sorted("".join("".join(p.text.split()) for p in passages)) == sorted("".join(body.split()))


@settings(deadline=None)
@given(BODIES, st.booleans(), st.integers(3, 200))
def test_no_passage_is_wider_than_asked(body: str, markdown: bool, size: int) -> None:  # noqa: FBT001 - drawn
    """The limit holds, headings without text below them aside (they are at most 200 characters)."""
    for passage in cut_passages("", body, markdown=markdown, size=size):
        assert width(passage.text) <= size or (passage.text.startswith("#") or "\n" in passage.text)


def test_chinese_counts_three_times() -> None:
    """So that a passage of either language says about as much."""
    assert width("ab 字") == 6
    assert max(len(p.text) for p in cut_passages("", "字" * 1_000)) == 200


def test_the_title_path_follows_the_headings() -> None:
    """Deeper headings add to the path, equal ones replace; a first heading that repeats the title is not said twice."""
    body = "intro\n\n# Rules\n\none\n\n## Land\n\ntwo\n\n### Deep\n\nthree\n\n## Shop\n\nfour\n\nOther\n=====\n\nfive"
    titles = [(passage.title, passage.text) for passage in cut_passages("Rules", body)]
    assert titles == [
        ("Rules", "intro"),
        ("Rules", "one"),
        ("Rules > Land", "two"),
        ("Rules > Land > Deep", "three"),
        ("Rules > Shop", "four"),
        ("Rules > Other", "five"),
    ]


def test_a_heading_with_nothing_below_is_still_found() -> None:
    """An empty last section is a passage of its own; a heading that only groups others is not."""
    assert [(p.title, p.text) for p in cut_passages("", "# A\n## B\ntext\n# Keep inventory is on")] == [
        ("A > B", "text"),
        ("Keep inventory is on", "# Keep inventory is on"),
    ]


def test_code_and_tables_stay_whole_where_they_fit() -> None:
    """A fence hides headings and blank lines; a table is one block."""
    body = "text\n\n```sh\n# not a heading\n\nrun\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert [p.text for p in cut_passages("", body, size=34)] == [
        "text",
        "```sh\n# not a heading\n\nrun\n```",
        "| a | b |\n|---|---|\n| 1 | 2 |",
    ]
    assert cut_passages("", "```\nnever closed\n# inside")[0].text == "```\nnever closed\n# inside"


def test_small_paragraphs_share_a_passage_and_plain_text_has_no_headings() -> None:
    """Neighbours join up to the size; `#` means nothing in plain text."""
    assert len(cut_passages("", "one\n\ntwo\n\nthree")) == 1
    assert cut_passages("T", "# one\n\ntwo", markdown=False) == [Passage("T", "# one\n\ntwo", 0, 10)]


@pytest.mark.parametrize("body", ["", " \n\t\n", "\u3000"])
def test_a_blank_body_has_no_passages(body: str) -> None:
    """Nothing to show, nothing to index."""
    assert cut_passages("Title", body) == []


@pytest.mark.parametrize(
    "body",
    [
        *("x" * 100_000, "字" * 100_000, "a." * 50_000, "# " * 50_000, "\n" * 100_000, "a\n" * 50_000, "- \n" * 30_000),
        *(
            "`" * 100_000,
            "#" * 100_000,
            "word " * 20_000,
            "= " * 50_000,
            "| " * 50_000,
            "A\n=\n" * 25_000,
            " " * 100_000,
        ),
    ],
)
def test_hostile_bodies_are_cut_in_bounded_time(body: str) -> None:
    """100,000 characters of anything cost well under two seconds of processor time."""
    started = time.process_time()
    cut_passages("T", body)
    assert time.process_time() - started < 2
