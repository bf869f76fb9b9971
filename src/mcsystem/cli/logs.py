"""The log of what went wrong, in the world's folder; the file is made with its first line."""

import logging
import sys
from pathlib import Path
from typing import Final

from mcsystem.cli.shell import Shell

FILE: Final = Path("system", "logs", "mcsystem.log")
LIMIT: Final = 1_000_000  # bytes of one file; one older one is kept
FORM: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class WorldLog(logging.Handler):
    """Writes to the log of the shell's world, to standard error with `--debug`.

    What cannot be written is lost, which must stop nobody. No world is made for it.
    """

    def __init__(self, shell: Shell) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter(FORM))
        self._shell = shell

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        line = self.format(record) + "\n"
        if self._shell.debug:
            sys.stderr.write(line)
            return
        world = self._shell.place.world
        path = world / FILE
        try:
            if not world.is_dir():
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists() and path.stat().st_size > LIMIT:
                path.replace(path.with_suffix(".old.log"))
            with path.open("a", encoding="utf-8", errors="backslashreplace") as stream:
                stream.write(line)
        except OSError:
            return


def keep_log(shell: Shell) -> None:
    """Send warnings and worse to the log."""
    logging.basicConfig(handlers=[WorldLog(shell)], level=logging.WARNING, force=True)
