"""Modified UTF-8, the string form of NBT: U+0000 as two bytes, everything beyond U+FFFF as a surrogate pair."""

import re
from typing import Final

ASTRAL: Final = re.compile("[\U00010000-\U0010ffff]")
SURROGATE: Final = re.compile("[\ud800-\udfff]")
PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def read_text(raw: bytes) -> str:
    """The text of `raw`; lone surrogates stay as they are, as in Java.

    Raises:
        UnicodeDecodeError: what Java's `writeUTF` could not have written, overlong forms and four-byte forms included.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = _read_special(raw)
    if _has_four_byte_form(raw):
        raise UnicodeDecodeError("utf-8", raw, 0, len(raw), "four-byte form")
    return text


def write_text(text: str) -> bytes:
    """The bytes of `text`, without a length in front."""
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        return _write_special(text)
    return _write_special(text) if 0 in raw or _has_four_byte_form(raw) else raw


def has_surrogate(text: str) -> bool:
    """Whether `text` holds a surrogate code point, which no real text does."""
    return SURROGATE.search(text) is not None


def has_split_pair(text: str) -> bool:
    """Whether `text` holds a pair of surrogates as two code points: written, it would come back as one character."""
    return PAIR.search(text) is not None


def _has_four_byte_form(raw: bytes) -> bool:
    """Whether valid UTF-8 holds a character beyond U+FFFF; five searches for a byte are faster than any pattern."""
    return 0xF0 in raw or 0xF3 in raw or 0xF1 in raw or 0xF2 in raw or 0xF4 in raw  # noqa: PLR2004 - their first bytes


def _read_special(raw: bytes) -> str:
    apart = raw.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
    return apart.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _write_special(text: str) -> bytes:
    return ASTRAL.sub(_pair, text).encode("utf-8", "surrogatepass").replace(b"\0", b"\xc0\x80")


def _pair(found: re.Match[str]) -> str:
    point = ord(found[0]) - 0x10000
    return chr(0xD800 + (point >> 10)) + chr(0xDC00 + (point & 0x3FF))
