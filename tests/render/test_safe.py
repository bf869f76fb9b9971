"""Outside text: whatever it holds, nothing of it reaches a terminal, a chat or a link as more than text."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcsystem.render.safe import safe_json, safe_lines, safe_text, safe_url

ANYTHING = st.text(st.characters(codec=None, categories=None), max_size=200)


@given(ANYTHING)
def test_no_control_or_direction_character_is_left(text: str) -> None:
    """Control, format, half and unassigned characters never come through, nor does a section sign; twice is once."""
    shown = safe_text(text)
    assert not [letter for letter in shown if unicodedata.category(letter) in {"Cc", "Cs", "Cn", "Zl", "Zp"}]
    assert not [letter for letter in shown if unicodedata.category(letter) == "Cf" and letter not in "\u200c\u200d"]
    assert "§" not in shown
    assert safe_text(shown) == shown
    shown.encode()


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0;2;0\x1b\\x", "x"),
        ("\x1bcreset", "reset"),
        ("\u202eevil\u202c", "evil"),
        ("\u2066a\u2069\u200fb\ufeff", "ab"),
        ("§cred§r plain §", "red plain"),
        ("§§cc", "c"),
        ("a\r\nb\tc\x00d\x7fe", "a b c d e"),
        ("\ud800half", "\ufffdhalf"),
        ("e" + "\u0301" * 40, "e" + "\u0301" * 4),
        ("[bold]x[/bold] :smile:", "[bold]x[/bold] :smile:"),
        ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
        ("中文，好", "中文，好"),
    ],
)
def test_hostile_text_loses_only_what_is_hostile(hostile: str, shown: str) -> None:
    """The words stay, the tricks go; markup of any kind is only text."""
    assert safe_text(hostile) == shown


def test_lines_keep_their_breaks() -> None:
    """A document shown whole keeps its lines and nothing else of its control characters."""
    assert safe_lines("a\r\nb\n\x1b[2Jc\rd") == "a\nb\nc d"


@given(
    st.recursive(ANYTHING | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(ANYTHING, inner))
)
def test_json_says_the_same_and_holds_no_trick(value: object) -> None:
    """What is printed reads back as what was meant, and can be shown on any screen."""
    text = safe_json(value)
    assert json.loads(text) == json.loads(json.dumps(value))
    assert not [one for one in text if unicodedata.category(one) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)", "file:///etc/passwd", "ftp://x/y", "http://", "https://user@host/", "https://a b/",
        "https://host\\evil", 'https://host/"x', "https://host/\u202e", "https://host/\x1b[1m",
        "http://x/" + "a" * 3000, "HTTPS//x", "data:text/html,x", "https://host/<b>", "//host/x", "https://host§c",
    ],
)  # fmt: skip
def test_only_plain_web_addresses_become_links(url: str) -> None:
    """Anything but an http or https address without user info is no link."""
    assert safe_url(url) is None


@pytest.mark.parametrize(
    "url", ["https://example.org", "http://example.org:8080/a?b=1#c", "https://例子.测试/路", "HTTP://X.Y"]
)
def test_web_addresses_stay(url: str) -> None:
    """Ordinary addresses are kept letter for letter."""
    assert safe_url(url) == url
    assert safe_url(None) is None
