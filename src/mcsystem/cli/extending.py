"""`mcsystem new`: a working extension to start from."""

import re
from pathlib import Path
from string import Template
from typing import Final

import click

from mcsystem.cli.options import places
from mcsystem.cli.shell import Shell
from mcsystem.resources import packaged

NAME: Final = re.compile(r"[a-z][a-z0-9_]{1,31}")


@click.command("new", help="extending.new", short_help="extending.new.short")
@click.argument("name")
@click.option("--folder", type=click.Path(path_type=Path), help="extending.option.folder")
@places
@click.pass_obj
def new_command(shell: Shell, name: str, folder: Path | None) -> int:
    """Write NAME.py, never over an existing file; the exit code is 1 when nothing was written."""
    if not NAME.fullmatch(name):
        shell.tell(shell.tr("extending.name", name=name[:40]))
        return 1
    place = shell.place
    path = (folder or place.config / "extensions") / f"{name}.py"
    text = Template(packaged("templates/extension.txt")).substitute(name=name, title=name.replace("_", " ").title())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError:
        shell.tell(shell.tr("extending.exists", path=path))
        return 1
    except OSError as error:
        shell.tell(shell.tr("extending.unwritable", path=path, reason=error.strerror or ""))
        return 1
    shell.out(shell.tr("extending.done", path=path, name=name))
    return 0
