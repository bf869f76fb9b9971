"""The few lines of a passage that a question is about, for answers without a model."""

import re
from itertools import pairwise
from typing import Final

BLOCK: Final = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+>|]|\d+[.)])\s)|\n(?=\|)")
SENTENCE: Final = re.compile(r"(?<=[!?。！？])\s*|(?<=\.)\s+(?=[^a-z])")
MARKS: Final = re.compile(r"^[\s>#*+\-|]+|\*\*|__|`|\|")
RULER: Final = re.compile(r"[\s|:\-=]*")
WORD: Final = re.compile(r"[a-z0-9_/:]+|[\u3400-\u9fff]")
LINES: Final = 3
SHORT: Final = 3


def excerpt(text: str, question: str, limit: int) -> str:
    """At most three sentences in their order, at most `limit` characters, from the one closest to the question.

    Never empty for a passage with text: without anything shared it is the beginning.
    """
    found = sentences(text)
    if not found:
        return " ".join(text.split())[:limit]
    wanted = features(question)
    scores = [len(wanted & features(sentence)) for sentence in found]
    best = max(range(len(found)), key=lambda at: (scores[at], -at))
    chosen = " ".join(found[best : best + LINES])
    return chosen if len(chosen) <= limit else chosen[: limit - 1].rstrip() + "…"


def sentences(text: str) -> list[str]:
    """The sentences of a text, wrapped lines joined, list items and table rows apart, Markdown marks taken out."""
    found: list[str] = []
    for block in BLOCK.split(text):
        if RULER.fullmatch(block):
            continue
        joined = " ".join(block.split())
        found += [clean for piece in SENTENCE.split(joined) if (clean := " ".join(MARKS.sub(" ", piece).split()))]
    return found


def features(text: str) -> set[str]:
    """Words of three letters and more without a plural `s`, and single and paired Chinese characters."""
    words = WORD.findall(text.casefold())
    units = [word.rstrip("s") for word in words if len(word) >= SHORT or not word.isascii()]
    return {*units, *(a + b for a, b in pairwise(units) if not a.isascii() and not b.isascii())}
