"""What commands ask of a world that they may have to share: one list, done here or by the process that holds it."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, cast
from uuid import UUID

import msgspec

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.knowledge import KNOWLEDGE, Document, read_audience
from mcsystem.knowledge_import import ImportReport, Progress, forget_import, import_folder
from mcsystem.storage import Database, Databases

EXPORT_LIMIT: Final = 512 * 1024 * 1024
WORLD_FORMAT: Final = "mcsystem-world"
WORLD_VERSION: Final = 1


class ImportKnowledge(msgspec.Struct, frozen=True, tag="knowledge.import"):
    """Import a folder into the shared knowledge, or a player's own."""

    folder: str
    language: str
    player: UUID | None = None


class RemoveKnowledge(msgspec.Struct, frozen=True, tag="knowledge.remove"):
    """Remove every document with a path from one language."""

    document: str
    language: str
    player: UUID | None = None


class PutDocument(msgspec.Struct, frozen=True, tag="knowledge.put"):
    """Add a document, or give the one with this path another text; what is None stays as it was.

    Attributes:
        document: its path.
        language: its language.
        text: its whole text.
        title: its title.
        audience: who may see it, as front matter writes it.
        player: whose own document it is, None for the shared knowledge.
    """

    document: str
    language: str
    text: str
    title: str | None = None
    audience: str | None = None
    player: UUID | None = None


class ForgetFolder(msgspec.Struct, frozen=True, tag="knowledge.forget"):
    """Remove every document of an imported folder, and the memory of it."""

    collection: str
    player: UUID | None = None


class ImportDatabase(msgspec.Struct, frozen=True, tag="db.import"):
    """Replace the tables that an exported file names; a player's own where the file is of one database."""

    file: str
    player: UUID | None = None


class Ask(msgspec.Struct, frozen=True, tag="ask"):
    """One request of a player, with the caller's word on who that is; `asked_in` as `Request.language`."""

    text: str
    player: UUID
    name: str
    language: str
    permission: int
    asked_in: str = ""


WorldOrder = ImportKnowledge | PutDocument | RemoveKnowledge | ForgetFolder | ImportDatabase
Order = WorldOrder | Ask


@dataclass(frozen=True, slots=True)
class Count:
    """How many things an order touched, by name: documents removed, values of each table imported."""

    counts: dict[str, int]


Tell = Callable[[Progress], None]
Stop = Callable[[], bool]


def perform(databases: Databases, order: WorldOrder, *, tell: Tell | None, stop: Stop | None) -> ImportReport | Count:
    """Do what the order says; blocks.

    Errors: STORAGE_*, KNOWLEDGE_*, LANGUAGE_UNKNOWN.
    """
    database = databases.shared() if order.player is None else databases.player(order.player)
    match order:
        case ImportKnowledge(folder, language):
            return import_folder(database, Path(folder), language=language, progress=tell, stop=stop)
        case RemoveKnowledge(document, language):
            return Count({document: KNOWLEDGE.remove(database, language, document)})
        case PutDocument():
            return Count({order.document: put_document(database, order)})
        case ForgetFolder(collection):
            return Count({collection: forget_import(database, collection)})
        case ImportDatabase(file):
            return Count(_import(databases, database, Path(file)))


def put_document(database: Database, order: PutDocument) -> int:
    """Store the order's document; 1 when there was one with its path, else 0. A table of questions is not replaced.

    Errors: KNOWLEDGE_FILE_INVALID for an audience that is not understood, a path that cannot be one, or a table of
    questions; LANGUAGE_UNKNOWN, STORAGE_*.
    """
    try:
        found = KNOWLEDGE.find(database, order.language, order.document)
    except AssistantError as error:
        if error.code is not ErrorCode.KNOWLEDGE_NOT_FOUND:
            raise
        found = []
    if len(found) > 1 or any(one.kind == "answer" for one in found):
        raise AssistantError(ErrorCode.KNOWLEDGE_FILE_INVALID, file=order.document[:200], line=0, reason="questions")
    old = found[0] if found else Document(order.document, order.language, order.document, "")
    reading = None if order.audience is None else read_audience(order.audience)
    if reading is not None and not reading.known:
        raise AssistantError(ErrorCode.KNOWLEDGE_FILE_INVALID, file=order.document[:200], line=0, reason="audience")
    audience = old.audience if reading is None else reading.audience
    title = old.title if order.title is None else order.title
    KNOWLEDGE.put(database, replace(old, text=order.text, title=title, audience=audience))
    return len(found)


def perform_here(world: Path, order: WorldOrder, *, tell: Tell | None = None) -> ImportReport | Count:
    """Take the world, do what the order says, and give it free.

    Errors: STORAGE_WORLD_LOCKED and those of `perform`.
    """
    databases = Databases.open(world, write=True)
    try:
        return perform(databases, order, tell=tell, stop=None)
    finally:
        databases.close()


def read_export(path: Path) -> dict[str, object]:
    """The object in an exported file.

    Errors: STORAGE_READ_FAILED; STORAGE_EXPORT_INVALID when it is no JSON object.
    """
    try:
        if not path.is_file():  # whoever holds the world must never wait for a pipe of another process
            reason = "not a file" if path.exists() else "missing"
            raise AssistantError(ErrorCode.STORAGE_READ_FAILED, file=str(path), reason=reason)
        with path.open("rb") as stream:
            raw = stream.read(EXPORT_LIMIT + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "unreadable"
        raise AssistantError(ErrorCode.STORAGE_READ_FAILED, file=str(path), reason=reason) from error
    try:
        data: object = json.loads(raw) if len(raw) <= EXPORT_LIMIT else None
    except (ValueError, RecursionError) as error:
        raise _not_exported(path) from error
    if not isinstance(data, dict):
        raise _not_exported(path)
    return cast("dict[str, object]", data)


def _not_exported(path: Path) -> AssistantError:
    return AssistantError(ErrorCode.STORAGE_EXPORT_INVALID, file=str(path))


def _import(databases: Databases, database: Database, path: Path) -> dict[str, int]:
    document = read_export(path)
    if document.get("format") != WORLD_FORMAT:
        if not isinstance(document.get("format"), str) or not isinstance(document.get("tables"), dict):
            raise _not_exported(path)
        return database.import_(document)
    scopes = document.get("scopes")
    if document.get("version") != WORLD_VERSION or not isinstance(scopes, dict):
        raise _not_exported(path)
    counts: dict[str, int] = {}
    for name, content in cast("dict[str, object]", scopes).items():
        done = scope(databases, name).import_(cast("dict[str, Any]", content) if isinstance(content, dict) else {})
        counts.update({f"{name} {table}": count for table, count in done.items()})
    return counts


def scope(databases: Databases, name: str) -> Database:
    """A database by the name of its scope: `shared`, or a player's UUID.

    Errors: PLAYER_UNKNOWN.
    """
    if name == "shared":
        return databases.shared()
    try:
        return databases.player(UUID(name))
    except ValueError as error:
        raise AssistantError(ErrorCode.PLAYER_UNKNOWN, player=name[:40]) from error


def export_world(databases: Databases) -> dict[str, object]:
    """Every database of a world, for `ImportDatabase`; the usage ledger is not part of it.

    Errors: STORAGE_*.
    """
    scopes: dict[str, object] = {"shared": databases.shared().export()}
    scopes.update({str(uuid): databases.player(uuid).export() for uuid in databases.players()})
    return {"format": WORLD_FORMAT, "version": WORLD_VERSION, "scopes": scopes}
