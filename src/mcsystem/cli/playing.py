"""`mcsystem play`: the embedded-world console."""

import asyncio
import sys
from dataclasses import replace
from typing import Final

import click

from mcsystem.cli.options import permission_option, places, player_option
from mcsystem.cli.shell import Shell
from mcsystem.hosts.console import Console
from mcsystem.hosts.control_client import wait_until_free
from mcsystem.hosts.playing import PipedLines, Seat, play
from mcsystem.hosts.screen import Screen

OWNER: Final = 4


@click.command("play", help="cli.play", short_help="cli.play.short")
@player_option
@permission_option
@click.option("--demo", is_flag=True, help="cli.option.demo")
@places
@click.pass_obj
def play_command(shell: Shell, player: str | None, permission: int | None, *, demo: bool) -> None:
    """Talk to the assistant of one world, here in this terminal."""
    place = shell.writable()
    who = shell.player(player, place, permission=permission)
    shell.speak(place)
    if permission is None and player is None:
        who = replace(who, permission=OWNER)
    new = not place.world.exists()
    if new and not place.demo:
        shell.tell(shell.tr("cli.play.new", path=str(place.world)))
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    shown = Screen.of(sys.stdout)
    screen = Screen(
        None, colour=shown.colour, terminal=shown.terminal
    )  # standard output is another one while a prompt is up
    console = Console(screen, who, shell.texts, follow=not shell.asked)
    wait_until_free(place.world)
    seat = Seat(console, terminal=terminal, fill=demo or place.demo or new, read=PipedLines(0).read)
    asyncio.run(play(shell.plan(place, write=True), seat))
