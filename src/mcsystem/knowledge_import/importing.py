"""Brings a folder into the knowledge: reads every file, compares with what is there, and writes the difference once."""

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.ids import check_language
from mcsystem.knowledge import KNOWLEDGE, Document, DocumentRow, count_passages, row_of, shown_path, sound, split_key
from mcsystem.knowledge_import.folder import Listing, SourceFile, list_files, resolve_folder
from mcsystem.knowledge_import.reading import Reading, Setting, read_file
from mcsystem.knowledge_import.report import FileProblem, ImportReport, Progress
from mcsystem.storage import Change, Database, Put, Remove, Table
from mcsystem.storage.tags import MAX_VALUES

COLLECTION: Final = re.compile(r"[\w.-]{1,80}")
_NOT_NAME: Final = re.compile(r"[^\w.-]+")
_NAME: Final = 40
_ROW: Final = 64  # bytes of a stored document beside its texts, roughly
_ROW_VALUES: Final = 7

Told = Callable[[Progress], None]
Stop = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class ImportedFolder:
    """A folder that was imported, so that it can be imported again.

    Attributes:
        folder: its place on this machine.
        language: the language of files that name none.
    """

    folder: str
    language: str


IMPORTS: Final = Table("system:imports", ImportedFolder)  # key: the collection's ID


@dataclass(slots=True)
class _Difference:
    """What an import will write.

    Attributes:
        there: keys of the collection that are stored now.
        rows: new content by key.
        seen: keys that the folder has.
        growth: bytes that the new rows take, roughly.
    """

    there: frozenset[str]
    rows: dict[str, DocumentRow] = field(default_factory=dict[str, DocumentRow])
    seen: set[str] = field(default_factory=set[str])
    kept: list[str] = field(default_factory=list[str])
    growth: int = 0
    unchanged: int = 0
    passages: int = 0

    @property
    def gone(self) -> list[str]:
        """Keys to remove: those the folder has no longer, except below what could not be looked at."""
        return sorted(key for key in self.there - self.seen if not self._kept(split_key(key).path))

    def _kept(self, path: str) -> bool:
        return any(path == name or (path.startswith(name) and (not name or name.endswith("/"))) for name in self.kept)


def collection_of(folder: Path) -> str:
    """The ID under which a folder's documents are kept: its name and a digest of its place.

    The same folder is always the same collection, so importing it again updates it; two folders never share one. A
    folder that was moved is another one, unless the import names the collection.
    """
    name = _NOT_NAME.sub("-", folder.name)[:_NAME].strip("-.") or "folder"
    place = hashlib.blake2b(str(folder).encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    return sound(f"{name}-{place}")


def import_folder(
    database: Database,
    folder: Path,
    *,
    language: str,
    collection: str | None = None,
    progress: Told | None = None,
    stop: Stop | None = None,
    remember: bool = True,
) -> ImportReport:
    """Make the documents of one folder those of its files now: new ones in, changed ones replaced, missing ones out.

    A file that is wrong is in the report and left out, the rest goes in. A file that cannot be read at this moment
    keeps what is known of it. Everything is written at once, after all files were read: it is all in or nothing is.

    Args:
        database: the scope to import into.
        folder: any place; it is only read.
        language: of files whose front matter names none.
        collection: ID to keep the documents under; by default one made from the folder's place, see `collection_of`.
        progress: called after each file.
        stop: asked before each file; True ends the import and nothing is written.
        remember: whether `reload_imports` shall import the folder again.

    Errors: LANGUAGE_UNKNOWN, KNOWLEDGE_FOLDER_INVALID; STORAGE_TOO_LARGE with the limit, before anything is written;
    other STORAGE_*.
    """
    language, root = check_language(language), resolve_folder(folder)
    name = _checked(collection_of(root) if collection is None else collection)
    listing = list_files(root)
    report = ImportReport(shown_path(str(root)), name, language, len(listing.files), listing.ignored)
    problems = [*listing.problems]
    difference = _difference(database, listing, Setting(language, name), problems, progress=progress, stop=stop)
    problems.sort(key=lambda problem: (problem.file, problem.line or 0))
    if difference is None:
        return replace(report, problems=tuple(problems), stopped=True)
    _write(database, difference, name, ImportedFolder(sound(str(root)), language) if remember else None)
    return _done(report, difference, problems)


def _checked(collection: str) -> str:
    if not COLLECTION.fullmatch(collection):
        raise AssistantError(ErrorCode.KNOWLEDGE_FOLDER_INVALID, folder=shown_path(collection), reason="collection")
    return collection


def _done(report: ImportReport, difference: _Difference, problems: list[FileProblem]) -> ImportReport:
    changed = sum(key in difference.there for key in difference.rows)
    return replace(
        report,
        added=len(difference.rows) - changed,
        changed=changed,
        removed=len(difference.gone),
        unchanged=difference.unchanged,
        passages=difference.passages,
        problems=tuple(problems),
    )


def _difference(
    database: Database,
    listing: Listing,
    setting: Setting,
    problems: list[FileProblem],
    *,
    progress: Told | None,
    stop: Stop | None,
) -> _Difference | None:
    """Read every file and compare it with what is stored; None when the import was stopped."""
    keys = database.keys(KNOWLEDGE.table)
    there = frozenset(key for key in keys if split_key(key).collection == setting.collection)
    difference = _Difference(there, kept=listing.kept)
    for file, reading in _readings(listing, setting, progress):
        if stop is not None and stop():
            return None
        problems += reading.problems
        if reading.kept:
            difference.kept.append(file.path)
        for document in reading.documents:
            _compare(database, document, difference)
    return difference


def _readings(listing: Listing, setting: Setting, progress: Told | None) -> Iterable[tuple[SourceFile, Reading]]:
    total = sum(file.size for file in listing.files)
    done = 0
    for number, file in enumerate(listing.files, 1):
        yield file, read_file(file, setting)
        done += file.size
        if progress is not None:
            progress(Progress(number, len(listing.files), done, total, file.path))


def _compare(database: Database, document: Document, difference: _Difference) -> None:
    key = document.key
    row = row_of(document)
    difference.seen.add(key)
    if key in difference.there and database.get(KNOWLEDGE.table, key) == row:
        difference.unchanged += 1
        return
    difference.rows[key] = row
    difference.growth += _ROW + len(key) + sum(len(part.encode()) for part in row.parts)
    if difference.growth > database.limit:  # does not fit even into an empty scope: stop before memory is full
        values = sum(_ROW_VALUES + len(row.parts) for row in difference.rows.values())
        raise AssistantError(
            ErrorCode.STORAGE_TOO_LARGE,
            size=difference.growth,
            limit=database.limit,
            values=values,
            value_limit=MAX_VALUES,
        )
    difference.passages += count_passages(document)


def _write(database: Database, difference: _Difference, collection: str, folder: ImportedFolder | None) -> None:
    changes: list[Change] = [Remove(KNOWLEDGE.table, key) for key in difference.gone]
    changes += [Put(KNOWLEDGE.table, key, row) for key, row in difference.rows.items()]
    if folder is not None and database.get(IMPORTS, collection) != folder:
        changes.append(Put(IMPORTS, collection, folder))
    if changes:
        database.commit(changes)


def imported_folders(database: Database) -> dict[str, ImportedFolder]:
    """The folders that were imported into a scope, by collection.

    Errors: STORAGE_*.
    """
    return database.entries(IMPORTS)


def reload_imports(database: Database, *, progress: Told | None = None, stop: Stop | None = None) -> list[ImportReport]:
    """Import every folder again that was imported into this scope; one that is gone is reported, its documents stay.

    Errors: STORAGE_*.
    """
    reports: list[ImportReport] = []
    for collection, known in sorted(imported_folders(database).items()):
        try:
            report = import_folder(
                database,
                Path(known.folder),
                language=known.language,
                collection=collection,
                progress=progress,
                stop=stop,
            )
        except AssistantError as error:
            if error.code not in {ErrorCode.KNOWLEDGE_FOLDER_INVALID, ErrorCode.STORAGE_TOO_LARGE}:
                raise
            problem = FileProblem("", None, error.code, error.details)
            report = ImportReport(known.folder, collection, known.language, problems=(problem,))
        reports.append(report)
    return reports


def forget_import(database: Database, collection: str) -> int:
    """Remove every document of an imported folder and the memory of it; returns how many documents that were.

    Errors: KNOWLEDGE_NOT_FOUND when nothing of that name is there; STORAGE_*.
    """
    keys = [key for key in database.keys(KNOWLEDGE.table) if split_key(key).collection == collection]
    if not keys and database.get(IMPORTS, collection) is None:
        raise AssistantError(ErrorCode.KNOWLEDGE_NOT_FOUND, document=shown_path(collection), language="")
    database.commit([*(Remove(KNOWLEDGE.table, key) for key in keys), Remove(IMPORTS, collection)])
    return len(keys)
