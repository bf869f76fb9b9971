"""The passages of one scope and language, ready to be searched: where each stands, whom it admits, and the index."""

from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mcsystem.knowledge.audience import Audience, Viewer
from mcsystem.knowledge.documents import Document, digest, split_key
from mcsystem.retrieval import Analysed, LexicalIndex, Passage, Selection, analyse, cut_passages

KEPT_BYTES: Final = 96 * 1024 * 1024  # analyses kept for the next build of one index; beyond it they are made again
SELECTIONS: Final = 64
FEATURE_BYTES: Final = 12  # what a feature of a passage costs in an index
FEATURE_KEPT: Final = 10  # and in a kept analysis
PASSAGE_KEPT: Final = 200


@dataclass(frozen=True, slots=True)
class Prepared:
    """One document cut and analysed; depends on nothing but its content.

    Attributes:
        titles: title path of each passage.
        starts: offset of each passage in the body.
        ends: offset behind each passage.
        analysed: its features.
        size: bytes of memory, roughly.
    """

    titles: tuple[str, ...]
    starts: "array[int]"
    ends: "array[int]"
    analysed: tuple[Analysed, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Indexed:
    """A document that is in an index."""

    key: str
    digest: bytes
    audience: Audience


@dataclass(frozen=True, slots=True)
class SelectionKey:
    """What a prepared allow-list depends on: which audiences are admitted, and which documents are asked for."""

    audiences: tuple[bool, ...]
    allowed: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class Passages:
    """An unchanging index of the passages of one scope and language; any number of threads may use it.

    Attributes:
        revision: the table's revision that was read.
        documents: in the order of their keys.
        audiences: the different audiences among them.
        lexical: the index; passage ids are positions here.
        kept: analyses by digest, for the next build.
        size: bytes of memory, roughly.
    """

    revision: int
    documents: tuple[Indexed, ...]
    audiences: tuple[Audience, ...]
    lexical: LexicalIndex
    kept: Mapping[bytes, Prepared]
    size: int
    _owners: NDArray[np.int32]
    _audience_of: NDArray[np.int32]
    _titles: tuple[str, ...]
    _starts: "array[int]"
    _ends: "array[int]"
    _selections: "OrderedDict[SelectionKey, Selection]" = field(default_factory=OrderedDict[SelectionKey, Selection])
    _lock: Lock = field(default_factory=Lock)

    def __len__(self) -> int:
        return len(self._titles)

    def place(self, passage: int) -> tuple[Indexed, str, int, int]:
        """Document, title path, start and end of a passage."""
        owner = self.documents[int(self._owners[passage])]
        return owner, self._titles[passage], self._starts[passage], self._ends[passage]

    def selection(self, viewer: Viewer | None, allowed: frozenset[str] | None) -> Selection | None:
        """The passages that `viewer` may see of the documents with the paths `allowed`; None when that is all.

        Selections are kept by audience, not by player: players of the same rights share one.
        """
        admitted = tuple(audience.admits(viewer) for audience in self.audiences)
        if allowed is None and all(admitted):
            return None
        key = SelectionKey(admitted, allowed)
        with self._lock:
            if key in self._selections:
                self._selections.move_to_end(key)
                return self._selections[key]
        made = self.lexical.select(self._members(key))
        with self._lock:
            self._selections[key] = made
            if len(self._selections) > SELECTIONS:
                self._selections.popitem(last=False)
        return made

    def _members(self, key: SelectionKey) -> NDArray[np.int64]:
        may = np.array(key.audiences, np.bool_)[self._audience_of]
        if key.allowed is not None:
            asked = (document_path(entry.key) in key.allowed for entry in self.documents)
            may &= np.fromiter(asked, np.bool_, len(self.documents))
        return np.flatnonzero(may[self._owners]).astype(np.int64)


def document_path(key: str) -> str:
    """The path in a document's key, without the entry."""
    return split_key(key).path


class Builder:
    """Reads documents one at a time and makes `Passages` of them; bodies are not kept.

    Args:
        known: analyses of an earlier build by digest; what is unchanged is not analysed again.
        pause: called between slices of the work, so that other threads get their turn.
    """

    def __init__(self, known: Mapping[bytes, Prepared], *, pause: Callable[[], None]) -> None:
        self._known = known
        self._pause = pause
        self._documents: list[Indexed] = []
        self._audiences: dict[Audience, int] = {}
        self._audience_of = array("i")
        self._owners = array("i")
        self._titles: list[str] = []
        self._starts, self._ends = array("I"), array("I")
        self._analysed: list[Analysed] = []
        self._kept: dict[bytes, Prepared] = {}
        self._kept_bytes = 0

    def add(self, document: Document) -> None:
        """Cut and analyse one document, unless that was done before."""
        name = digest(document)
        prepared = self._known.get(name) or prepare(document, pause=self._pause)
        if self._kept_bytes + prepared.size <= KEPT_BYTES and name not in self._kept:
            self._kept[name] = prepared
            self._kept_bytes += prepared.size
        self._owners.extend([len(self._documents)] * len(prepared.titles))
        self._audience_of.append(self._audiences.setdefault(document.audience, len(self._audiences)))
        self._documents.append(Indexed(document.key, name, document.audience))
        self._titles.extend(prepared.titles)
        self._starts.extend(prepared.starts)
        self._ends.extend(prepared.ends)
        self._analysed.extend(prepared.analysed)
        self._pause()

    def finish(self, revision: int) -> Passages:
        """The index of what was added."""
        lexical = LexicalIndex.build(self._analysed, pause=self._pause)
        features = sum(len(entry.weights) for entry in self._analysed) // 2
        self._analysed = []
        return Passages(
            revision=revision,
            documents=tuple(self._documents),
            audiences=tuple(self._audiences),
            lexical=lexical,
            kept=self._kept,
            size=features * FEATURE_BYTES + self._kept_bytes + 200 * len(self._titles) + 1_000,
            _owners=np.array(self._owners, np.int32),
            _audience_of=np.array(self._audience_of, np.int32),
            _titles=tuple(self._titles),
            _starts=self._starts,
            _ends=self._ends,
        )


def prepare(document: Document, *, pause: Callable[[], None]) -> Prepared:
    """Cut and analyse one document."""
    titles: list[str] = []
    starts, ends = array("I"), array("I")
    analysed: list[Analysed] = []
    size = 0
    for passage in cut(document):
        entry = analyse(passage.title, passage.text)
        titles.append(passage.title)
        starts.append(passage.start)
        ends.append(passage.end)
        analysed.append(entry)
        size += FEATURE_KEPT * len(entry.features) + PASSAGE_KEPT
        pause()
    return Prepared(tuple(titles), starts, ends, tuple(analysed), size)


def cut(document: Document) -> Iterable[Passage]:
    """The passages of a document; a question whose answer is empty, or a blank document, has none."""
    return cut_passages(document.title, document.text, markdown=document.markdown)


def count_passages(document: Document) -> int:
    """How many passages a document is cut into."""
    return sum(1 for _ in cut(document))
