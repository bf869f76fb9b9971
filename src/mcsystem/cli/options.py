"""Options that several commands share; each leaves its value on the shell."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from mcsystem.cli.shell import Shell

F = TypeVar("F", bound=Callable[..., Any])
LEVELS: Final = click.IntRange(0, 4)
FOLDER: Final = click.Path(path_type=Path)


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:  # noqa: ANN401  # click's signature
    shell = ctx.find_object(Shell)
    if shell is not None and value:
        setattr(shell, param.name or "", value)


def _option(*names: str, key: str, kind: Any = None, flag: bool = False) -> Callable[[F], F]:  # noqa: ANN401  # click's
    return click.option(*names, type=kind, is_flag=flag, default=None, help=key, expose_value=False, callback=_keep)


world_option = _option("--world", "world", key="cli.option.world", kind=FOLDER)
config_option = _option("--config", "config", key="cli.option.config", kind=FOLDER)
language_option = _option("--lang", "asked", key="cli.option.lang", kind=str)
json_option = _option("--json", "json", key="cli.option.json", flag=True)
debug_option = _option("--debug", "debug", key="cli.option.debug", flag=True)
player_option = click.option("--player", metavar="NAME", help="cli.option.player")
permission_option = click.option("--permission", type=LEVELS, metavar="LEVEL", help="cli.option.permission")
owner_option = click.option("--player", metavar="NAME", help="cli.option.owner")


def places(command: F) -> F:
    """The options every command on a world takes: `--world`, `--config`, `--lang`, `--debug`."""
    return world_option(config_option(language_option(debug_option(command))))
