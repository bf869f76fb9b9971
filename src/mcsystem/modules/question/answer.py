"""A model's answer from local passages: its shape, and the checks before anybody sees it."""

import re
from dataclasses import dataclass
from typing import Final

from mcsystem.api import AssistantError, ErrorCode
from mcsystem.modules.question.material import fold

CLAIM: Final = 600
CLAIMS: Final = 8
MARK: Final = re.compile(r"[\[［【]\s*\^?\s*(\d[\d\s,，、;\-–~]*)\s*[\]］】]")
NUMBER: Final = re.compile(r"\d+")
ADDRESS: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|\b(?:https?|ftp|file|data|javascript):\S+", re.IGNORECASE)


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
        inline = {int(number) for group in MARK.findall(claim.text) for number in NUMBER.findall(group)[:9]}
        numbers = sorted({*claim.sources, *inline})
        text = fold(ADDRESS.sub(r"\1", MARK.sub("", claim.text)), CLAIM)
        if not text:
            continue
        if not numbers or not all(1 <= number <= count for number in numbers):
            raise AssistantError(ErrorCode.MODEL_CITATION_INVALID)
        cited.update(numbers)
        lines.append(f"{text} {''.join(f'[{number}]' for number in numbers)}")
    if not lines:
        raise AssistantError(ErrorCode.MODEL_INVALID_RESPONSE, reason="an answer without statements")
    return Checked(tuple(lines), frozenset(cited))
