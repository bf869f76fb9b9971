"""The public text sets that search is measured on, read from a folder beside the checkout (see docs/search.md)."""

import json
import os
import random
import sys
from dataclasses import dataclass
from pathlib import Path

from mcsystem.retrieval.words import Kind, pairs, stem, tokens

NAMES = (("xquad", "en"), ("xquad", "zh"), ("cmrc2018", "zh"), ("bipar", "en"), ("bipar", "zh"), ("cranfield", "en"))


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the positions of the passages that answer it."""

    text: str
    answers: frozenset[int]


@dataclass(frozen=True, slots=True)
class TextSet:
    """Passages and questions of one language."""

    name: str
    language: str
    passages: tuple[str, ...]
    questions: tuple[Question, ...]


def folder() -> Path:
    """Where the sets lie: MCSYSTEM_DATA or ../shared/data; ends the program with the reason when they are not there."""
    root = Path(os.environ.get("MCSYSTEM_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    if not (root / "text").is_dir():
        sys.exit(f"no text sets in {root}/text: set MCSYSTEM_DATA to the folder that holds text/xquad and the others")
    return root / "text"


def load(name: str, language: str) -> TextSet:
    """Read one set."""
    base = folder() / name
    rows = [json.loads(line) for line in (base / f"{language}.passages.jsonl").read_text("utf-8").splitlines()]
    place = {row["id"]: position for position, row in enumerate(rows)}
    questions: list[Question] = []
    for line in (base / f"{language}.queries.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        answers = row["docs"] if "docs" in row else [row["doc"]]
        questions.append(Question(row["q"], frozenset(place[answer] for answer in answers)))
    return TextSet(name, language, tuple(row["text"] for row in rows), tuple(questions))


def plain_tokens(text: str) -> list[str]:
    """The same tokens that our index ranks by, in order and with repetitions, for the other libraries."""
    found: list[str] = []
    for token in tokens(text):
        if token.kind is Kind.CHARACTERS:
            found.extend(token.text)
            found.extend(pairs(token.text))
        elif token.kind is Kind.WORD:
            found.append(stem(token.text))
        elif token.kind is Kind.WHOLE:
            found.append(token.text)
    return found


def synthetic(language: str, count: int, *, seed: int = 7) -> list[str]:
    """Passages of about 60 words or 100 characters made of the sets' pieces; the xquad passages come first.

    English: single words with their frequencies, 2 % of them changed into rare invented ones. Chinese: pieces of eight
    neighbouring characters, so that pairs of characters are as frequent as in real text.
    """
    chance = random.Random(seed)
    pool: list[str] = []
    for name, of in NAMES:
        if of == language:
            for passage in load(name, of).passages:
                cut = [passage[place : place + 8] for place in range(0, len(passage), 8)]
                pool.extend(passage.split() if language == "en" else cut)
    real = list(load("xquad", language).passages)
    made: list[str] = []
    for _ in range(count - len(real)):
        if language == "zh":
            made.append("".join(chance.choices(pool, k=max(1, int(chance.gauss(12.5, 3))))))
            continue
        words = chance.choices(pool, k=max(5, int(chance.gauss(60, 15))))
        for place, word in enumerate(words):
            if chance.random() < 0.02:
                words[place] = f"{word}{chance.choice('aeiou')}{int(chance.paretovariate(0.4)) % 10**6:x}"
        made.append(" ".join(words))
    return (real + made)[:count]
