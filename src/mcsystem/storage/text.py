"""Modified UTF-8, the string form of NBT: U+0000 as two bytes, everything beyond U+FFFF as a surrogate pair."""

import re
from typing import Final

FOUR_BYTES: Final = re.compile(rb"[\xf0-\xff]")
SPECIAL: Final = re.compile("[\x00\ud800-\udfff\U00010000-\U0010ffff]")
ASTRAL: Final = re.compile("[\U00010000-\U0010ffff]")
SURROGATE: Final = re.compile("[\ud800-\udfff]")
PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def read_text(raw: bytes) -> str:
    """The text of `raw`; lone surrogates stay as they are, as in Java.

    Raises:
        UnicodeDecodeError: what Java's `writeUTF` could not have written, overlong forms and four-byte forms included.
    """
    found = FOUR_BYTES.search(raw)
    if found:
        raise UnicodeDecodeError("utf-8", raw, found.start(), found.end(), "four-byte form")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        apart = raw.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        return apart.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def write_text(text: str) -> bytes:
    """The bytes of `text`, without a length in front."""
    if not SPECIAL.search(text):
        return text.encode()
    return ASTRAL.sub(_pair, text).encode("utf-8", "surrogatepass").replace(b"\0", b"\xc0\x80")


def has_surrogate(text: str) -> bool:
    """Whether `text` holds a surrogate code point, which no real text does."""
    return SURROGATE.search(text) is not None


def has_split_pair(text: str) -> bool:
    """Whether `text` holds a pair of surrogates as two code points: written, it would come back as one character."""
    return PAIR.search(text) is not None


def _pair(found: re.Match[str]) -> str:
    point = ord(found[0]) - 0x10000
    return chr(0xD800 + (point >> 10)) + chr(0xDC00 + (point & 0x3FF))
