"""`mcsystem db`: look into the databases of a world, check every file, and take everything out or in as JSON."""

from pathlib import Path
from typing import Any, Final

import click

from mcsystem.app import LEDGER_FILE
from mcsystem.cli.importing import player_uuid
from mcsystem.cli.localized import Group
from mcsystem.cli.options import json_option, owner_option, places
from mcsystem.cli.shell import Missing, Shell
from mcsystem.doctor import LEDGER_NAME
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.hosts.control_client import fulfil
from mcsystem.hosts.orders import Count, ImportDatabase, export_world
from mcsystem.render.safe import safe_json, safe_text
from mcsystem.storage import Database, Databases, Finding

PIPE: Final = "-"


@click.group("db", cls=Group, help="cli.db", short_help="cli.db.short")
def db() -> None:
    """Everything about the world's databases."""


@db.command("list", help="cli.db.list", short_help="cli.db.list.short")
@owner_option
@json_option
@places
@click.pass_obj
def list_command(shell: Shell, player: str | None) -> None:
    """Tables and numbers of values, of one scope or of all."""
    owner = player_uuid(shell, player)
    databases = Databases.open(shell.existing().world, write=False)
    try:
        scopes = _scopes(databases) if owner is None else [databases.player(owner)]
        rows = [(one.name, table, count) for one in scopes for table, count in sorted(one.tables().items())]
    finally:
        databases.close()
    if shell.json:
        shell.data([{"scope": scope, "table": table, "values": count} for scope, table, count in rows])
        return
    for scope, table, count in rows:
        shell.out(f"{scope}  {table}  {count}")
    shell.out(shell.tr("cli.db.list.count", count=len(rows)))


def _scopes(databases: Databases) -> list[Database]:
    ledger = databases.file(databases.world / LEDGER_FILE, LEDGER_NAME)
    return [databases.shared(), *(databases.player(uuid) for uuid in databases.players()), ledger]


@db.command("show", help="cli.db.show", short_help="cli.db.show.short")
@click.argument("table")
@click.argument("key", required=False)
@owner_option
@json_option
@places
@click.pass_obj
def show_command(shell: Shell, table: str, key: str | None, player: str | None) -> None:
    """The keys of a table, or one value as JSON with the kind of each part."""
    owner = player_uuid(shell, player)
    databases = Databases.open(shell.existing().world, write=False)
    try:
        database = databases.shared() if owner is None else databases.player(owner)
        tables: Any = database.export()["tables"]  # Any: JSON
        if owner is None and table not in tables:
            ledger = databases.file(databases.world / LEDGER_FILE, LEDGER_NAME)
            tables |= ledger.export()["tables"]
    finally:
        databases.close()
    if table not in tables:
        raise _missing(shell, "cli.db.show.table", table=table, scope=database.name, known=", ".join(tables) or "-")
    if key is not None and key not in tables[table]:
        raise _missing(shell, "cli.db.show.key", table=table, name=key, scope=database.name)
    if key is not None:
        shell.data(tables[table][key])
    elif shell.json:
        shell.data(sorted(tables[table]))
    else:
        for one in sorted(tables[table]):
            shell.out(safe_text(one))


def _missing(shell: Shell, key: str, **slots: object) -> Missing:
    return Missing(shell.tr(key, **slots))


@db.command("verify", help="cli.db.verify", short_help="cli.db.verify.short")
@json_option
@places
@click.pass_obj
def verify_command(shell: Shell) -> None:
    """Read every file; exit code 1 when one does not decode."""
    databases = Databases.open(shell.existing().world, write=False)
    try:
        findings = [*databases.verify(), *_ledger(databases)]
    finally:
        databases.close()
    if shell.json:
        shell.data([_finding(one) for one in findings])
    else:
        for one in findings:
            key = "cli.db.verify.ok" if one.ok else "cli.db.verify.bad"
            slots = _finding(one) | {"offset": "-" if one.offset is None else one.offset}
            shell.out(shell.tr(key, **slots))
        shell.out(shell.tr("cli.db.verify.count", count=len(findings), bad=sum(not one.ok for one in findings)))
    raise click.exceptions.Exit(0 if all(one.ok for one in findings) else 1)


def _ledger(databases: Databases) -> list[Finding]:
    """The usage ledger lies in a file of its own."""
    path = databases.world / LEDGER_FILE
    if not path.exists():
        return []
    database = databases.file(path, LEDGER_NAME)
    try:
        tables = database.tables()
    except AssistantError as error:
        offset = error.details.get("offset")
        reason = str(error.details.get("reason", error.code.value))
        return [
            Finding(
                LEDGER_NAME,
                path,
                ok=False,
                code=error.code.value,
                reason=reason,
                offset=offset if isinstance(offset, int) else None,
            )
        ]
    return [Finding(LEDGER_NAME, path, ok=True, tables=len(tables), values=sum(tables.values()), size=database.size)]


def _finding(one: Finding) -> dict[str, Any]:
    return {
        "scope": one.scope,
        "file": str(one.path),
        "ok": one.ok,
        "code": one.code or None,
        "reason": one.reason or None,
        "offset": one.offset,
        "tables": one.tables,
        "values": one.values,
        "size": one.size,
    }


@db.command("export", help="cli.db.export", short_help="cli.db.export.short")
@click.argument("file", default=PIPE, type=click.Path(path_type=Path, allow_dash=True))
@owner_option
@places
@click.pass_obj
def export_command(shell: Shell, file: Path, player: str | None) -> None:
    """All databases of the world, or one player's, as one JSON document."""
    owner = player_uuid(shell, player)
    databases = Databases.open(shell.existing().world, write=False)
    try:
        document = export_world(databases) if owner is None else databases.player(owner).export()
    finally:
        databases.close()
    text = safe_json(document) + "\n"
    if str(file) == PIPE:
        click.echo(text, nl=False)
        return
    target = shell.folder / file
    try:
        target.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise AssistantError(ErrorCode.STORAGE_WRITE_FAILED, file=str(target), reason=reason) from error
    shell.tell(shell.tr("cli.db.export.done", file=target))


@db.command("import", help="cli.db.import", short_help="cli.db.import.short")
@click.argument("file", type=click.Path(path_type=Path))
@owner_option
@json_option
@places
@click.pass_obj
def import_command(shell: Shell, file: Path, player: str | None) -> None:
    """Replace the tables that an exported document names; others stay."""
    place = shell.writable()
    order = ImportDatabase(str((shell.folder / file.expanduser()).absolute()), player_uuid(shell, player))

    counts = fulfil(place.world, order, Count).counts
    if shell.json:
        shell.data(counts)
        return
    for name, count in counts.items():
        shell.out(f"{safe_text(name)}  {count}")
    shell.out(shell.tr("cli.db.import.done", count=len(counts)))
