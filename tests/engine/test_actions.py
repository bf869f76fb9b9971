"""Buttons: tokens work once, for their player, while their card lives."""

from uuid import UUID

import pytest

from mcsystem.cards import Button, Card, Details, Line
from mcsystem.engine.actions import CARD_SECONDS, Actions
from mcsystem.errors import AssistantError, ErrorCode

ANNA, BEN = UUID(int=1), UUID(int=2)
CARD = Card("t", (Line("x"), Button("one", "/a"), Details("more", (Button("two", "/b"),))))


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def stale(actions: Actions, player: UUID, text: str) -> None:
    with pytest.raises(AssistantError) as caught:
        actions.resolve(player, text)
    assert caught.value.code is ErrorCode.BUTTON_STALE


def test_numbers_and_tokens_press_the_button_once() -> None:
    """UI-06: a short number or the token runs the button's command, a second press is refused."""
    actions = Actions(Clock(), per_minute=30)
    first, second = actions.offer(ANNA, CARD).buttons
    assert actions.resolve(ANNA, "2") == "/b"
    stale(actions, ANNA, "2")
    assert actions.resolve(ANNA, str(first.token)) == "/a"
    stale(actions, ANNA, str(first.token))
    assert 99 < second.token < 2**31


def test_another_players_buttons_are_foreign() -> None:
    """UI-06: a stranger's token is refused with a hint."""
    actions = Actions(Clock(), per_minute=30)
    button, _ = actions.offer(ANNA, CARD).buttons
    actions.offer(BEN, CARD)
    stale(actions, BEN, str(button.token))
    assert actions.resolve(ANNA, str(button.token)) == "/a"


def test_a_card_ages_out_and_a_newer_one_takes_the_numbers() -> None:
    """UI-06: an old card's token dies with its card; numbers belong to the newest card with buttons."""
    clock = Clock()
    actions = Actions(clock, per_minute=30)
    old, _ = actions.offer(ANNA, CARD).buttons
    actions.offer(ANNA, Card("n", (Button("new", "/n"),)))
    assert actions.resolve(ANNA, "1") == "/n"
    stale(actions, ANNA, "2")
    clock.now += CARD_SECONDS + 1
    stale(actions, ANNA, str(old.token))


def test_numbers_without_any_card_are_ordinary_text() -> None:
    """A number typed when no card has buttons is not a press."""
    actions = Actions(Clock(), per_minute=30)
    assert actions.resolve(ANNA, "7") is None
    assert actions.resolve(ANNA, "hello 1") is None
    assert actions.resolve(ANNA, "１") is None


def test_typed_numbers_are_rate_limited() -> None:
    """Guessing is slow: only so many numbers a minute are looked at."""
    clock = Clock()
    actions = Actions(clock, per_minute=3)
    actions.offer(ANNA, CARD)
    for _ in range(3):
        stale(actions, ANNA, "9")
    stale(actions, ANNA, "1")
    clock.now += 61
    assert actions.resolve(ANNA, "1") == "/a"


def test_memory_stays_bounded() -> None:
    """Many cards of many players leave a bounded number of tokens behind."""
    actions = Actions(Clock(), per_minute=30)
    for number in range(5_000):
        actions.offer(UUID(int=number), CARD)
        actions.offer(ANNA, CARD)
    players = actions._players  # pyright: ignore[reportPrivateUsage]  # what is kept shows nowhere else
    assert len(players) <= 2_001
    assert all(len(opened.tokens) <= 128 for opened in players.values())
