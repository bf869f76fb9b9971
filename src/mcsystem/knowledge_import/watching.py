"""Watches a folder and imports it again when something in it changed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import watchfiles

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.knowledge_import.folder import resolve_folder
from mcsystem.knowledge_import.importing import Stop, Told, collection_of, import_folder
from mcsystem.knowledge_import.report import FileProblem, ImportReport
from mcsystem.storage import Database

DEBOUNCE_MILLIS: Final = 600  # changes that follow one another faster are imported together
TICK_MILLIS: Final = 500  # how long `stop` may go unasked


def watch_folder(
    database: Database,
    folder: Path,
    *,
    language: str,
    collection: str | None = None,
    progress: Told | None = None,
    stop: Stop | None = None,
) -> Iterator[ImportReport]:
    """Import a folder, and again after each change, until `stop`; a report comes for each import that found something.

    A folder that vanishes keeps its documents and is reported; when it comes back it is read again.

    Errors: LANGUAGE_UNKNOWN; KNOWLEDGE_FOLDER_INVALID at the beginning; STORAGE_*, except that a scope that is full is
    reported and the watch goes on.
    """
    root = resolve_folder(folder)
    name = collection or collection_of(root)
    last = import_folder(database, root, language=language, collection=name, progress=progress, stop=stop)
    yield last
    first = True
    for changes in watchfiles.watch(
        root,
        watch_filter=_visible,
        debounce=DEBOUNCE_MILLIS,
        rust_timeout=TICK_MILLIS,
        yield_on_timeout=True,
        raise_interrupt=True,
    ):
        if stop is not None and stop():
            return
        if not changes and not first:
            continue
        # The first look comes after the watcher stands, so that no change between import and watch is missed.
        first = False
        report = _again(database, root, language, name, stop)
        if report.stopped:
            return
        if report.added or report.changed or report.removed or report.problems != last.problems:
            last = report
            yield report


def _again(database: Database, root: Path, language: str, collection: str, stop: Stop | None) -> ImportReport:
    try:
        return import_folder(database, root, language=language, collection=collection, stop=stop)
    except AssistantError as error:
        if error.code not in {ErrorCode.KNOWLEDGE_FOLDER_INVALID, ErrorCode.STORAGE_TOO_LARGE}:
            raise
        return ImportReport(
            str(root), collection, language, problems=(FileProblem("", None, error.code, error.details),)
        )


def _visible(_: watchfiles.Change, path: str) -> bool:
    return not Path(path).name.startswith(".")
