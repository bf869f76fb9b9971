"""`mcsystem backup` and `mcsystem restore`: a world's data in one file, and back."""

from pathlib import Path

import click

from mcsystem.app import LEDGER_FILE
from mcsystem.backup import Belongings, Manifest, backup, restore
from mcsystem.cli.options import json_option, places
from mcsystem.cli.shell import Missing, Shell
from mcsystem.hosts.places import Place


def _belongings(place: Place) -> Belongings:
    return Belongings(place.world, place.config, place.world / LEDGER_FILE)


@click.command("backup", help="cli.backup", short_help="cli.backup.short")
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@places
@click.pass_obj
def backup_command(shell: Shell, file: Path) -> None:
    """Everything of one world into one file."""
    target = shell.folder / file.expanduser()
    _told(shell, "cli.backup.done", backup(_belongings(shell.existing()), target), target)


@click.command("restore", help="cli.restore", short_help="cli.restore.short")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="cli.option.force")
@json_option
@places
@click.pass_obj
def restore_command(shell: Shell, file: Path, *, force: bool) -> None:
    """A backup in place of what a world has."""
    place = shell.writable()
    if not force and _belongings(place).has_data:
        raise Missing(shell.tr("cli.restore.data", world=place.world))
    source = shell.folder / file.expanduser()
    _told(shell, "cli.restore.done", restore(_belongings(place), source), place.world)


def _told(shell: Shell, key: str, manifest: Manifest, where: Path) -> None:
    size = sum(entry.size for entry in manifest.files)
    if shell.json:
        shell.data({"path": str(where), "files": [entry.name for entry in manifest.files], "size": size})
    else:
        shell.out(shell.tr(key, count=len(manifest.files), size=size, path=where))
