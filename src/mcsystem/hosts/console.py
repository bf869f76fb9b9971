"""The console host: a player of one world at a keyboard, or lines from a pipe; sources are opened here alone."""

import asyncio
import contextlib
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from mcsystem.cards import Card
from mcsystem.engine.assistant import Assistant
from mcsystem.engine.run import CommandHelp
from mcsystem.hosts.greeting import local_help
from mcsystem.hosts.screen import Screen
from mcsystem.ids import Player, Request
from mcsystem.render.rows import Row, Span, View, block_numbers, block_rows, card_rows
from mcsystem.resources import CHINESE, FALLBACK, Texts

OPEN: Final = ("/open", "/展开")
CLOSE: Final = ("/close", "/收起")
QUIT: Final = frozenset({"/quit", "/exit", "/退出"})
HELP: Final = frozenset({"/help", "/system help", "/帮助", "帮助"})
NOTE_SECONDS: Final = 5.0
NUMBER: Final = re.compile(r"\s*#?\[?([0-9]{1,4})\]?")
HAN: Final = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
WORDS: Final = re.compile(r"[A-Za-z]{2,}")


def spoken(line: str, base: str, last: str) -> str:
    """The language in which a line is asked, for a keyboard that no game client stands behind.

    Chinese characters mean Chinese; a question of several English words means English; a number
    belongs to what was said before (`last`); anything else is `base`.
    """
    if HAN.search(line):
        return base if base.startswith("zh_") else CHINESE
    words = WORDS.findall(line.partition(" ")[2] if line.startswith("/") else line)
    if NUMBER.fullmatch(line.strip()):
        return last
    return FALLBACK if base.startswith("zh_") and len(words) > 1 and not line.startswith("/system") else base


@dataclass(slots=True)
class Console:
    """One player at one screen.

    Attributes:
        screen: where cards go.
        player: who is playing; their language may follow what they type.
        follow: whether the language follows what is typed.
        texts: every sentence; the assistant's once it is there.
        closed: whether nobody reads the screen any more.
        shown: set when a card was shown.
    """

    screen: Screen
    player: Player
    texts: Texts
    follow: bool = False
    name: str = "console"
    owner_present: bool = True
    closed: bool = False
    shown: asyncio.Event = field(default_factory=asyncio.Event)
    _card: Card | None = None
    _opened: set[int] = field(default_factory=set[int])
    _after: tuple[Row, ...] = ()

    # ---- the host's side -------------------------------------------------------------------------------------

    async def deliver(self, player: Player, card: Card) -> None:
        """Show a card at once, also above a line that is being typed."""
        if card.trace or card.sources:
            self._card, self._opened = card, set()
        after, self._after = (self._after, ()) if card.trace else ((), self._after)
        try:
            self.screen.show([*card_rows(card, self._view(player.language)), *self.screen.fit(after), Row(())])
        except OSError:  # whoever read our output has gone
            self.closed = True
        self.shown.set()

    # ---- what the console knows by itself --------------------------------------------------------------------

    def local(self, line: str) -> bool:
        """Whether the line was about this screen alone, and is done: nothing is searched and no model called."""
        text = " ".join(line.split())
        for words, opening in ((OPEN, True), (CLOSE, False)):
            for word in words:
                rest = text.removeprefix(word)
                if rest != text and (not rest or not rest[0].isalpha()):
                    self._turn(rest, opening=opening)
                    return True
        found = NUMBER.fullmatch(text)
        if found and self._card is not None and not self._card.buttons and int(found[1]) in block_numbers(self._card):
            self._turn(text, opening=int(found[1]) not in self._opened)
            return True
        return False

    def _turn(self, text: str, *, opening: bool) -> None:
        numbers = block_numbers(self._card) if self._card is not None else ()
        found = NUMBER.fullmatch(text)
        number = int(found[1]) if found else (numbers[0] if len(numbers) == 1 and not text.strip() else 0)
        if self._card is None or number not in numbers:
            key = "console.open.which" if numbers else "console.open.none"
            shown = ", ".join(map(str, numbers))
            self.say(self.texts.tr(self.player.language, key, numbers=shown), "muted")
            return
        (self._opened.add if opening else self._opened.discard)(number)
        self.screen.show([*block_rows(self._card, number, self._view(self.player.language)), Row(())])

    def say(self, text: str, style: str = "plain") -> None:
        """A line of the console's own."""
        row = Row((Span(text, "muted" if style == "muted" else "plain"),))
        self.screen.show([*self.screen.fit([row]), Row(())])

    def request(self, line: str, base: str) -> Request:
        """The request that a line makes."""
        if self.follow:
            self.player = replace(self.player, language=spoken(line, base, self.player.language))
        if " ".join(line.split()).casefold() in HELP:
            self._after = tuple(local_help(self.texts, self.player.language))
        return Request(self.player, line)

    def _view(self, language: str) -> View:
        screen = self.screen
        return View(self.texts, language, screen.width, frozenset(self._opened), screen.terminal)


async def exchange(console: Console, assistant: Assistant, request: Request) -> None:
    """One request from a pipe: returns when its last card was shown."""
    console.shown.clear()
    assistant.submit(request)
    accepted = asyncio.Event()
    asyncio.get_running_loop().call_soon_threadsafe(accepted.set)  # runs after the request was taken
    await accepted.wait()
    state = assistant.services.players.find(request.player.uuid)
    if state is not None and state.task is not None:
        await asyncio.wait({state.task})
    with contextlib.suppress(TimeoutError):  # a note of the engine's own comes by a task that we do not know
        async with asyncio.timeout(NOTE_SECONDS):
            await console.shown.wait()


async def converse(console: Console, assistant: Assistant, read: Callable[[], str]) -> None:
    """Lines from a pipe, one request each, until they end.

    Args:
        console: shows the cards.
        assistant: answers.
        read: the next line with its line break, empty at the end; blocks.
    """
    base = console.player.language
    while not console.closed and (line := await _waited(read)):
        text = line.strip()
        if text.casefold() in QUIT:
            return
        if text and not console.local(text):
            await exchange(console, assistant, console.request(text, base))


async def _waited(read: Callable[[], str]) -> str:
    """What `read` returns, on a thread that nobody waits for at the end."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()

    def job() -> None:
        found = read()
        with contextlib.suppress(RuntimeError):  # the loop ended while we waited for a line
            loop.call_soon_threadsafe(lambda: line.done() or line.set_result(found))

    threading.Thread(target=job, daemon=True, name="lines").start()
    return await line


def completions(typed: str, commands: list[CommandHelp], texts: Texts, language: str) -> list[CommandHelp]:
    """The commands that begin with what is typed, the console's own included; none before anything is typed."""
    own = [
        CommandHelp("/open", "/open 1", texts.tr(language, "console.help.open")),
        CommandHelp("/close", "/close 1", texts.tr(language, "console.help.close")),
        CommandHelp("/cancel", "/cancel", texts.tr(language, "console.help.cancel")),
        CommandHelp("/quit", "/quit", texts.tr(language, "console.help.quit")),
    ]
    start = typed.lstrip().casefold()
    return [one for one in [*commands, *own] if start and one.name.casefold().startswith(start)]
