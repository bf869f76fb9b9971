"""The passages of one scope and language, ready to be searched: where each stands, whom it admits, and the index."""

from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, overload

import numpy as np
from numpy.typing import NDArray

from mcsystem.knowledge.audience import Audience, Viewer
from mcsystem.knowledge.documents import Document, digest, split_key
from mcsystem.retrieval import Analysed, LexicalIndex, Passage, Selection, analyse, cut_passages

SELECTIONS: Final = 64
FEATURE_BYTES: Final = 12  # what a feature of a passage costs in an index
PASSAGE_BYTES: Final = 250  # and a passage or a document beside its features


@dataclass(frozen=True, slots=True)
class Known:
    """A passage of an earlier index whose analysis is taken from there."""

    lexical: LexicalIndex
    passage: int


class Analyses(Sequence[Analysed]):
    """The analyses an index is built from; known ones are fetched when they are asked for, and not kept."""

    def __init__(self) -> None:
        self._entries: list[Analysed | Known] = []

    def extend(self, entries: Iterable[Analysed | Known]) -> None:
        """Add passages at the end."""
        self._entries.extend(entries)

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, index: int) -> Analysed: ...

    @overload
    def __getitem__(self, index: slice) -> list[Analysed]: ...

    def __getitem__(self, index: int | slice) -> Analysed | list[Analysed]:
        entries = self._entries[index]
        return [_fetched(entry) for entry in entries] if isinstance(entries, list) else _fetched(entries)


def _fetched(entry: Analysed | Known) -> Analysed:
    return entry.lexical.analysed(entry.passage) if isinstance(entry, Known) else entry


@dataclass(frozen=True, slots=True)
class Indexed:
    """A document that is in an index.

    Attributes:
        key: in its table.
        digest: of its content, see `documents.digest`.
        audience: who may see it.
        first: its first passage.
        last: the passage behind its last one.
        features: of its passages together.
    """

    key: str
    digest: bytes
    audience: Audience
    first: int
    last: int
    features: int


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
        size: bytes of memory, roughly.
    """

    revision: int
    documents: tuple[Indexed, ...]
    audiences: tuple[Audience, ...]
    lexical: LexicalIndex
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

    def by_digest(self) -> dict[bytes, Indexed]:
        """The documents by content, for the next build."""
        return {entry.digest: entry for entry in self.documents}

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
        before: an earlier index of the same documents; what is unchanged since is not cut and analysed again.
        pause: called between slices of the work, so that other threads get their turn.
    """

    def __init__(self, before: Passages | None, *, pause: Callable[[], None]) -> None:
        self._before = before
        self._known = {} if before is None else before.by_digest()
        self._pause = pause
        self._documents: list[Indexed] = []
        self._audiences: dict[Audience, int] = {}
        self._audience_of = array("i")
        self._owners = array("i")
        self._titles: list[str] = []
        self._starts, self._ends = array("I"), array("I")
        self._analyses = Analyses()

    def add(self, document: Document) -> None:
        """Cut and analyse one document, unless that was done before."""
        name, first = digest(document), len(self._titles)
        known = self._known.get(name)
        if known is not None and self._before is not None:
            features = known.features
            self._take(self._before, known)
        else:
            features = self._cut(document)
        last = len(self._titles)
        self._owners.extend([len(self._documents)] * (last - first))
        self._audience_of.append(self._audiences.setdefault(document.audience, len(self._audiences)))
        self._documents.append(Indexed(document.key, name, document.audience, first, last, features))
        self._pause()

    def _cut(self, document: Document) -> int:
        features = 0
        for passage in cut(document):
            analysis = analyse(passage.title, passage.text)
            features += len(analysis.features)
            self._add(passage.title, passage.start, passage.end, analysis)
            self._pause()
        return features

    def _take(self, before: Passages, known: Indexed) -> None:
        for passage in range(known.first, known.last):
            _, title, start, end = before.place(passage)
            self._add(title, start, end, Known(before.lexical, passage))

    def _add(self, title: str, start: int, end: int, analysis: Analysed | Known) -> None:
        self._titles.append(title)
        self._starts.append(start)
        self._ends.append(end)
        self._analyses.extend((analysis,))

    def finish(self, revision: int) -> Passages:
        """The index of what was added."""
        features = sum(document.features for document in self._documents)
        lexical = LexicalIndex.build(self._analyses, pause=self._pause)
        return Passages(
            revision=revision,
            documents=tuple(self._documents),
            audiences=tuple(self._audiences),
            lexical=lexical,
            size=features * FEATURE_BYTES + PASSAGE_BYTES * (len(self._titles) + len(self._documents)),
            _owners=np.array(self._owners, np.int32),
            _audience_of=np.array(self._audience_of, np.int32),
            _titles=tuple(self._titles),
            _starts=self._starts,
            _ends=self._ends,
        )


def cut(document: Document) -> Iterable[Passage]:
    """The passages of a document; a question whose answer is empty, or a blank document, has none."""
    return cut_passages(document.title, document.text, markdown=document.markdown)


def count_passages(document: Document) -> int:
    """How many passages a document is cut into."""
    return sum(1 for _ in cut(document))
