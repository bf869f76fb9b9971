"""How wide text is on a screen of equal cells, and where its lines break; Chinese takes two cells a character."""

import unicodedata
from collections.abc import Iterator
from typing import Final

# Characters that may not begin a line, as Chinese typesetting has it.
NO_START: Final = frozenset(
    ",.;:!?%)]}>\uff0c\u3002\u3001\uff1b\uff1a\uff01\uff1f\uff05\uff09\u3011\u300b\u3009\u300d\u300f\u201d\u2019\u2026\u2014\u00b7\uff5e"
)
NO_END: Final = frozenset("([{<\uff08\u3010\u300a\u3008\u300c\u300e\u201c\u2018")
ELLIPSIS: Final = "…"


def cell_width(letter: str) -> int:
    """Cells of one character: 0 for what joins the one before, 2 for wide ones."""
    if letter.isascii():
        return 1
    if unicodedata.category(letter) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in {"W", "F"} else 1


def text_width(text: str) -> int:
    """Cells of a line."""
    return len(text) if text.isascii() else sum(map(cell_width, text))


def break_lines(text: str, width: int) -> list[tuple[int, int]]:
    """Where the lines of `text` begin and end, each at most `width` cells.

    They break at spaces and between wide characters; spaces at a break belong to no line. Never empty; a character
    wider than `width` stands alone.
    """
    lines: list[tuple[int, int]] = []
    start = end = 0
    room = width
    for piece_start, piece_end in _pieces(text, width):
        piece = text[piece_start:piece_end]
        solid = piece.rstrip(" ")
        if text_width(solid) > room and end > start:
            lines.append((start, end))
            start = piece_start
            room = width
        room -= text_width(piece)
        end = piece_start + len(solid) if solid else end
    lines.append((start, max(start, end)))
    return lines


def _pieces(text: str, width: int) -> Iterator[tuple[int, int]]:
    """The parts that are not broken, each with the spaces behind it; a word longer than a line is cut."""
    start = cells = 0
    for at, letter in enumerate(text):
        size = cell_width(letter)
        if at > start and (_may_break(text[at - 1], letter) or (cells + size > width and letter != " ")):
            yield start, at
            start, cells = at, 0
        cells += size
    if start < len(text):
        yield start, len(text)


def _may_break(before: str, letter: str) -> bool:
    if letter == " " or letter in NO_START or before in NO_END or cell_width(letter) == 0:
        return False
    return before == " " or cell_width(letter) > 1 or cell_width(before) > 1


def first_lines(text: str, width: int, count: int) -> list[str]:
    """At most `count` lines of `text`, the last one ending in an ellipsis when there is more."""
    lines = break_lines(text, width)
    shown = [text[start:end] for start, end in lines[:count]]
    if len(lines) > count:
        last = shown[-1]
        while last and text_width(last) + 1 > width:
            last = last[:-1]
        shown[-1] = last.rstrip(" ,\uff0c" + ELLIPSIS) + ELLIPSIS
    return shown
