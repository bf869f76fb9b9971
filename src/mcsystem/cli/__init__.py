"""The `mcsystem` command: one clear sentence for every mistake, an exit code for every outcome, never a traceback."""

import asyncio
import contextlib
import io
import logging
import os
import sys
from pathlib import Path
from typing import Final

import click

from mcsystem.cli.localized import localized, usage_sentence
from mcsystem.cli.logs import keep_log
from mcsystem.cli.program import program
from mcsystem.cli.shell import Missing, Shell
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.resources import Texts

LOG: Final = logging.getLogger(__name__)
FAILED: Final = 1
MISUSED: Final = 2
CANCELLED: Final = 130
BROKEN_PIPE: Final = 141

__all__ = ["main", "run"]


def main() -> None:
    """Run the command line and end the program."""
    _speak_utf8()
    shell = Shell(dict(os.environ), Path.cwd(), Texts.packaged())
    keep_log(shell)
    try:
        code = run(shell, sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read our output has gone
        code = BROKEN_PIPE
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def run(shell: Shell, arguments: list[str]) -> int:
    """Run one command and say in a sentence what went wrong, if anything; returns the exit code."""
    try:
        command = localized(program, shell.texts, shell.language)
        done = command.main(arguments, prog_name="mcsystem", standalone_mode=False, obj=shell)
    except (KeyboardInterrupt, click.Abort, asyncio.CancelledError):
        return CANCELLED
    except BrokenPipeError:
        raise
    except click.exceptions.NoArgsIsHelpError as error:  # nothing was asked for: say what there is
        click.echo(error.ctx.get_help())
        return 0
    except click.UsageError as error:
        shell.tell(usage_sentence(error, shell.texts, shell.language))
        return MISUSED
    except (AssistantError, Missing) as error:
        shell.tell(str(error) if isinstance(error, Missing) else shell.texts.error(shell.language, error))
    except Exception:  # a bug of ours: the traceback goes to the log
        LOG.exception("the command failed")
        shell.tell(shell.texts.error(shell.language, AssistantError(ErrorCode.INTERNAL)))
    else:
        return done if isinstance(done, int) else 0
    return FAILED


def _speak_utf8() -> None:
    """Text in and out is UTF-8 wherever the terminal does not say otherwise; nothing that cannot be shown stops us."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")
