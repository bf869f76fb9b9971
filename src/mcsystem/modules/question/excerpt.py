"""The few lines of a passage that a question is about, for answers without a model."""

import re
from collections import Counter
from itertools import pairwise
from typing import Final

BLOCK: Final = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+>|]|\d+[.)])\s)|\n(?=\|)")
SENTENCE: Final = re.compile(r"(?<=[!?。！？])\s*|(?<=\.)\s+(?=[^a-z])")
ITEM: Final = re.compile(r"^\s*(?:[>#*+\-|]+|\d+[.)](?=\s))\s*")
MARKS: Final = re.compile(r"\*\*|__|`")
CELL: Final = re.compile(r"\s*\|\s*")
RULER: Final = re.compile(r"[\s|:\-=]*")
WORD: Final = re.compile(r"[a-z0-9_/:]+|[\u3400-\u9fff]")
SENTENCES: Final = 5
SHORT: Final = 3
FULL_STOP: Final = re.compile(r"([。！？：；，]) ")
EMPTY: Final = re.compile(r"the|and|for|are|can|does|did|how|what|where|when|why|who|which|with|from|this|that|you")


def excerpt(text: str, question: str, limit: int, *, title: str = "") -> str:
    """At most `limit` characters of a passage: all of it where that fits, else sentences from the closest one on.

    What the title says already does not count: a passage whose title is the question is read from its beginning. Words
    that stand in many sentences count less. Never empty for a passage with text.
    """
    found = sentences(text)
    whole = joined(found) or " ".join(text.split())
    if len(whole) <= limit or not found:
        return whole[:limit]
    held = [features(sentence) for sentence in found]
    common = Counter(feature for features_of in held for feature in features_of)
    wanted = features(question) - features(title)
    scores = [sum(1 / common[feature] for feature in wanted & features_of) for features_of in held]
    best = max(range(len(found)), key=lambda at: (scores[at], -at))
    chosen = found[best]
    for sentence in found[best + 1 : best + SENTENCES]:
        longer = joined([chosen, sentence])
        chosen = longer if len(longer) <= limit else chosen
    return chosen if len(chosen) <= limit else chosen[: limit - 1].rstrip() + "…"


def joined(pieces: list[str]) -> str:
    """Sentences as one line; Chinese ones stand together without a space."""
    return FULL_STOP.sub(r"\1", " ".join(pieces))


def sentences(text: str) -> list[str]:
    """The sentences of a text, wrapped lines joined, list items and table rows apart, Markdown marks taken out."""
    found: list[str] = []
    for block in BLOCK.split(text):
        if RULER.fullmatch(block):
            continue
        line = plain(ITEM.sub("", block))
        found += [clean for piece in SENTENCE.split(line) if (clean := piece.strip())]
    return found


def plain(text: str) -> str:
    """Text on one line without Markdown's marks."""
    return " ".join(CELL.sub(" ", MARKS.sub("", text)).split())


def features(text: str) -> set[str]:
    """Content words without a plural `s`, and single and paired Chinese characters."""
    words = WORD.findall(text.casefold())
    units = [
        word.rstrip("s") for word in words if (len(word) >= SHORT or not word.isascii()) and not EMPTY.fullmatch(word)
    ]
    return {*units, *(a + b for a, b in pairwise(units) if not a.isascii() and not b.isascii())}
