"""The few lines of a passage that a question is about, for answers without a model."""

import re
from itertools import pairwise
from typing import Final

SENTENCE: Final = re.compile(r"(?<=[.!?。！？；;])\s*|\n+")
MARKS: Final = re.compile(r"^[\s>#*+\-|]+|[*_`|]+")
WORD: Final = re.compile(r"[a-z0-9_/:]+|[\u3400-\u9fff]")
LINES: Final = 3


def excerpt(text: str, question: str, limit: int) -> str:
    """At most three sentences in their order, at most `limit` characters: the ones that share most with the question.

    Never empty for a passage with text: without anything shared the beginning is shown.
    """
    sentences = [clean for piece in SENTENCE.split(text) if (clean := MARKS.sub("", piece).strip())]
    if not sentences:
        return ""
    wanted = features(question)
    scores = [len(wanted & features(sentence)) for sentence in sentences]
    best = max(range(len(sentences)), key=lambda at: (scores[at], -at))
    first = max(0, min(best - 1 if scores[best] == 0 or (best > 0 and scores[best - 1]) else best, len(sentences) - 1))
    chosen = " ".join(sentences[first : first + LINES])
    return chosen if len(chosen) <= limit else chosen[: limit - 1].rstrip() + "…"


def features(text: str) -> set[str]:
    """Words, and single and paired Chinese characters; a plural `s` does not count."""
    units = [unit.rstrip("s") if len(unit) > LINES else unit for unit in WORD.findall(text.casefold())]
    return {*units, *(a + b for a, b in pairwise(units) if not a.isascii() and not b.isascii())}
