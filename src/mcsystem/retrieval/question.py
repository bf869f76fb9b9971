"""Turns a question into the features to look for and the units of meaning that count as evidence."""

from collections.abc import Iterator
from enum import Enum
from itertools import islice
from typing import Final

import msgspec

from mcsystem.retrieval.analysis import TITLE
from mcsystem.retrieval.function_words import CHINESE_GENERIC, GENERIC_WORDS
from mcsystem.retrieval.words import Kind, Token, pairs, stem, tokens

_CHARACTERS: Final = 4_096  # of a longer question the first ones are read
_UNITS: Final = 192
_WRITTEN_WEIGHT: Final = 0.5  # the title has the word exactly as written
_FUNCTION_WEIGHT: Final = 0.1  # the title has the function word


class Role(Enum):
    """What a unit is worth as evidence."""

    WORD = 1  # a word with a topic
    PAIR = 2  # two neighbouring Chinese characters
    CHARACTER = 3  # a Chinese character on its own between function words
    PART = 4  # a character inside a pair
    SUPPORT = 5  # an identifier's whole form, a function word: ranks, proves nothing


class Unit(msgspec.Struct, frozen=True, gc=False):
    """One piece of a question.

    Attributes:
        text: the piece as written, in normal form.
        role: what it is worth as evidence.
        generic: it fits nearly every question (make, get, server), so it is weak evidence.
        body: the feature of a body; empty where only titles count.
        titles: features of a title with their ranking weights.
        count: how often the piece stands in the question.
    """

    text: str
    role: Role
    generic: bool
    body: str
    titles: tuple[tuple[str, float], ...]
    count: int = 1


def read_question(question: str) -> tuple[Unit, ...]:
    """The different units of a question in the order of their first appearance; at most 192."""
    found: dict[tuple[str, bool], Unit] = {}
    counts: dict[tuple[str, bool], int] = {}
    for token in tokens(question[:_CHARACTERS]):
        for unit in _units(token):
            key = (unit.text, unit.role is Role.SUPPORT)
            found.setdefault(key, unit)
            counts[key] = counts.get(key, 0) + 1
    units = islice(found.items(), _UNITS)
    return tuple(Unit(u.text, u.role, u.generic, u.body, u.titles, counts[key]) for key, u in units)


def _units(token: Token) -> Iterator[Unit]:
    text = token.text
    match token.kind:
        case Kind.WORD:
            yield word_unit(text)
        case Kind.FUNCTION:
            yield Unit(text, Role.SUPPORT, generic=True, body="", titles=((TITLE + text, _FUNCTION_WEIGHT),))
        case Kind.WHOLE:
            yield Unit(text, Role.SUPPORT, generic=False, body=text, titles=((TITLE + text, _WRITTEN_WEIGHT),))
        case Kind.CHARACTERS:
            single = Role.CHARACTER if len(text) == 1 else Role.PART
            for character in text:
                yield _chinese(character, single)
            for pair in pairs(text):
                yield _chinese(pair, Role.PAIR)


def word_unit(text: str, *, count: int = 1) -> Unit:
    """The unit of a word with a topic."""
    stemmed = stem(text)
    written = ((TITLE + text, _WRITTEN_WEIGHT),) if stemmed != text else ()
    return Unit(
        text,
        Role.WORD,
        text in GENERIC_WORDS or stemmed in GENERIC_WORDS,
        stemmed,
        ((TITLE + stemmed, 1.0), *written),
        count,
    )


def _chinese(text: str, role: Role) -> Unit:
    generic = text in CHINESE_GENERIC or all(character in CHINESE_GENERIC for character in text)
    return Unit(text, role, generic, text, ((TITLE + text, 1.0),))
