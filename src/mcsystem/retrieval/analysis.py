"""Turns a passage into weighted features."""

import struct
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from mcsystem.retrieval.words import Kind, Token, pairs, stem, tokens

TITLE: Final = "="  # a feature of the title path: the word as written, its stem, characters, pairs
SPELLING: Final = "~"  # a word as written whose stem differs: weighs 0, it is there to mend typing slips
UNIT: Final = 65_536  # weights are whole multiples of 1/UNIT, so that sums are exact in any order

_SATURATION: Final = 1.2  # BM25's k1
_LENGTH_SHARE: Final = 0.75  # BM25's b
_BODY_WORDS: Final = 150.0  # the length at which the weight of one occurrence is 1 / (1 + k1)
_TITLE_WORDS: Final = 5.0
_TITLE_WEIGHT: Final = 0.6
_CHARACTER_WORDS: Final = 0.5  # a Chinese character is half a word long
_SPELLING_LENGTH: Final = 4

# see words.py: this runs for every word
_WORD: Final = Kind.WORD
_FUNCTION: Final = Kind.FUNCTION
_CHARACTERS: Final = Kind.CHARACTERS


class Analysed(msgspec.Struct, frozen=True, gc=False):
    """The features of one passage, independent of every other passage: keep it by content hash, pickle it freely.

    Attributes:
        features: the different features; empty for a passage without words.
        weights: one unsigned 16-bit little-endian number per feature, in units of 1/65536.
    """

    features: tuple[str, ...]
    weights: bytes


def analyse(title: str, text: str) -> Analysed:
    """The features of a passage; this is the slow part of indexing, about 0.1 ms per 60 words.

    Args:
        title: the title path; its words also count in the body and have features of their own.
        text: the passage; any characters and any length are taken.
    """
    body: Counter[str] = Counter()
    spellings: set[str] = set()
    length = _count(tokens(text), body, spellings)
    name = list(tokens(title))
    title_length = _count(name, body, spellings)
    title_features = dict.fromkeys(feature for token in name for feature in _title_features(token))
    norm = _norm(length / _BODY_WORDS)
    once = round(UNIT / (1 + norm))
    weights = [once if count == 1 else round(UNIT * count / (count + norm)) for count in body.values()]
    weights += [round(UNIT * _TITLE_WEIGHT / (1 + _norm(title_length / _TITLE_WORDS)))] * len(title_features)
    weights += [0] * len(spellings)
    # interned: the same feature of other passages is the same object, which saves memory and makes building fast
    features = map(sys.intern, (*body, *title_features, *(SPELLING + word for word in sorted(spellings))))
    return Analysed(tuple(features), struct.pack(f"<{len(weights)}H", *weights))


def _norm(relative_length: float) -> float:
    return _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * relative_length)


def _count(found: Iterable[Token], body: Counter[str], spellings: set[str]) -> float:
    """Count the features of tokens and say how many words long they are together."""
    words: list[str] = []
    length = 0.0
    for kind, text in found:
        if kind is _WORD:
            stemmed = stem(text)
            words.append(stemmed)
            if stemmed != text and len(text) >= _SPELLING_LENGTH:
                spellings.add(text)
            length += 1.0
        elif kind is _CHARACTERS:
            words += text
            words += pairs(text)
            length += len(text) * _CHARACTER_WORDS
        elif kind is _FUNCTION:
            length += 1.0
        else:
            words.append(text)
    body.update(words)
    return length


def _title_features(token: Token) -> Iterator[str]:
    kind, text = token
    if kind is _CHARACTERS:
        yield from (TITLE + piece for piece in (*text, *pairs(text)))
        return
    yield TITLE + text
    if kind is _WORD:
        yield TITLE + stem(text)
