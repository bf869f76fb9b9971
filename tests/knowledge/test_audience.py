"""Who may see a document."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcsystem.knowledge import Audience, Viewer, read_audience

ALEX = Viewer(UUID(int=7), "Alex", 0)
STEVE = Viewer(UUID(int=8), "Steve", 0)
OPERATOR = Viewer(UUID(int=9), "Boss", 3)


@pytest.mark.parametrize("text", ["all", "Everyone", " ALL ", "所有人", "0", "public"])
def test_everyone_may_see_what_is_for_all(text: str) -> None:
    """`all` in its spellings, and level 0, admit every player and are not guesses."""
    reading = read_audience(text)
    assert reading.known
    assert not reading.guessed
    assert all(reading.audience.admits(viewer) for viewer in (ALEX, STEVE, OPERATOR, None))


@pytest.mark.parametrize("text", ["2", "level 2", "权限等级 2", "permission: 2", "OP 2"])
def test_a_level_admits_it_and_higher_ones(text: str) -> None:
    """A permission level admits players from that level on."""
    audience = read_audience(text).audience
    assert not audience.admits(ALEX)
    assert audience.admits(Viewer(ALEX.uuid, "Alex", 2))
    assert audience.admits(OPERATOR)


@pytest.mark.parametrize(
    "value", [["Alex"], "players: alex", "ALEX, Nobody2", "Alex、Bob", str(ALEX.uuid), ["alex", str(UUID(int=5))]]
)
def test_named_players_alone_may_see_what_names_them(value: str | list[str]) -> None:
    """Names in any case, and UUIDs, admit those players and nobody else, whatever their level is."""
    reading = read_audience(value)
    assert reading.known
    assert not reading.guessed
    assert reading.audience.admits(ALEX)
    assert not reading.audience.admits(STEVE)
    assert not reading.audience.admits(OPERATOR)


def test_a_list_may_hold_levels_and_names() -> None:
    """`[3, Alex]` is Alex and everyone from level 3 on."""
    audience = read_audience(["3", "Alex"]).audience
    assert [audience.admits(viewer) for viewer in (ALEX, STEVE, OPERATOR)] == [True, False, True]


def test_a_bare_word_is_a_guessed_name() -> None:
    """One bare word is taken for a player's name, and the reading says that it was guessed."""
    reading = read_audience("Alex")
    assert reading.guessed
    assert reading.audience.admits(ALEX)
    assert not reading.audience.admits(STEVE)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "staff",
        "admins",
        "5",
        "-1",
        "level 9",
        "all players except Alex",
        "2.5",
        "{}",
        "a" * 60,
        [],
        ["all", "2"],
        ["?"],
    ],
)
def test_what_is_not_understood_is_nobody(value: str | list[str]) -> None:
    """An unknown value admits no player of any level, and is said to be unknown; the admin still sees it."""
    reading = read_audience(value)
    assert not reading.known
    assert not any(reading.audience.admits(viewer) for viewer in (ALEX, STEVE, OPERATOR, Viewer(UUID(int=1), "x", 4)))
    assert reading.audience.admits(None)


@given(st.text() | st.lists(st.text(max_size=12), max_size=4))
def test_any_value_is_read(value: str | list[str]) -> None:
    """No value raises; what is not understood admits nobody."""
    reading = read_audience(value)
    assert reading.known or reading.audience == Audience.nobody()


@given(st.integers(-1, 4), st.sets(st.sampled_from(["alex", "steve", str(UUID(int=3))])))
def test_the_text_of_an_audience_means_it(level: int, players: set[str]) -> None:
    """An audience written as front matter writes it is read as the same audience."""
    audience = Audience(level, frozenset(players))
    text = audience.text
    assert read_audience(text[1:-1].split(", ") if text.startswith("[") else text).audience == audience
