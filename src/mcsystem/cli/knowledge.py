"""`mcsystem knowledge`: bring documents in, look at them, search them with scores, take them out."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from mcsystem.cli.importing import import_command, player_uuid
from mcsystem.cli.localized import Group
from mcsystem.cli.options import json_option, owner_option, places
from mcsystem.cli.shell import Missing, Shell
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.hosts.control_client import fulfil
from mcsystem.hosts.orders import Count, ForgetFolder, PutDocument, RemoveKnowledge
from mcsystem.knowledge import KNOWLEDGE, Document, Found, Knowledge, read_audience
from mcsystem.knowledge_import import imported_folders, read_document
from mcsystem.render.rows import shown_title
from mcsystem.render.safe import safe_text
from mcsystem.storage import Database, Databases

GUESSED: Final = "audience_name"  # told, and taken all the same
T = TypeVar("T")
PIPE: Final = "-"
TEXT_LIMIT: Final = 524_288  # bytes of one document; an order over the control socket holds twice as much


@click.group("knowledge", cls=Group, help="cli.knowledge", short_help="cli.knowledge.short")
def knowledge() -> None:
    """Everything about documents."""


knowledge.add_command(import_command)


@knowledge.command("list", help="cli.knowledge.list", short_help="cli.knowledge.list.short")
@owner_option
@json_option
@places
@click.pass_obj
def list_command(shell: Shell, player: str | None) -> None:
    """Every document of one language, or of all."""
    found = _reading(shell, player, lambda database, _: _documents(shell, database))
    if shell.json:
        shell.data([_row(document) for document in found])
        return
    for document in found:
        audience = "" if document.audience.text == "all" else f"  [{safe_text(document.audience.text)}]"
        shell.out(f"{document.language}  {safe_text(document.path)}  {safe_text(document.title)}{audience}")
    shell.out(shell.tr("cli.knowledge.list.count", count=len(found)))


def _documents(shell: Shell, database: Database) -> list[Document]:
    languages = (shell.chosen_language,) if shell.asked else KNOWLEDGE.languages(database)
    return [document for language in languages for document in KNOWLEDGE.list(database, language)]


def _row(document: Document) -> dict[str, Any]:
    return {
        "document": document.path,
        "language": document.language,
        "title": document.title,
        "audience": document.audience.text,
        "collection": document.collection,
        "kind": document.kind,
        "url": document.url,
        "characters": len(document.text),
    }


@knowledge.command("show", help="cli.knowledge.show", short_help="cli.knowledge.show.short")
@click.argument("document")
@owner_option
@json_option
@places
@click.pass_obj
def show_command(shell: Shell, document: str, player: str | None) -> None:
    """One document as it is stored."""
    language = shell.chosen_language
    found = _reading(shell, player, lambda database, _: KNOWLEDGE.find(database, language, document))
    if shell.json:
        shell.data([{**_row(one), "text": one.text} for one in found])
        return
    for one in found:
        shell.out(
            f"# {safe_text(one.title)}  ({one.language}, {safe_text(one.audience.text)})\n\n{one.text.rstrip()}\n"
        )


@knowledge.command("put", help="cli.knowledge.put", short_help="cli.knowledge.put.short")
@click.argument("document")
@click.argument("file", default=PIPE, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--title", help="cli.option.title")
@click.option("--audience", help="cli.option.audience")
@owner_option
@json_option
@places
@click.pass_obj
def put_command(
    shell: Shell, document: str, file: Path, title: str | None, audience: str | None, player: str | None
) -> None:
    """Another text for one document, or a new document."""
    text = _text(shell, shell.folder / file.expanduser() if str(file) != PIPE else None)
    if audience is not None and not read_audience(audience).known:
        raise Missing(shell.tr("knowledge.problem.audience", value=safe_text(audience)))
    given = _given(shell, document, text)
    said = given.fields
    order = PutDocument(
        document,
        given.language,
        given.text,
        given.title if title is None and "title" in said else title,
        given.audience if audience is None and "audience" in said else audience,
        player_uuid(shell, player),
    )
    replaced = sum(fulfil(shell.existing().world, order, Count).counts.values()) > 0
    if shell.json:
        shell.data({"document": document, "language": order.language, "replaced": replaced})
    else:
        key = "cli.knowledge.put.replaced" if replaced else "cli.knowledge.put.added"
        shell.out(shell.tr(key, document=document, language_code=order.language))


@dataclass(frozen=True, slots=True)
class _Said:
    """What a text says of itself in its front matter; the options of the command are stronger."""

    text: str
    language: str
    title: str
    audience: str
    fields: frozenset[str]


def _given(shell: Shell, document: str, text: str) -> _Said:
    """The text without its front matter, and what that says; `Missing` with the reason when that is wrong."""
    given = read_document(document, text, language=shell.chosen_language)
    found = given.document
    wrong = [problem for problem in given.problems if problem.reason != GUESSED]
    if found is None or wrong:
        raise Missing(shell.tr(wrong[0].key, **wrong[0].details))
    for problem in given.problems:
        shell.tell(shell.tr(problem.key, **problem.details))
    return _Said(found.text, found.language, found.title, found.audience.text, given.fields)


def _text(shell: Shell, path: Path | None) -> str:
    """The text of a file, of standard input without one; `Missing` with the reason when there is none in UTF-8."""
    shown = str(path or PIPE)
    try:
        if path is None:
            raw = sys.stdin.buffer.read(TEXT_LIMIT + 1)
        else:
            with path.open("rb") as stream:
                raw = stream.read(TEXT_LIMIT + 1)
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Missing(shell.tr("cli.knowledge.put.encoding", file=shown)) from error
    except OSError as error:
        raise Missing(shell.tr("cli.knowledge.put.unreadable", file=shown, reason=error.strerror or "")) from error
    if len(raw) > TEXT_LIMIT:
        raise Missing(shell.tr("cli.knowledge.put.large", file=shown, limit=TEXT_LIMIT // 1024))
    if not text.strip():
        raise Missing(shell.tr("cli.knowledge.put.empty", file=shown))
    return text


@knowledge.command("remove", help="cli.knowledge.remove", short_help="cli.knowledge.remove.short")
@click.argument("document")
@owner_option
@json_option
@places
@click.pass_obj
def remove_command(shell: Shell, document: str, player: str | None) -> None:
    """Every document with this path, in one language."""
    order = RemoveKnowledge(document, shell.chosen_language, player_uuid(shell, player))
    count = sum(fulfil(shell.existing().world, order, Count).counts.values())
    if shell.json:
        shell.data({"document": document, "language": order.language, "removed": count})
    else:
        shell.out(shell.tr("cli.knowledge.remove.done", document=document, language_code=order.language, count=count))


@knowledge.command("folders", help="cli.knowledge.folders", short_help="cli.knowledge.folders.short")
@owner_option
@json_option
@places
@click.pass_obj
def folders_command(shell: Shell, player: str | None) -> None:
    """The folders that were imported."""
    found = _reading(shell, player, lambda database, _: imported_folders(database))
    if shell.json:
        rows = [{"collection": name, "folder": one.folder, "language": one.language} for name, one in found.items()]
        shell.data(rows)
        return
    for name, one in sorted(found.items()):
        shell.out(f"{safe_text(name)}  {one.language}  {safe_text(one.folder)}")
    shell.out(shell.tr("cli.knowledge.folders.count", count=len(found)))


@knowledge.command("forget", help="cli.knowledge.forget", short_help="cli.knowledge.forget.short")
@click.argument("collection")
@owner_option
@json_option
@places
@click.pass_obj
def forget_command(shell: Shell, collection: str, player: str | None) -> None:
    """Every document of an imported folder."""
    order = ForgetFolder(collection, player_uuid(shell, player))
    count = sum(fulfil(shell.existing().world, order, Count).counts.values())
    if shell.json:
        shell.data({"collection": collection, "removed": count})
    else:
        shell.out(shell.tr("cli.knowledge.forget.done", collection=collection, count=count))


@knowledge.command("search", help="cli.knowledge.search", short_help="cli.knowledge.search.short")
@click.argument("words", nargs=-1, required=True)
@owner_option
@click.option("--limit", type=click.IntRange(1, 100), default=10, help="cli.option.limit")
@json_option
@places
@click.pass_obj
def search_command(shell: Shell, words: tuple[str, ...], player: str | None, limit: int) -> None:
    """What a question finds, with scores, hits and misses."""
    language, query = shell.chosen_language, " ".join(words)
    if not query.strip():
        raise AssistantError(ErrorCode.REQUEST_EMPTY)
    found = _reading(
        shell, player, lambda database, search: search.search(database, KNOWLEDGE, language, query, limit=limit)
    )
    if shell.json:
        shell.data([_found(one) for one in found])
        return
    for one in found:
        mark = "✔" if one.hit else "·"
        shell.out(f"{mark} {one.score:.3f}  {safe_text(one.document)}  {shown_title(one.title)}")
    if not found:
        known = _reading(shell, player, lambda database, _: KNOWLEDGE.languages(database))
        shell.out(shell.tr("cli.knowledge.search.none", language_code=language, known=", ".join(known) or "-"))
    else:
        shell.out(shell.tr("cli.knowledge.search.legend"))


def _found(one: Found) -> dict[str, Any]:
    return {
        "document": one.document,
        "title": one.title,
        "score": round(one.score, 4),
        "hit": one.hit,
        "text": one.text,
        "url": one.url,
        "collection": one.collection,
        "kind": one.kind,
    }


def _reading(shell: Shell, player: str | None, job: Callable[[Database, Knowledge], T]) -> T:
    """Look at one scope without taking the world's lock.

    Errors: WORLD_NOT_FOUND, PLAYER_UNKNOWN, STORAGE_*, LANGUAGE_UNKNOWN.
    """
    owner = player_uuid(shell, player)
    databases = Databases.open(shell.existing().world, write=False)
    try:
        database = databases.shared() if owner is None else databases.player(owner)
        return job(database, Knowledge(databases))
    finally:
        databases.close()
