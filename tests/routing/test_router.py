"""Explicit commands and phrases: found in every written form, never guessed."""

from hypothesis import given
from hypothesis import strategies as st

from mcsystem.routing import Chosen, Command, Denied, Misused, Plain, Router, Routing, Unknown


def word(text: str) -> str | None:
    return text or None


ROUTER = Router(
    {
        "t:ask": Routing(word, commands=(Command("question", word, usage="use"), Command("提问", word, bare=True))),
        "t:admin": Routing(
            word, commands=(Command("system reload", word, permission=2), Command("sys", word, bare=True))
        ),
    }
)


def arguments(text: str, permission: int = 0) -> object:
    decision = ROUTER.decide(text, permission=permission)
    return decision.arguments if isinstance(decision, Chosen) else decision


def test_every_written_form_of_a_command() -> None:
    """QA-10: `/question TEXT`, `提问 TEXT`, `/system question TEXT`, full-width slash and colon, any case."""
    for line in (
        "/question how are you",
        "/system question how are you",
        "/QUESTION how are you",
        "／question how are you",
        "  /question   how are you ",
        "/Question: how are you",
    ):
        assert arguments(line) == "how are you", line
    for line in (
        "提问 怎么领地",
        "提问怎么领地",
        "提问:怎么领地",
        "提问：怎么领地",
        "/提问 怎么领地",
        "/system 提问 怎么领地",
    ):
        assert arguments(line) == "怎么领地", line


def test_a_latin_phrase_ends_at_a_word() -> None:
    """A bare Latin command is a word, not a prefix of another."""
    assert arguments("sys x") == "x"
    assert arguments("system is down") == Plain("system is down")


def test_misuse_unknown_and_denied_are_told_apart() -> None:
    """Bad use names the form, an unknown command its name, a forbidden one the level."""
    assert arguments("/question") == Misused("use")
    assert arguments("/claim all") == Unknown("claim")
    assert arguments("/system fly") == Unknown("system fly")
    assert arguments("/") == Unknown("")
    assert arguments("/system reload x") == Denied(2)
    assert arguments("/system reload x", 2) == "x"
    assert arguments("/reload x", 4) == Unknown("reload")


@given(st.text(max_size=200), st.integers(0, 4))
def test_any_text_gets_a_decision_and_never_an_exception(text: str, permission: int) -> None:
    """Whatever is typed, there is a decision; plain words never choose a module."""
    decision = ROUTER.decide(text, permission=permission)
    if isinstance(decision, Chosen):
        assert text.strip()[:1] in {"/", "／"} or text.strip().casefold().startswith(("提问", "sys"))


def test_listed_commands_follow_the_permission() -> None:
    """Help and completion show what this player may use, each once."""
    assert [command.name for _, command in ROUTER.listed(0)] == ["question", "提问", "sys"]
    assert [command.name for _, command in ROUTER.listed(2)] == ["question", "提问", "system reload", "sys"]
