"""A model's answer from local passages: its shape, and the checks before anybody sees it."""

import re
from dataclasses import dataclass
from typing import Final

from mcsystem.api import AssistantError, ErrorCode
from mcsystem.modules.question.material import fold

CLAIM: Final = 600
CLAIMS: Final = 8
READ: Final = 4 * CLAIM  # characters of a claim that are looked at; every pattern below is bounded as well
MARK: Final = re.compile(r"[\[［【]\s{0,3}\^?\s{0,3}(\d[\d\s,，、;\-–~]{0,60})[\]］】]")
MARK_LEFT: Final = re.compile(r"[\[［【]\s{0,3}\^?\s{0,3}\d")
NUMBER: Final = re.compile(r"\d+")
DIGITS: Final = 4
ADDRESS: Final = re.compile(
    r"!?\[([^\[\]]{0,200})\]\([^()]{0,500}\)|\b(?:https?|ftp|file|data|javascript):\S+", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement and the numbers of the sources that say it."""

    text: str
    sources: list[int]


@dataclass(frozen=True, slots=True)
class LocalAnswer:
    """What the model may answer: that the passages answer the question, and with what."""

    answered: bool
    claims: list[Claim]


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer whose citations all exist: lines with their marks, and the numbers cited."""

    lines: tuple[str, ...]
    cited: frozenset[int]


def check(answer: LocalAnswer, count: int) -> Checked:
    """The answer as lines with `[n]` marks; `count` is the number of passages, `[1]` to `[count]` exist.

    Addresses are taken out: a model never adds a link.

    Errors: MODEL_CITATION_INVALID for a mark without a passage or a claim without a mark; MODEL_INVALID_RESPONSE when
    it says that it answers and does not.
    """
    lines: list[str] = []
    cited: set[int] = set()
    for claim in answer.claims[:CLAIMS]:
        said = claim.text[:READ]
        numbers = sorted({*claim.sources, *inline(said)})
        text = fold(ADDRESS.sub(r"\1", MARK.sub("", said)), CLAIM)
        if not text:
            continue
        if not numbers or not all(1 <= number <= count for number in numbers):
            raise AssistantError(ErrorCode.MODEL_CITATION_INVALID)
        cited.update(numbers)
        lines.append(f"{text} {''.join(f'[{number}]' for number in numbers)}")
    if not lines:
        raise AssistantError(ErrorCode.MODEL_INVALID_RESPONSE, reason="an answer without statements")
    return Checked(tuple(lines), frozenset(cited))


def inline(text: str) -> set[int]:
    """The numbers of the marks inside a text, in every kind of bracket.

    Errors: MODEL_CITATION_INVALID for a mark that cannot be read as small numbers.
    """
    found = [number for group in MARK.findall(text) for number in NUMBER.findall(group)]
    if MARK_LEFT.search(MARK.sub("", text)) or any(len(number) > DIGITS for number in found):
        raise AssistantError(ErrorCode.MODEL_CITATION_INVALID)
    return {int(number) for number in found}
