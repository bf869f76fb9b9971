"""Turns text into words: normal form, runs of letters, Chinese characters and pairs, English stems."""

import importlib
import re
import unicodedata
from collections.abc import Callable, Iterator
from enum import Enum
from functools import lru_cache
from typing import Any, Final, NamedTuple

from mcsystem.retrieval.function_words import CHINESE_FUNCTION_WORDS, FUNCTION_WORDS

WORD_LENGTH: Final = 64  # a longer run of letters is cut into several words
_WHOLE_LENGTH: Final = 128
_CJK: Final = "々〇\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_LETTER: Final = rf"[^\W_{_CJK}]"
_RUN: Final = re.compile(
    rf"(?P<cjk>[{_CJK}]+)|(?<![\w/])/?{_LETTER}{{1,{WORD_LENGTH}}}(?:['_:.]+{_LETTER}{{1,{WORD_LENGTH}}})*"
    rf"|{_LETTER}{{1,{WORD_LENGTH}}}"
)
_PARTS: Final = re.compile(r"[/_:.]+")
_NO_WIDTH: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufe00-\ufe0f]+")
_LONG_MARKS: Final = re.compile(r"([^\w\s]{32})[^\w\s]+")
_CHINESE_FUNCTION: Final = re.compile("|".join(CHINESE_FUNCTION_WORDS))
_STEM_LENGTH: Final = 3  # shorter words have no ending to take off


class Kind(Enum):
    """What a token is."""

    WORD = 1  # letters and digits of a script with spaces
    FUNCTION = 2  # such a word without a topic: how, do, the
    WHOLE = 3  # an identifier as written: minecraft:diamond_sword, /sethome, 1.20.1
    CHARACTERS = 4  # a run of Chinese, Japanese or Korean characters between function words


# reading a member of an enumeration costs more than a global name, and this runs for every word
_WORD: Final = Kind.WORD
_FUNCTION: Final = Kind.FUNCTION
_CHARACTERS: Final = Kind.CHARACTERS


class Token(NamedTuple):
    """One piece of a text in normal form."""

    kind: Kind
    text: str


def normal_form(text: str) -> str:
    """Compatibility-composed lower case without invisible characters; linear in the length for any input."""
    if not text.isascii():
        text = _NO_WIDTH.sub("", text)
        text = unicodedata.normalize("NFKC", _LONG_MARKS.sub(r"\1", text)).replace("\u2019", "'")
    return text.lower()


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a text in its order; an identifier comes whole and then in its parts."""
    for match in _RUN.finditer(normal_form(text)):
        run = match.group()
        if match.lastgroup is not None:
            for part in _CHINESE_FUNCTION.split(run):
                if part:
                    yield Token(_CHARACTERS, part)
        elif run.isalnum():
            yield Token(_FUNCTION if run in FUNCTION_WORDS else _WORD, run)
        else:
            yield from _compound(run)


def _compound(run: str) -> Iterator[Token]:
    run = run.removesuffix("'s").replace("'", "")
    parts = [part for part in _PARTS.split(run) if part]
    if len(run) <= _WHOLE_LENGTH and run != parts[0]:
        yield Token(Kind.WHOLE, run)
    for part in parts:
        word = part[:WORD_LENGTH]
        yield Token(_FUNCTION if word in FUNCTION_WORDS else _WORD, word)


def _load_stemmer() -> Callable[[str], str]:
    """PyStemmer, else snowballstemmer, else the word itself: whatever this machine can import."""
    for module, name in (("Stemmer", "Stemmer"), ("snowballstemmer", "stemmer")):
        try:
            make: Any = getattr(importlib.import_module(module), name)
        except ImportError:
            continue
        stem: Callable[[str], str] = make("english").stemWord
        return stem
    return str


_stem_word: Final = _load_stemmer()


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The English Snowball stem of a word; words of other scripts stay as they are."""
    return _stem_word(word) if len(word) >= _STEM_LENGTH and word.isascii() else word


def pairs(run: str) -> list[str]:
    """The neighbouring pairs of a run of characters, in order; empty for one character."""
    return [run[position : position + 2] for position in range(len(run) - 1)]
