"""Typed text is made safe to look at before anything else sees it."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcsystem.engine.intake import COMMAND_ROOM, clean
from mcsystem.errors import AssistantError, ErrorCode


@given(st.text(max_size=300))
def test_what_comes_out_is_one_clean_line(text: str) -> None:
    """No control, format or surrogate characters, no section signs, no double spaces; else a clear refusal."""
    try:
        line = clean(text, 200)
    except AssistantError as error:
        assert error.code in {ErrorCode.REQUEST_EMPTY, ErrorCode.REQUEST_TOO_LONG}
        return
    assert line == " ".join(line.split())
    assert 0 < len(line) <= 200 + COMMAND_ROOM
    assert not any(unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Zl", "Zp"} or letter == "§" for letter in line)


@pytest.mark.parametrize("text", ["", "   ", "\u202e\u202d", "\x00\x1b", "\u200b"])
def test_empty_in_every_disguise(text: str) -> None:
    """Text without anything visible is empty."""
    with pytest.raises(AssistantError) as caught:
        clean(text, 100)
    assert caught.value.code is ErrorCode.REQUEST_EMPTY


def test_a_very_long_text_is_refused_at_once() -> None:
    """100,000 characters get one sentence with the length and the limit."""
    with pytest.raises(AssistantError) as caught:
        clean("why " * 25_000, 1_000)
    assert caught.value.code is ErrorCode.REQUEST_TOO_LONG
    assert caught.value.details == {"length": 100_000, "limit": 1_000}


def test_direction_tricks_and_colours_are_taken_out() -> None:
    """Right-to-left overrides, colour codes and escapes never reach a card."""
    assert clean("how\u202e §cdo\x1b[31m I  claim", 100) == "how cdo [31m I claim"
