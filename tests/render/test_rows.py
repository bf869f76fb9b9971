"""A card as rows: closed at first, opened one block at a time, every text only text."""

from dataclasses import replace

import pytest
from inline_snapshot import snapshot

from mcsystem.cards import Button, Calls, Card, Details, Line, Link, Source, Status
from mcsystem.ids import AnsweredBy, Origin
from mcsystem.render.plain import plain
from mcsystem.render.rows import View, badge, block_numbers, block_rows, card_rows
from mcsystem.render.width import text_width
from mcsystem.resources import Texts

TEXTS = Texts.packaged()
SOURCES = (
    Source(1, "shared", "claims.md", "Land claims > Claiming", "Take the golden shovel. " * 20, None, 0.5),
    Source(2, "web", "https://example.org/x", "Wiki", "Short.", "https://example.org/x", 0.4),
)
CARD = Card(
    "Land claims > Claiming",
    (
        Line("Hold a golden shovel. [1]"),
        Button("Next page", "/more"),
        Details("More about it", (Line("inner"), Button("Inside", "/inside"))),
        Link("Map", "https://example.org/map"),
    ),
    status=Status.MATERIAL,
    answered_by=AnsweredBy.LOCAL,
    sources=SOURCES,
    trace=7,
)


def view(*opened: int, language: str = "en_us", width: int = 60) -> View:
    return View(TEXTS, language, width, frozenset(opened))


def test_blocks_are_closed_at_first() -> None:
    """UI-02: sources and details show their head alone; no word of a preview is there before it is opened."""
    assert plain(CARD, view()) == snapshot(
        """\
Land claims › Claiming
Hold a golden shovel. [1]
  1. Next page
▸ [3] More about it
Map https://example.org/map
▸ [1] Land claims › Claiming (claims.md)
▸ [2] Wiki (https://example.org/x)
local · 0 calls · 0\
"""
    )


def test_an_opened_source_shows_three_lines_at_most_and_its_link() -> None:
    """UI-02: at most three lines of preview, with an ellipsis when there is more."""
    rows = [row.text for row in block_rows(CARD, 1, view(1))]
    assert rows[0] == "▾ [1] Land claims › Claiming (claims.md)"
    assert len(rows) == 4
    assert rows[3].endswith("…")
    assert [row.text for row in block_rows(CARD, 2, view(2))] == snapshot(
        ["▾ [2] Wiki (https://example.org/x)", "    Short.", "    https://example.org/x"]
    )
    assert [row.text for row in block_rows(CARD, 3, view(3))] == ["▾ [3] More about it", "    inner", "      2. Inside"]
    assert block_rows(CARD, 9, view(9)) == []
    assert block_numbers(CARD) == (1, 2, 3)


def test_no_row_is_wider_than_the_screen() -> None:
    """Rows are broken to the width, Chinese counted as two cells, broken parts under their text."""
    card = replace(CARD, body=(Button("按钮" * 40, "/x"), Line("领地" * 60)))
    for width in (24, 40, 77):
        assert all(text_width(row.text) <= width for row in card_rows(card, view(1, width=width)))


def test_hostile_text_is_only_text() -> None:
    """No escape, direction or colour code of a title, line, label, document or preview reaches the screen."""
    bad = "\x1b[31m§c\u202e[red]x\x07"
    source = Source(1, "shared", bad, bad, bad, "javascript:x", 1.0)
    card = Card(
        bad,
        (Line(bad), Button(bad, bad), Link(bad, "file:///x"), Details(bad, (Line(bad),))),
        sources=(source,),
        trace=1,
    )
    text = plain(card, view(1, 2))
    assert not {"\x1b", "\x07", "§", "\u202e"} & set(text)
    assert "javascript" not in text
    assert "file:" not in text
    assert text.count("[red]x") == 9


@pytest.mark.parametrize(
    ("card", "english", "chinese"),
    [
        (CARD, "local · 0 calls · 0", "本地 · 调用 0 次 · 花费 0"),
        (
            replace(CARD, answered_by=AnsweredBy.MODEL, calls=Calls(model=1), cost="0.0012"),
            "model · 1 call · 0.0012 CNY",
            "模型 · 调用 1 次 · 花费 0.0012 CNY",
        ),
        (replace(CARD, origin=Origin.CACHE), "cache · 0 calls · 0", "缓存 · 调用 0 次 · 花费 0"),
        (
            replace(CARD, answered_by=AnsweredBy.WEB, calls=Calls(1, 2, 3)),
            "web · 6 calls · cost unknown",
            "联网 · 调用 6 次 · 花费未知",
        ),
        (
            replace(CARD, answered_by=AnsweredBy.MODEL, calls=Calls(1, tokens=812)),
            "model · 1 call · 812 tokens",
            "模型 · 调用 1 次 · 812 个 token",
        ),
        (replace(CARD, answered_by=AnsweredBy.COMMAND), "command · 0 calls · 0", "命令 · 调用 0 次 · 花费 0"),
    ],
)
def test_the_badge_says_why(card: Card, english: str, chinese: str) -> None:
    """UI-08: command, cache, local, model or web, billable calls and their cost."""
    assert badge(card, TEXTS, "en_us") == english
    assert badge(card, TEXTS, "zh_cn") == chinese
    assert english in plain(card, view())


def test_a_line_that_answers_nothing_has_no_badge() -> None:
    """'Looking...' and the like are no answers."""
    assert plain(Card("", (Line("Looking..."),)), view()) == "Looking..."
