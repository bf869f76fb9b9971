"""The document table: one row a document, keyed by language, collection and path; long bodies in parts."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.ids import check_language
from mcsystem.knowledge.audience import NO_LEVEL, Audience
from mcsystem.knowledge.documents import Document, Kind, split_key
from mcsystem.storage import Database, Put, Remove, Table

# One string of a file holds 65,535 bytes of modified UTF-8; a character beyond U+FFFF takes six, so 10,900 always fit.
PART_CHARACTERS: Final = 10_900
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document as it is stored; language, collection, path and entry are its key.

    Attributes:
        title: its title.
        parts: the body, cut so that each part fits into one string.
        level: least permission level, -1 when none opens it.
        players: names and UUIDs that may see it.
        url: where to read on, else empty.
        answer: whether it is a pair of a table of questions.
    """

    title: str
    parts: tuple[str, ...]
    level: int = 0
    players: tuple[str, ...] = ()
    url: str = ""
    answer: bool = False


class DocumentTable:
    """The documents of one source, in any database; the same rules hold for shared and private ones.

    Args:
        table_id: such as `system:knowledge`.
    """

    def __init__(self, table_id: str) -> None:
        self.table: Final = Table(table_id, DocumentRow)

    @property
    def id(self) -> str:
        """The table's ID."""
        return self.table.id

    def keys(self, database: Database, language: str) -> tuple[str, ...]:
        """The keys of one language's documents, sorted.

        Errors: LANGUAGE_UNKNOWN, STORAGE_*.
        """
        prefix = f"{check_language(language)}/"
        return tuple(sorted(key for key in database.keys(self.table) if key.startswith(prefix)))

    def languages(self, database: Database) -> tuple[str, ...]:
        """The languages that have documents, sorted; empty when there are none.

        Errors: STORAGE_*.
        """
        return tuple(sorted({key.partition("/")[0] for key in database.keys(self.table)}))

    def at(self, database: Database, key: str) -> Document | None:
        """The document with this key; None when there is none.

        Errors: STORAGE_*.
        """
        row = database.get(self.table, key)
        return None if row is None else _document(key, row)

    def documents(self, database: Database, language: str) -> Iterator[Document]:
        """The documents of one language by key, one at a time, so that they need not all be in memory.

        Errors: LANGUAGE_UNKNOWN, STORAGE_*.
        """
        for key in self.keys(database, language):
            document = self.at(database, key)
            if document is not None:
                yield document

    def list(self, database: Database, language: str) -> "list[Document]":
        """The documents of one language by key; empty when there are none.

        Errors: LANGUAGE_UNKNOWN, STORAGE_*.
        """
        return [*self.documents(database, language)]

    def find(self, database: Database, language: str, path: str) -> "list[Document]":
        """Every document with this path, of each collection; more than one for a table of questions.

        Errors: LANGUAGE_UNKNOWN, STORAGE_*; KNOWLEDGE_NOT_FOUND when there is none.
        """
        keys = self._with_path(database, language, path, None)
        return [found for key in keys if (found := self.at(database, key)) is not None]

    def put(self, database: Database, document: Document) -> None:
        """Add a document or replace the one with the same language, collection and path.

        Errors: LANGUAGE_UNKNOWN, KNOWLEDGE_FILE_INVALID, STORAGE_*.
        """
        database.put(self.table, document.key, row_of(document))

    def remove(self, database: Database, language: str, path: str, *, collection: str | None = None) -> int:
        """Remove what has this path, in one collection or in all; returns how many documents that were.

        Errors: LANGUAGE_UNKNOWN, STORAGE_*; KNOWLEDGE_NOT_FOUND when there is none.
        """
        keys = self._with_path(database, language, path, collection)
        database.commit([Remove(self.table, key) for key in keys])
        return len(keys)

    def replace(self, database: Database, language: str, documents: Iterable[Document]) -> None:
        """Make `documents` the only ones of their language, in one write; other languages stay.

        Errors: LANGUAGE_UNKNOWN also when a document has another language; KNOWLEDGE_FILE_INVALID, STORAGE_*.
        """
        rows: dict[str, DocumentRow] = {}
        for document in documents:
            if document.language != check_language(language):
                raise AssistantError(ErrorCode.LANGUAGE_UNKNOWN, language=document.language[:20])
            rows[document.key] = row_of(document)
        gone = [Remove(self.table, key) for key in self.keys(database, language) if key not in rows]
        database.commit([*gone, *(Put(self.table, key, row) for key, row in rows.items())])

    def _with_path(self, database: Database, language: str, path: str, collection: str | None) -> "list[str]":
        keys = [
            key
            for key in self.keys(database, language)
            if (place := split_key(key)).path == path and collection in (None, place.collection)
        ]
        if not keys:
            raise AssistantError(ErrorCode.KNOWLEDGE_NOT_FOUND, document=path[:200], language=language)
        return keys


def row_of(document: Document) -> DocumentRow:
    """The document as it is stored; half characters, which no file can hold, become U+FFFD."""
    text = sound(document.text)
    parts = tuple(text[start : start + PART_CHARACTERS] for start in range(0, len(text), PART_CHARACTERS))
    audience = document.audience
    return DocumentRow(
        title=sound(document.title)[:PART_CHARACTERS],
        parts=parts,
        level=audience.level,
        players=tuple(sorted(audience.players)),
        url=sound(document.url or ""),
        answer=document.kind == "answer",
    )


def _document(key: str, row: DocumentRow) -> Document:
    place = split_key(key)
    kind: Kind = "answer" if row.answer else "document"
    level = row.level if row.level >= 0 else NO_LEVEL
    return Document(
        path=place.path,
        language=place.language,
        title=row.title,
        text="".join(row.parts),
        audience=Audience(level, frozenset(row.players)),
        collection=place.collection,
        url=row.url or None,
        kind=kind,
        entry=place.entry,
    )


def sound(text: str) -> str:
    """`text` with pairs of surrogates joined and half ones replaced by U+FFFD."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


KNOWLEDGE: Final = DocumentTable("system:knowledge")
FTB_GUIDES: Final = DocumentTable("system:ftb_guides")
QUEST_BACKGROUNDS: Final = "system:quest_backgrounds"
