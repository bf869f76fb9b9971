"""Text as players type it, made safe to look at: no control characters, no direction tricks, bounded length."""

import unicodedata
from typing import Final

from mcsystem.errors import AssistantError, ErrorCode

# Room for the command word in front of the question.
COMMAND_ROOM: Final = 64


def clean(text: str, limit: int) -> str:
    """`text` on one line without control, format and unassigned characters, white space folded.

    Errors: REQUEST_EMPTY, REQUEST_TOO_LONG with length and limit.
    """
    if len(text) > 4 * (limit + COMMAND_ROOM):
        raise AssistantError(ErrorCode.REQUEST_TOO_LONG, length=_asked(text), limit=limit)
    kept = "".join(_visible(letter) for letter in text)
    line = " ".join(kept.split())
    if not line:
        raise AssistantError(ErrorCode.REQUEST_EMPTY)
    if _asked(line) > limit or len(line) > limit + COMMAND_ROOM:
        raise AssistantError(ErrorCode.REQUEST_TOO_LONG, length=_asked(line), limit=limit)
    return line


def _asked(line: str) -> int:
    """Characters without the command in front."""
    words = line[: 2 * COMMAND_ROOM].split(maxsplit=2)
    if not words or words[0][0] not in "/／":
        return len(line)
    command = " ".join(words[: 1 + (words[0].casefold() == "/system")])
    return max(0, len(line) - len(command) - 1)


def _visible(letter: str) -> str:
    kind = unicodedata.category(letter)
    if kind in {"Cc", "Zl", "Zp"}:
        return " "
    return "" if kind in {"Cf", "Cs", "Co", "Cn"} or letter == "§" else letter
