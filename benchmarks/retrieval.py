"""Search beside its anchors in one process: quality on six public sets, speed at 10,000 and 100,000 passages.

Run `python benchmarks/retrieval.py [--small] [--language en|zh]`; every library gets the same tokens, and a query is
timed from the raw question to the five best passages. Times are processor time; queries the best of three passes.
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import bm25s
import numpy as np
import tantivy
from retrieval_sets import NAMES, Question, load, plain_tokens, synthetic
from sklearn.feature_extraction.text import TfidfVectorizer

from mcsystem.retrieval import Analysed, LexicalIndex, analyse
from mcsystem.retrieval import words as words_module

Answer = Callable[[str], Sequence[int]]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Measured:
    """One library at one size: seconds to build, milliseconds a query without and with a 1 % allow-list."""

    name: str
    build: float
    median: float
    slow: float
    filtered: float
    filtered_slow: float


def figures(answer: Answer, questions: Sequence[Question]) -> tuple[float, float, float]:
    """Share of questions with an answer first and among five, and mean reciprocal rank among ten."""
    first = five = reciprocal = 0.0
    for question in questions:
        right = [passage in question.answers for passage in answer(question.text)]
        first += any(right[:1])
        five += any(right[:5])
        reciprocal += 1 / (right.index(True) + 1) if any(right[:10]) else 0.0
    return first / len(questions), five / len(questions), reciprocal / len(questions)


def quality(*, small: bool) -> bool:
    """Print the quality table and its bars; whether they hold."""
    print(f"{'set':14} {'ours R@1 R@5 MRR@10':24} {'bm25s':24} least difference")
    differences: list[float] = []
    for name, language in NAMES[:2] if small else NAMES:
        texts = load(name, language)
        index = LexicalIndex.build([analyse("", passage) for passage in texts.passages])
        anchor = bm25s.BM25(backend="numpy")
        anchor.index([plain_tokens(passage) for passage in texts.passages], show_progress=False)
        ours = figures(lambda text, index=index: [hit.id for hit in index.search(text, limit=10)], texts.questions)
        theirs = figures(lambda text, anchor=anchor: bm25s_answer(anchor, text, 10, None), texts.questions)
        row = [mine - other for mine, other in zip(ours, theirs, strict=True)]
        differences += row
        numbers = ["{:.3f} {:.3f} {:.3f}".format(*values) for values in (ours, theirs)]
        print(f"{name + '-' + language:14} {numbers[0]:24} {numbers[1]:24} {min(row):+.3f}")
    mean = statistics.mean(differences)
    held = [bar("mean difference to bm25s at least -0.005", mean, mean >= -0.005)]
    held.append(bar("no figure worse than bm25s by 0.02", min(differences), min(differences) >= -0.02))
    return all(held)


def bm25s_answer(anchor: bm25s.BM25, text: str, limit: int, mask: np.ndarray | None) -> list[int]:
    """The fastest way through bm25s for one question; passages with score 0 are no answers."""
    found = plain_tokens(text)
    known = [token for token in found if token in anchor.vocab_dict]
    if not known:
        return []
    scores = anchor.get_scores(known, weight_mask=mask)
    values, places = bm25s.selection.topk(scores, min(limit, len(scores)), backend="numpy", sorted=True)
    return [int(place) for value, place in zip(values, places, strict=True) if value > 0]


def bar(text: str, value: float, held: bool) -> bool:  # noqa: FBT001 - a line of the report
    """Print one bar of the report."""
    print(f"  {'pass' if held else 'FAIL'}  {text}: {value:+.3f}")
    return held


def times(answer: Answer, questions: Sequence[str]) -> tuple[float, float]:
    """Median and 99th percentile in milliseconds, each question's best of three passes."""
    best = [float("inf")] * len(questions)
    for _ in range(3):
        for place, question in enumerate(questions):
            started = time.thread_time()
            answer(question)
            best[place] = min(best[place], time.thread_time() - started)
    return 1e3 * statistics.median(best), 1e3 * float(np.percentile(best, 99))


def cpu(work: Callable[[], Result]) -> tuple[Result, float]:
    """A result and the processor seconds it took, the better of two."""
    spent: list[float] = []
    for _ in range(2):
        started = time.process_time()
        result = work()
        spent.append(time.process_time() - started)
    return result, min(spent)


def measure_ours(analysed: list[Analysed], questions: Sequence[str], allowed: list[int]) -> Measured:
    """Our index."""
    index, build = cpu(lambda: LexicalIndex.build(analysed))
    selection, prepared = cpu(lambda: index.select(allowed))
    print(f"  ours: preparing the 1 % allow-list once {1e3 * prepared:.2f} ms")
    half, prepared = cpu(lambda: index.select(range(0, len(index), 2)))
    one = times(lambda text: index.search(text, limit=5, allowed=half), questions)
    print(
        f"  ours: preparing a 50 % allow-list once {1e3 * prepared:.2f} ms, then p50 {one[0]:.3f} p99 {one[1]:.3f} ms"
    )
    plain = times(lambda text: index.search(text, limit=5), questions)
    filtered = times(lambda text: index.search(text, limit=5, allowed=selection), questions)
    return Measured("ours", build, *plain, *filtered)


def measure_bm25s(words: list[list[str]], questions: Sequence[str], allowed: list[int]) -> Measured:
    """bm25s on numpy, without JIT; a filter is its weight mask."""

    def build() -> bm25s.BM25:
        made = bm25s.BM25(backend="numpy")
        made.index(words, show_progress=False)
        return made

    anchor, spent = cpu(build)
    mask = np.zeros(len(words), np.float32)
    mask[allowed] = 1
    plain = times(lambda text: bm25s_answer(anchor, text, 5, None), questions)
    return Measured("bm25s", spent, *plain, *times(lambda text: bm25s_answer(anchor, text, 5, mask), questions))


def measure_tantivy(words: list[list[str]], questions: Sequence[str], allowed: list[int]) -> Measured:
    """Tantivy in memory with one segment; a filter is a set of ids made once, the form of an allow-list."""
    schema = tantivy.SchemaBuilder().add_text_field("body", tokenizer_name="spaces")
    schema = schema.add_unsigned_field("id", stored=True, indexed=True, fast=True).build()

    def build() -> tantivy.Index:
        index = tantivy.Index(schema)
        index.register_tokenizer("spaces", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
        writer = index.writer(heap_size=500_000_000, num_threads=1)
        for place, found in enumerate(words):
            document = tantivy.Document(body=[" ".join(found)])
            document.add_unsigned("id", place)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        return index

    index, spent = cpu(build)
    searcher = index.searcher()
    members = tantivy.Query.term_set_query(schema, "id", allowed)

    def answer(text: str, *, filtered: bool) -> list[int]:
        terms = [
            (tantivy.Occur.Should, tantivy.Query.term_query(schema, "body", token)) for token in plain_tokens(text)
        ]
        query = tantivy.Query.boolean_query(terms)
        if filtered:
            query = tantivy.Query.boolean_query([(tantivy.Occur.Must, members), (tantivy.Occur.Must, query)])
        return [searcher.doc(address)["id"][0] for _, address in searcher.search(query, 5).hits]

    plain = times(lambda text: answer(text, filtered=False), questions)
    return Measured("tantivy", spent, *plain, *times(lambda text: answer(text, filtered=True), questions))


def measure_sklearn(words: list[list[str]], questions: Sequence[str], allowed: list[int]) -> Measured:
    """scikit-learn's TF-IDF cosine with the transposed matrix kept; a filter picks from all scores."""

    def build() -> tuple[TfidfVectorizer, object]:
        vectorizer = TfidfVectorizer(analyzer=list, sublinear_tf=True, dtype=np.float32)
        return vectorizer, vectorizer.fit_transform(words).T.tocsr()

    (vectorizer, columns), spent = cpu(build)
    chosen = np.array(allowed)

    def answer(text: str, *, filtered: bool) -> list[int]:
        scores = np.asarray((vectorizer.transform([plain_tokens(text)]) @ columns).todense()).ravel()
        scores = scores[chosen] if filtered else scores
        top = np.argpartition(-scores, 5)[:5]
        top = top[np.argsort(-scores[top])]
        return (chosen[top] if filtered else top).tolist()

    plain = times(lambda text: answer(text, filtered=False), questions)
    return Measured("scikit-learn", spent, *plain, *times(lambda text: answer(text, filtered=True), questions))


def speed(language: str, count: int, *, judged: bool, every_word: bool) -> bool:
    """Print the speed table of one size; whether the bars hold.

    Args:
        language: en or zh.
        count: how many passages.
        judged: whether the bars of 100,000 passages are printed.
        every_word: whether function words (the, of) stay in, for every library: the hard case with long lists.
    """
    kept = words_module.FUNCTION_WORDS
    if every_word:
        words_module.FUNCTION_WORDS = frozenset()
    try:
        return _speed(language, count, judged=judged, note="every word" if every_word else "function words left out")
    finally:
        words_module.FUNCTION_WORDS = kept


def _speed(language: str, count: int, *, judged: bool, note: str) -> bool:
    passages = synthetic(language, count)
    analysed, spent = cpu(lambda: [analyse("", passage) for passage in passages[:2_000]])
    print(f"\n{count} passages, {language}, {note}; analysing costs {1e3 * spent / 2:.0f} ms per 1,000 passages, apart")
    analysed = [analyse("", passage) for passage in passages]
    words = [plain_tokens(passage) for passage in passages]
    questions = [question.text for question in load("xquad", language).questions[:300]]
    allowed = sorted(random.Random(1).sample(range(count), count // 100))
    runs = [measure_ours(analysed, questions, allowed)]
    runs += [measure(words, questions, allowed) for measure in (measure_bm25s, measure_tantivy, measure_sklearn)]
    print(f"  {'library':14} build s  query p50 / p99 ms     1 % allow-list p50 / p99 ms")
    for run in runs:
        shown = f"{run.median:8.3f} / {run.slow:8.3f}    {run.filtered:8.3f} / {run.filtered_slow:8.3f}"
        print(f"  {run.name:14} {run.build:7.2f}  {shown}")
    ours, *others = runs
    anchors = others[:2]
    for other in others:
        print(
            f"  {other.name} / ours: build {other.build / ours.build:.1f}, query {other.median / ours.median:.1f}, "
            f"filtered {other.filtered / ours.filtered:.1f}"
        )
    if not judged:
        return True
    held = [
        bar(f"median no slower than {run.name} (ratio)", run.median / ours.median, run.median >= ours.median)
        for run in anchors
    ]
    held += [
        bar(
            f"1 % allow-list 5 times faster than {run.name}",
            run.filtered / ours.filtered,
            run.filtered >= 5 * ours.filtered,
        )
        for run in anchors
    ]
    held.append(
        bar("build 2 times faster than bm25s", anchors[0].build / ours.build, anchors[0].build >= 2 * ours.build)
    )
    return all(held)


def players_index() -> bool:
    """One player's index of 50 passages; whether it is built in under 5 ms."""
    analysed = [analyse("", passage) for passage in load("xquad", "en").passages[:50]]
    spent: list[float] = []
    for _ in range(50):
        started = time.process_time()
        LexicalIndex.build(analysed)
        spent.append(1e3 * (time.process_time() - started))
    print(f"\none player's index of 50 passages: best {min(spent):.2f} ms, median {statistics.median(spent):.2f} ms")
    return bar("one player's 50 passages under 5 ms (best of 50)", min(spent), min(spent) < 5)


def main() -> None:
    """Print everything; exit code 1 when a bar does not hold."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--small", action="store_true", help="two sets and 10,000 passages only")
    options.add_argument("--language", choices=("en", "zh"), default="en", help="of the speed tables")
    chosen = options.parse_args()
    held = [quality(small=chosen.small), players_index(), speed(chosen.language, 10_000, judged=False, every_word=True)]
    if not chosen.small:
        held += [speed(chosen.language, 100_000, judged=True, every_word=every) for every in (True, False)]
    raise SystemExit(not all(held))


if __name__ == "__main__":
    main()
