"""Outside text made harmless to look at: no terminal codes, no control or direction characters, no colour codes."""

import json
import re
import unicodedata
from typing import Final

# CSI, OSC, DCS and the like in their 7-bit and 8-bit forms; what is left of a broken one loses its control characters.
TERMINAL: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]"
)
COLOUR: Final = re.compile("§[0-9a-fk-orx]?", re.IGNORECASE)
PLAIN: Final = re.compile(r"[ -~]*")
JOINERS: Final = "\u200c\u200d"  # they shape letters and emoji and hide nothing
MARKS: Final = 4  # more combining marks on one letter only smear over other lines
URL: Final = re.compile(r"https?://[^\s/?#@\\<>\"'`{}|^]+(?:[/?#][^\s\\<>\"`{}|^]*)?", re.IGNORECASE)
URL_LENGTH: Final = 2_048


def safe_text(text: str) -> str:
    """`text` on one line as it may be shown anywhere; white space is folded, half characters become U+FFFD."""
    return " ".join(safe_lines(text).split())


def safe_lines(text: str) -> str:
    """As `safe_text`, keeping line breaks and spaces."""
    if PLAIN.fullmatch(text):
        return text
    shown: list[str] = []
    marks = 0
    for letter in COLOUR.sub("", TERMINAL.sub("", text.replace("\r\n", "\n"))):
        kind = unicodedata.category(letter)
        marks = marks + 1 if kind in {"Mn", "Me"} else 0
        if marks <= MARKS:
            shown.append(_shown(letter, kind))
    return "".join(shown)


def _shown(letter: str, kind: str) -> str:
    if letter == "\n":
        return letter
    if kind in {"Cc", "Zl", "Zp"}:
        return " "
    if kind in {"Cs", "Cn"}:
        return "\ufffd"
    return "" if kind == "Cf" and letter not in JOINERS else letter


def safe_url(url: str | None) -> str | None:
    """`url` when it is a plain http or https address without user info, else None."""
    if url is None or len(url) > URL_LENGTH or safe_text(url) != url or any(mark in url for mark in JOINERS):
        return None
    return url if URL.fullmatch(url) else None


def safe_json(value: object, *, indent: int | None = None) -> str:
    """`value` as JSON that people can read in any language, every character that could trick a screen escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if PLAIN.fullmatch(text):
        return text
    return "".join(_escaped(letter) for letter in text)


def _escaped(letter: str) -> str:
    kind = unicodedata.category(letter)
    if letter == "\n" or kind not in {"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"}:
        return letter
    point = ord(letter)
    if point <= 0xFFFF:  # noqa: PLR2004  # one UTF-16 unit
        return f"\\u{point:04x}"
    high, low = divmod(point - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
