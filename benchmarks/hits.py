"""What counts as a match: the curve of the rule, and a fit of its weights.

Run `python benchmarks/hits.py [--fit] [--questions N]`. For each question of a public set the passage that answers it
is in the collection once and taken out once, its neighbours staying: 'kept' is the share of questions whose passage
is among the five best and counts as a match, out of those where it is among the five best at all; 'shown' is the
share of the questions without their passage that still show a match. Collections are the whole set, or 40 and 10
passages of it, half of them neighbours. 'foreign' questions are asked of another set's passages; 'server' is the
invented small server of the tests. `--fit` fits the weights by logistic regression (the title's stays, no public set
has titles).
"""

import argparse
import importlib.util
import math
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
from retrieval_sets import NAMES, load
from sklearn.linear_model import LogisticRegression

from mcsystem.retrieval import LexicalIndex, Selection, analyse
from mcsystem.retrieval.evidence import Measures

SHIFTS = (1.5, 1.0, 0.5, 0.0, -0.5, -1.0, -1.5)
FOREIGN = (("xquad", "en", "bipar"), ("bipar", "en", "xquad"), ("cmrc2018", "zh", "bipar"), ("bipar", "zh", "cmrc2018"))


@dataclass(frozen=True, slots=True)
class Found:
    """One of the five best passages: whether it is the right one, the rule's value (0 is the border), its numbers."""

    right: bool
    value: float
    measures: Measures


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what it finds while its passage is there (empty for foreign ones), and without."""

    group: str
    language: str
    there: tuple[Found, ...]
    without: tuple[Found, ...]


def look(index: LexicalIndex, question: str, allowed: Selection, right: int) -> tuple[Found, ...]:
    """The five best passages of a question."""
    hits = index.search(question, limit=5, allowed=allowed)
    values = [min(max(hit.evidence.confidence, 1e-12), 1 - 1e-12) for hit in hits]
    return tuple(
        Found(hit.id == right, math.log(value / (1 - value)), hit.evidence.measures)
        for hit, value in zip(hits, values, strict=True)
    )


def members(chance: random.Random, total: int, size: int, right: int) -> list[int]:
    """The passages of a collection around the right one: half neighbours, half any."""
    if size >= total:
        return list(range(total))
    first = max(0, min(total - size, right - chance.randrange(size // 2)))
    return sorted({right, *range(first, first + size // 2), *chance.sample(range(total), size // 2)})


def public(questions: int) -> Iterator[Asked]:
    """Questions of the public sets, in collections of three sizes, and foreign ones."""
    chance = random.Random(3)
    indexes: dict[tuple[str, str], LexicalIndex] = {}
    for name, language in NAMES[:5]:
        texts = load(name, language)
        index = indexes[name, language] = LexicalIndex.build([analyse("", passage) for passage in texts.passages])
        chosen = chance.sample(texts.questions, min(questions, len(texts.questions)))
        for size in (len(index), 40, 10):
            group = f"{name}-{language} {'all ' + str(size) if size == len(index) else size}"
            for question in chosen:
                right = min(question.answers)
                inside = members(chance, len(index), size, right)
                outside = index.select([place for place in inside if place != right])
                there = look(index, question.text, index.select(inside), right)
                yield Asked(group, language, there, look(index, question.text, outside, right))
    for name, language, other in FOREIGN:
        index = indexes[name, language]
        for question in chance.sample(load(other, language).questions, min(questions, 200)):
            few = index.select(chance.sample(range(len(index)), chance.choice((10, 40, 100))))
            yield Asked(f"foreign-{language}", language, (), look(index, question.text, few, -1))


def server_docs() -> ModuleType:
    """The documents and questions of the tests."""
    path = Path(__file__).resolve().parents[1] / "tests" / "retrieval" / "server_docs.py"
    spec = importlib.util.spec_from_file_location("server_docs", path)
    if spec is None or spec.loader is None:
        sys.exit(f"{path} is missing")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def server() -> Iterator[Asked]:
    """The questions of the invented small server: answered ones, and ones that no document answers."""
    docs = server_docs()
    for language, texts, answered, unanswered in (
        ("en", docs.ENGLISH, docs.ENGLISH_ANSWERED, docs.ENGLISH_UNANSWERED),
        ("zh", docs.CHINESE, docs.CHINESE_ANSWERED, docs.CHINESE_UNANSWERED),
    ):
        index, titles = LexicalIndex.build([analyse(*item) for item in texts.items()]), list(texts)
        every = index.select(range(len(titles)))
        for question, title in answered:
            yield Asked(f"server-{language}", "", look(index, question, every, titles.index(title)), ())
        for question in unanswered:
            yield Asked(f"server-{language}", "", (), look(index, question, every, -1))


def curve(asked: Sequence[Asked]) -> None:
    """Print kept and shown for shifted borders, by group."""
    print("border shifted by   " + " ".join(f"{shift:+11.1f}" for shift in SHIFTS) + "   (kept|shown)")
    for group in sorted({entry.group for entry in asked}):
        rows = [entry for entry in asked if entry.group == group]
        right = [found.value for entry in rows for found in entry.there if found.right]
        wrong = [max((found.value for found in entry.without), default=-99.0) for entry in rows if _unanswered(entry)]
        cells = []
        for shift in SHIFTS:
            kept = f"{sum(value >= shift for value in right) / len(right):.2f}" if right else "-"
            cells.append(f"{kept:>5}|{sum(value >= shift for value in wrong) / len(wrong):.2f} ")
        print(f"{group:20}" + " ".join(cells))


def _unanswered(entry: Asked) -> bool:
    return bool(entry.without) or not entry.there


def fit(asked: Sequence[Asked]) -> None:
    """Print freshly fitted weights per language; their start is that of a border at even odds, the shipped is lower."""
    for language, names in (("en", ("amount", "coverage")), ("zh", ("amount", "coverage", "characters"))):
        rows: list[list[float]] = []
        labels: list[bool] = []
        for found in (f for entry in asked if entry.language == language for f in (*entry.there, *entry.without)):
            values = {"amount": math.log1p(found.measures.amount), "coverage": found.measures.coverage}
            values["characters"] = found.measures.characters
            rows.append([values[name] for name in names])
            labels.append(found.right)
        model = LogisticRegression(C=10, max_iter=500).fit(np.array(rows), np.array(labels))
        weights = ", ".join(f"{name} {weight:.2f}" for name, weight in zip(names, model.coef_[0], strict=True))
        print(f"fit {language}: start {model.intercept_[0]:.2f}, {weights}")


def main() -> None:
    """Print the curve, and the fit when asked for."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--fit", action="store_true")
    options.add_argument("--questions", type=int, default=300, help="of each set")
    chosen = options.parse_args()
    asked = [*public(chosen.questions), *server()]
    curve(asked)
    if chosen.fit:
        fit(asked)


if __name__ == "__main__":
    main()
