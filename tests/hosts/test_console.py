"""The console: opening is local, numbers press buttons, the language follows the keyboard, pipes get plain text."""

import asyncio
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from mcsystem.app import open_assistant
from mcsystem.cards import Button, Card, Details, Line, Source
from mcsystem.hosts.console import Console, completions, converse, spoken
from mcsystem.hosts.greeting import greeting
from mcsystem.hosts.playing import Seat, play
from mcsystem.hosts.screen import Screen
from mcsystem.ids import Player, offline_uuid
from mcsystem.resources import Texts
from mcsystem.testing import Play

TEXTS = Texts.packaged()
ALEX = Player(offline_uuid("Alex"), "Alex", "en_us")
CARD = Card(
    "T",
    (Line("text"), Details("more", (Line("inner"),))),
    sources=(
        Source(1, "shared", "a.md", "A", "the preview", None, 1.0),
        Source(2, "shared", "b.md", "B", "other", None, 1.0),
    ),
    trace=1,
)


class Sheet(Screen):
    """A screen that can be read and wiped."""

    def __init__(self, *, colour: bool) -> None:
        self.stream = io.StringIO()
        super().__init__(self.stream, colour=colour)


def shown(console: Console) -> str:
    assert isinstance(console.screen, Sheet)
    stream = console.screen.stream
    text = stream.getvalue()
    stream.seek(0)
    stream.truncate()
    return text


def console(*, follow: bool = False, colour: bool = False) -> Console:
    return Console(Sheet(colour=colour), ALEX, TEXTS, follow=follow)


def test_a_source_opens_and_closes_here_alone() -> None:
    """UI-02: `/open 1`, `/展开 2`, `/close 1` are local: no request is made of them."""
    one = console()
    asyncio.run(one.deliver(ALEX, CARD))
    assert "the preview" not in shown(one)
    assert one.local("/open 1")
    assert shown(one) == snapshot("▾ [1] A (a.md)\n    the preview\n\n")
    assert one.local(" /展开  2 ")
    assert "other" in shown(one)
    assert one.local("/open [3]")
    assert "inner" in shown(one)
    assert one.local("/close 1")
    assert shown(one) == "▸ [1] A (a.md)\n\n"
    assert one.local("/open 7")
    assert shown(one) == "Which one? Open one of: 1, 2, 3\n\n"
    assert not one.local("/opening hours")
    assert not one.local("/question open 1")


def test_nothing_to_open_is_said() -> None:
    """Before any answer, and after one without sources."""
    one = console()
    assert one.local("/open 1")
    assert shown(one) == "There is nothing to open on the last answer.\n\n"


def test_a_number_presses_a_button_where_there_is_one_and_opens_a_source_where_there_is_none() -> None:
    """UI-06: with buttons on the card the engine resolves the number; without, it opens the source of that number."""
    one = console()
    asyncio.run(one.deliver(ALEX, CARD))
    assert one.local("2")
    assert not one.local("9")
    asyncio.run(one.deliver(ALEX, CARD.adding(Button("go", "/go", 5))))
    assert not one.local("2")


def test_looking_does_not_close_what_was_open() -> None:
    """A notice between two answers leaves the last answer's sources where they are."""
    one = console()
    asyncio.run(one.deliver(ALEX, CARD))
    asyncio.run(one.deliver(ALEX, Card("", (Line("Looking..."),))))
    assert one.local("/open 1")
    assert "the preview" in shown(one)


def test_a_number_belongs_to_what_was_said_before() -> None:
    """After a Chinese question the options are pressed in Chinese, with no word to tell it by."""
    one = console(follow=True)
    spoken_in = [one.request(line, "en_us").player.language for line in ("怎么领地", "1", "2", "where am I now")]
    assert spoken_in == ["zh_cn", "zh_cn", "zh_cn", "en_us"]


@pytest.mark.parametrize(
    ("line", "base", "language"),
    [
        ("提问 怎么领地", "en_us", "zh_cn"),
        ("提问 怎么领地", "zh_tw", "zh_tw"),
        ("/question how do I claim land", "zh_cn", "en_us"),
        ("/question how do I claim land", "en_us", "en_us"),
        ("/help", "zh_cn", "zh_cn"),
        ("/system ai on now", "zh_cn", "zh_cn"),
        ("1", "zh_cn", "zh_cn"),
        ("/question wo zai", "de_de", "de_de"),
    ],
)
def test_the_keyboard_says_the_language(line: str, base: str, language: str) -> None:
    """Both first sentences of the demo answer in one session, since no game client says which language is meant."""
    assert spoken(line, base, base) == language
    following = console(follow=True)
    following.player = replace(following.player, language=base)
    assert following.request(line, base).player.language == language
    assert console(follow=False).request(line, base).player.language == "en_us"


def test_completion_offers_commands_with_what_they_do() -> None:
    """Nothing before anything is typed; the console's own commands too."""
    assert completions("", [], TEXTS, "en_us") == []
    assert [one.name for one in completions(" /o", [], TEXTS, "en_us")] == ["/open"]
    assert all(one.summary for one in completions("/", [], TEXTS, "zh_cn"))


def test_the_greeting_names_three_things_to_try() -> None:
    """In the reader's language, and says when there is no knowledge yet."""
    rows = greeting(TEXTS, "en_us", player="Alex", world="/w", demo=True, languages=("en_us",))
    assert [row.text for row in rows] == snapshot(
        [
            "System · Alex",
            "A small demo server at /w. Nothing you type leaves this machine unless you set up a model.",
            "Three things to try:",
            "  · /question how do I claim land",
            "  · 提问 怎么领地",
            "  · /help",
        ]
    )
    chinese = greeting(TEXTS, "zh_cn", player="Alex", world="/w", demo=False, languages=())
    assert "还没有资料" in chinese[2].text


def lines(*said: str) -> Callable[[], str]:
    left = [f"{line}\n" for line in said]
    return lambda: left.pop(0) if left else ""


def test_a_pipe_gets_one_answer_a_line_in_order(tmp_path: Path) -> None:
    """Each line is one request and its answer comes before the next one is read; local lines ask nobody."""
    play_ = Play(tmp_path)
    play_.learn("claims.md", "# Claims\n\nTake the golden shovel and click two corners to claim land.")
    one = console()

    async def run() -> None:
        async with open_assistant(play_.plan(), one) as assistant:
            said = ("/question claim land", "/open 1", "/cancel", "/more", "", "hello you", "1", "7", "/quit", "/help")
            await converse(one, assistant, lines(*said))
            assert assistant.services.traces.find(None) is not None

    asyncio.run(run())
    answers = shown(one).strip().split("\n\n")
    assert [answer.splitlines()[0] for answer in answers] == snapshot(
        [
            "claims.md › Claims",
            "▾ [1] claims.md › Claims (claims.md)",
            "Nothing is running, so there was nothing to stop.",
            "There are no more pages.",
            "What would you like?",
            "The server's knowledge has nothing on this.",
            "That option is no longer on the screen. Ask again to get a fresh list.",
        ]
    )


def test_a_new_world_is_filled_with_the_demo_and_answers_in_both_languages(tmp_path: Path) -> None:
    """The stranger's first minute: two questions in two languages, both answered, nothing set up."""
    one = console(follow=True)
    seat = Seat(one, terminal=False, fill=True, read=lines("/question how do I claim land", "提问 怎么领地"))
    asyncio.run(play(Play(tmp_path).plan(), seat))
    text = shown(one)
    assert text.count("land-claims.md") > 3
    assert "local · 0 calls · 0" in text
    assert "本地 · 调用 0 次 · 花费 0" in text


def test_colour_codes_are_ours_alone() -> None:
    """A terminal gets colours and links; what a document brings of them is gone, markup is text."""
    one = console(colour=True)
    bad = "\x1b[31mx[bold]\x1b]8;;http://evil\x07"
    source = Source(1, "shared", bad, bad, bad, "https://example.org/page", 1.0)
    asyncio.run(one.deliver(ALEX, Card(bad, (Line(bad, "warning"),), sources=(source,), trace=1)))
    text = shown(one)
    assert "\x1b[33mx[bold]\x1b[0m" in text
    assert "\x1b[31m" not in text
    assert "evil" not in text
    assert "\x1b]8;" in text
    assert "https://example.org/page" in text
