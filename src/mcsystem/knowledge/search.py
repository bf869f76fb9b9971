"""Searches documents: keeps one index per database, source and language, and answers from what is stored now."""

import time
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from mcsystem.ids import check_language
from mcsystem.knowledge.audience import Viewer
from mcsystem.knowledge.documents import Document, Kind, digest, fingerprint
from mcsystem.knowledge.passages import Builder, Indexed, Passages
from mcsystem.knowledge.table import DocumentTable
from mcsystem.retrieval import Evidence, Hit
from mcsystem.storage import Database, Databases

PATIENCE: Final = 2.0  # seconds a search waits for another thread's rebuild before it answers from the old index
MEMORY: Final = 512 * 1024 * 1024  # of all indexes together, roughly; the one in use stays whatever its size is
INDEXES: Final = 1_024
ATTEMPTS: Final = 3
TURN: Final = 0.002  # seconds that a build works before it lets others have a turn
TEXTS: Final = 4_000_000  # characters of bodies kept at hand


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that was found.

    Attributes:
        document: path of its document.
        collection: imported folder that it belongs to; empty when code put it there.
        title: title path.
        text: the whole passage.
        score: the ranking's score, larger is better, at most 1.
        hit: whether the evidence says that it is a match.
        url: where to read on, else None.
        fingerprint: changes with title, text or audience of the passage; compare it before an answer is sent.
        revision: the table's revision that was searched.
        evidence: why it is a hit or not.
        kind: `document` or `answer`.
    """

    document: str
    collection: str
    title: str
    text: str
    score: float
    hit: bool
    url: str | None
    fingerprint: str
    revision: int
    evidence: Evidence
    kind: Kind = "document"


@dataclass(slots=True)
class _Slot:
    """The place of one index; `building` is held by the one thread that rebuilds it."""

    database: Database
    passages: Passages | None = None
    building: Lock = field(default_factory=Lock)
    texts: "OrderedDict[str, tuple[int, Document]]" = field(default_factory=OrderedDict[str, tuple[int, Document]])
    text_size: int = 0


_Key = tuple[str, str, str]


class Knowledge:
    """Search over documents in any database; scopes are never merged, languages never mixed.

    One index per database, source and language is built at the first search and again after its table changed;
    documents that did not change are not analysed again. One thread builds it. Searches that began before finish on the
    index they have; later ones wait for the new one, at most `PATIENCE` seconds, then answer from the old one. Every
    passage is checked against its stored document before it is returned: what was deleted, changed or closed never
    answers.

    Every method may read files and build indexes, so it belongs on workers.
    """

    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self._slots: OrderedDict[_Key, _Slot] = OrderedDict()
        self._lock = Lock()

    def prepare_index(self, database: Database, source: DocumentTable, language: str) -> None:
        """Build the index now, if it is missing or old.

        Errors: LANGUAGE_UNKNOWN, STORAGE_*.
        """
        self._current(self._slot(database, source, language), source, check_language(language), patience=None)

    def search(
        self,
        database: Database,
        source: DocumentTable,
        language: str,
        query: str,
        *,
        viewer: Viewer | None = None,
        allowed_ids: Collection[str] | None = None,
        limit: int = 5,
    ) -> list[Found]:
        """The best passages of one scope, source and language, best first.

        Documents that do not admit the viewer, or are not among the allowed ones, leave no trace in the result: it
        equals a search of a table without them.

        Args:
            database: the scope; nothing else is looked at.
            source: the document table.
            language: exact; there is no fallback to another one.
            query: what was asked, as typed.
            viewer: for whom; None is an admin and sees everything.
            allowed_ids: paths of the documents that count; None means all.
            limit: how many passages at most.

        Returns:
            At most `limit` passages with a word in common with the question; `hit` says which ones count as a match.

        Errors: LANGUAGE_UNKNOWN, STORAGE_*.
        """
        language = check_language(language)
        allowed = None if allowed_ids is None else frozenset(allowed_ids)
        slot = self._slot(database, source, language)
        found: list[Found] = []
        for attempt in range(ATTEMPTS):
            passages = self._current(slot, source, language, patience=0.0 if attempt else PATIENCE)
            hits = passages.lexical.search(query, limit=limit, allowed=passages.selection(viewer, allowed))
            found = [one for hit in hits if (one := self._read(slot, source, passages, hit)) is not None]
            if len(found) == len(hits):
                break
        return found

    def forget(self, database: Database) -> None:
        """Drop what is kept in memory about one database, such as that of a player who erased their data."""
        with self._lock:
            for key in [key for key in self._slots if key[0] == database.name]:
                del self._slots[key]

    def _slot(self, database: Database, source: DocumentTable, language: str) -> _Slot:
        key = (database.name, source.id, check_language(language))
        with self._lock:
            slot = self._slots.get(key)
            if slot is None or slot.database is not database:  # a deleted player's handle is another object
                slot = self._slots[key] = _Slot(database)
            self._slots.move_to_end(key)
        return slot

    def _current(self, slot: _Slot, source: DocumentTable, language: str, *, patience: float | None) -> Passages:
        """The index of what is stored now, built by this thread when nobody else does; else perhaps an older one."""
        revision = slot.database.table_revision(source.id)
        passages = slot.passages
        if passages is not None and passages.revision == revision:
            return passages
        if not slot.building.acquire(timeout=-1 if passages is None or patience is None else patience):
            return slot.passages or _empty(revision)
        try:
            revision = slot.database.table_revision(source.id)
            if slot.passages is None or slot.passages.revision != revision:
                slot.passages = _build(slot, source, language, revision)
                self._trim()
            return slot.passages
        finally:
            slot.building.release()

    def _trim(self) -> None:
        """Forget the indexes that were not used for longest when all together are too large."""
        with self._lock:
            sizes = {key: slot.passages.size if slot.passages else 0 for key, slot in self._slots.items()}
            total = sum(sizes.values())
            for key in [*self._slots][:-1]:
                if total <= MEMORY and len(self._slots) <= INDEXES:
                    break
                total -= sizes[key]
                del self._slots[key]

    def _read(self, slot: _Slot, source: DocumentTable, passages: Passages, hit: Hit) -> Found | None:
        """The passage as it is stored now; None when its document was changed or removed since the index was built."""
        indexed, title, start, end = passages.place(hit.id)
        document = self._document(slot, source, passages, indexed)
        if document is None:
            return None
        text = document.text[start:end]
        return Found(
            document=document.path,
            collection=document.collection,
            title=title,
            text=text,
            score=hit.score,
            hit=hit.hit,
            url=document.url,
            fingerprint=fingerprint(title, text, document.audience),
            revision=passages.revision,
            evidence=hit.evidence,
            kind=document.kind,
        )

    def _document(self, slot: _Slot, source: DocumentTable, passages: Passages, indexed: Indexed) -> Document | None:
        """The stored document when it is still the indexed one; a few read last are kept at hand."""
        revision = slot.database.table_revision(source.id)
        with self._lock:
            kept = slot.texts.get(indexed.key)
            if kept is not None and kept[0] == revision == passages.revision:
                slot.texts.move_to_end(indexed.key)
                return kept[1]
        document = source.at(slot.database, indexed.key)
        if document is None or digest(document) != indexed.digest:
            return None
        with self._lock:
            before = slot.texts.pop(indexed.key, None)
            slot.texts[indexed.key] = (revision, document)
            slot.text_size += len(document.text) - (len(before[1].text) if before else 0)
            while slot.text_size > TEXTS and len(slot.texts) > 1:
                slot.text_size -= len(slot.texts.popitem(last=False)[1][1].text)
        return document


def _build(slot: _Slot, source: DocumentTable, language: str, revision: int) -> Passages:
    builder = Builder(slot.passages, pause=Turns())
    for document in source.documents(slot.database, language):
        builder.add(document)
    return builder.finish(revision)


def _empty(revision: int) -> Passages:
    return Builder(None, pause=Turns()).finish(revision)


class Turns:
    """A pause that lets other threads have the interpreter every few milliseconds."""

    __slots__ = ("_next",)

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self) -> None:
        """Wait when it is time for it."""
        if time.monotonic() >= self._next:
            time.sleep(0)
            self._next = time.monotonic() + TURN
