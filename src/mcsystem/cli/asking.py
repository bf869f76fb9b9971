"""`mcsystem ask` and `mcsystem say`: one request from a script, its card as text or JSON, its status as exit code."""

import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Final

import click
from rich.console import Console
from rich.text import Text

from mcsystem.cards import Card, Status
from mcsystem.cli.options import json_option, permission_option, places, player_option
from mcsystem.cli.shell import Shell
from mcsystem.engine.notices import error_card
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.hosts.answering import answer
from mcsystem.hosts.screen import Screen
from mcsystem.ids import Request
from mcsystem.render.rows import View, block_numbers, card_rows
from mcsystem.render.script import script

EXIT: Final[Mapping[Status, int]] = {
    Status.ANSWERED: 0,
    Status.MATERIAL: 0,
    Status.NOTHING: 3,
    Status.NOTICE: 3,
    Status.OPTIONS: 4,
    Status.ERROR: 1,
    Status.BUSY: 1,
    Status.CANCELLED: 130,
}
QUESTION: Final = "/question"
full_option = click.option("--full", is_flag=True, help="cli.option.full")


@click.command("ask", help="cli.ask", short_help="cli.ask.short")
@click.argument("text", nargs=-1, required=True)
@player_option
@permission_option
@full_option
@json_option
@places
@click.pass_obj
def ask(shell: Shell, text: tuple[str, ...], player: str | None, permission: int | None, *, full: bool) -> None:
    """One question to the server's own knowledge."""
    finish(shell, f"{QUESTION} {' '.join(text)}", player, permission, reads=True, full=full)


@click.command("say", help="cli.say", short_help="cli.say.short")
@click.argument("text", nargs=-1, required=True)
@player_option
@permission_option
@full_option
@json_option
@places
@click.pass_obj
def say(shell: Shell, text: tuple[str, ...], player: str | None, permission: int | None, *, full: bool) -> None:
    """What a player would type, routed."""
    finish(shell, " ".join(text), player, permission, reads=False, full=full)


def finish(shell: Shell, line: str, player: str | None, permission: int | None, *, reads: bool, full: bool) -> None:
    """Ask, show the card, and end the program with the status's exit code."""
    try:
        card = _card(shell, line, player, permission, reads=reads)
    except AssistantError as error:
        card = error_card(shell.texts, shell.language, error)
    except KeyboardInterrupt:
        card = Card("", status=Status.CANCELLED, code=ErrorCode.ENGINE_CANCELLED.value)
    failed = card.status in {Status.ERROR, Status.BUSY}
    if failed:
        shell.tell(card.text)
    if shell.json:
        shell.data(script(card))
    elif not failed:
        show(shell, card, full=full)
    raise click.exceptions.Exit(EXIT[card.status])


def _card(shell: Shell, line: str, player: str | None, permission: int | None, *, reads: bool) -> Card:
    language = shell.chosen_language
    place = shell.existing()
    who = shell.player(player, place, permission=permission)
    shell.speak(place)
    with _looking(shell):
        card = answer(
            shell.plan(place, write=not reads),
            Request(who, line, language=language if shell.asked else ""),
            reads=reads,
        )
    shell.asked = language
    return card


@contextmanager
def _looking(shell: Shell) -> Generator[None]:
    """A line on standard error while one waits, on a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True, highlight=False).status(Text(shell.tr("cli.looking"))):
        yield


def show(shell: Shell, card: Card, *, full: bool) -> None:
    """The card for people."""
    screen = Screen.of(sys.stdout)
    opened = frozenset(block_numbers(card)) if full else frozenset[int]()
    screen.show(card_rows(card, View(shell.texts, shell.language, screen.width, opened, screen.terminal)))
