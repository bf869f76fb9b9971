"""Turns a passage into weighted features."""

import struct
from collections import Counter
from collections.abc import Iterator
from typing import Final

import msgspec

from mcsystem.retrieval.words import Kind, Token, pairs, stem, tokens

TITLE: Final = "="  # a feature of the title path: the word as written, its stem, characters, pairs
SPELLING: Final = "~"  # a word as written whose stem differs: looked at only to mend typing slips
UNIT: Final = 65_536  # weights are whole multiples of 1/UNIT, so that sums are exact in any order

_SATURATION: Final = 1.2  # BM25's k1
_LENGTH_SHARE: Final = 0.75  # BM25's b
_BODY_WORDS: Final = 150.0  # the length at which the weight of one occurrence is 1 / (1 + k1)
_TITLE_WORDS: Final = 5.0
_TITLE_WEIGHT: Final = 0.6
_CHARACTER_WORDS: Final = 0.5  # a Chinese character is half a word long
_SPELLING_LENGTH: Final = 4


class Analysed(msgspec.Struct, frozen=True, gc=False):
    """The features of one passage, independent of every other passage: keep it by content hash, pickle it freely.

    Attributes:
        features: the different features, separated by single spaces; empty for a passage without words.
        weights: one unsigned 16-bit little-endian number per feature, in units of 1/65536.
    """

    features: str
    weights: bytes


def analyse(title: str, text: str) -> Analysed:
    """The features of a passage; this is the slow part of indexing, about 0.1 ms per 60 words.

    Args:
        title: the title path; its words also count in the body and have features of their own.
        text: the passage; any characters and any length are taken.
    """
    body: Counter[str] = Counter()
    spellings: dict[str, None] = {}
    length = 0.0
    for token in tokens(text):
        length += _count(token, body, spellings)
    title_features: dict[str, None] = {}
    title_length = 0.0
    for token in tokens(title):
        title_length += _count(token, body, spellings)
        title_features.update(dict.fromkeys(_title_features(token)))
    body_norm = _norm(length / _BODY_WORDS)
    title_weight = round(UNIT * _TITLE_WEIGHT / (1 + _norm(title_length / _TITLE_WORDS)))
    weights = [round(UNIT * count / (count + body_norm)) for count in body.values()]
    weights += [title_weight] * len(title_features) + [1] * len(spellings)
    features = " ".join((*body, *title_features, *(SPELLING + word for word in spellings)))
    return Analysed(features, struct.pack(f"<{len(weights)}H", *(min(weight, UNIT - 1) for weight in weights)))


def _norm(relative_length: float) -> float:
    return _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * relative_length)


def _count(token: Token, body: Counter[str], spellings: dict[str, None]) -> float:
    """Count the token's features and say how many words long it is."""
    match token.kind:
        case Kind.CHARACTERS:
            body.update(token.text)
            body.update(pairs(token.text))
            return len(token.text) * _CHARACTER_WORDS
        case Kind.WHOLE:
            body[token.text] += 1
            return 0.0
        case Kind.WORD:
            stemmed = stem(token.text)
            body[stemmed] += 1
            if stemmed != token.text and len(token.text) >= _SPELLING_LENGTH:
                spellings[token.text] = None
            return 1.0
        case Kind.FUNCTION:
            return 1.0


def _title_features(token: Token) -> Iterator[str]:
    yield TITLE + token.text if token.kind is not Kind.CHARACTERS else TITLE + token.text[0]
    if token.kind is Kind.CHARACTERS:
        yield from (TITLE + character for character in token.text[1:])
        yield from (TITLE + pair for pair in pairs(token.text))
    elif token.kind is Kind.WORD:
        yield TITLE + stem(token.text)
