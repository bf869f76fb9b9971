"""The command tree: every command, with language keys where help texts stand."""

from importlib.metadata import version as installed_version

import click

from mcsystem.cli.asking import ask, say
from mcsystem.cli.backups import backup_command, restore_command
from mcsystem.cli.database import db
from mcsystem.cli.extending import new_command
from mcsystem.cli.health import config, doctor_command
from mcsystem.cli.knowledge import knowledge
from mcsystem.cli.localized import Group
from mcsystem.cli.options import debug_option
from mcsystem.cli.playing import play_command


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001  # click's signature
    if value and not ctx.resilient_parsing:
        click.echo(f"mcsystem {installed_version('mcsystem')}")
        ctx.exit()


@click.group("mcsystem", cls=Group, help="cli.mcsystem")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="cli.option.version"
)
@debug_option
def program() -> None:
    """System on the command line."""


COMMANDS = (play_command, ask, say, knowledge, db, backup_command, restore_command, config, doctor_command, new_command)
for one in COMMANDS:
    program.add_command(one)
