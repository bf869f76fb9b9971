"""Buttons as numbers: which token or short number means which command, for whom, and how long."""

import secrets
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from mcsystem.cards import Button, Card, Details, Node
from mcsystem.errors import AssistantError, ErrorCode

CARD_SECONDS: Final = 300.0
PLAYERS_KEPT: Final = 2_000
TOKENS_KEPT: Final = 128
SHORT: Final = 99


@dataclass(slots=True)
class _Open:
    """One player's buttons: the newest card's by short number, every live card's by token."""

    version: int = 0
    shown: dict[int, int] = field(default_factory=dict[int, int])
    tokens: OrderedDict[int, tuple[str, float]] = field(default_factory=OrderedDict[int, tuple[str, float]])
    typed: deque[float] = field(default_factory=deque[float])


class Actions:
    """Gives the buttons of a delivered card their tokens and turns a token back into the command, once.

    A token is an integer 1..2^31-1; a short number is the button's place on the newest card. Both work for the
    player who got the card alone, until the card ages out or, for short numbers, the next card with buttons comes.

    Args:
        clock: monotonic seconds.
        per_minute: short numbers that one player may type in a minute.
    """

    def __init__(self, clock: Callable[[], float], *, per_minute: int) -> None:
        self._clock = clock
        self._per_minute = per_minute
        self._players: OrderedDict[UUID, _Open] = OrderedDict()

    def offer(self, player: UUID, card: Card) -> Card:
        """The card with tokens on its buttons; from now on they are the ones `player` may press."""
        if not card.buttons:
            return card
        opened = self._players.setdefault(player, _Open())
        self._players.move_to_end(player)
        while len(self._players) > PLAYERS_KEPT:
            self._players.popitem(last=False)
        opened.version += 1
        opened.shown = {}
        return replace(card, body=self._give(opened, card.body))

    def _give(self, opened: _Open, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        given: list[Node] = []
        for node in nodes:
            if isinstance(node, Button):
                token = secrets.randbelow(2**31 - 1 - SHORT - 1) + SHORT + 1
                opened.tokens[token] = (node.command, self._clock() + CARD_SECONDS)
                opened.shown[len(opened.shown) + 1] = token
                given.append(replace(node, token=token))
            elif isinstance(node, Details):
                given.append(replace(node, body=self._give(opened, node.body)))
            else:
                given.append(node)
        while len(opened.tokens) > TOKENS_KEPT:
            opened.tokens.popitem(last=False)
        return tuple(given)

    def peek(self, player: UUID, text: str) -> str:
        """The command a short number would press, empty when it presses none; nothing is used up."""
        opened = self._players.get(player)
        short = opened is not None and text.isascii() and text.isdigit() and len(text) <= len(str(SHORT))
        return opened.tokens.get(opened.shown.get(int(text), 0), ("", 0.0))[0] if opened is not None and short else ""

    def resolve(self, player: UUID, text: str) -> str | None:
        """The command that `text` presses, or None when it is no number or no card of theirs has buttons.

        Errors: BUTTON_STALE for a number that is not (or no longer) theirs to press, or too many typed numbers.
        """
        if not (text.isascii() and text.isdigit() and len(text) <= 10):  # noqa: PLR2004  # 2^31-1 has ten digits
            return None
        opened = self._players.get(player)
        number = int(text)
        if opened is None:
            if number > SHORT:
                raise AssistantError(ErrorCode.BUTTON_STALE)
            return None
        now = self._clock()
        token = number
        if number <= SHORT:
            self._count_typed(opened, now)
            token = opened.shown.get(number, 0)
        command, until = opened.tokens.pop(token, ("", 0.0))
        if not command or now > until:
            raise AssistantError(ErrorCode.BUTTON_STALE)
        return command

    def _count_typed(self, opened: _Open, now: float) -> None:
        while opened.typed and opened.typed[0] < now - 60:
            opened.typed.popleft()
        if len(opened.typed) >= self._per_minute:
            raise AssistantError(ErrorCode.BUTTON_STALE)
        opened.typed.append(now)

    def forget(self, player: UUID) -> None:
        """Drop every button of this player."""
        self._players.pop(player, None)
