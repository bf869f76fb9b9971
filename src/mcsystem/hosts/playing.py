"""Playing in an embedded world: opens it, greets, and hands lines to the assistant until the player leaves."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Generator
from dataclasses import dataclass

from mcsystem.app import Plan, open_assistant
from mcsystem.engine.assistant import Assistant
from mcsystem.hosts.console import Console, converse
from mcsystem.hosts.control import control
from mcsystem.hosts.demo_world import fill_demo, is_demo
from mcsystem.hosts.greeting import greeting
from mcsystem.hosts.prompt import interact
from mcsystem.knowledge import KNOWLEDGE
from mcsystem.render.rows import Row

LINE_LIMIT = 400_000  # bytes of one line that are looked at; the assistant refuses far shorter ones


@dataclass(frozen=True, slots=True)
class Seat:
    """How somebody plays.

    Attributes:
        console: their screen and who they are.
        terminal: whether a person types; else lines come from a pipe.
        fill: whether the world gets the demo's documents.
        read: the next line of a pipe.
    """

    console: Console
    terminal: bool
    fill: bool
    read: Callable[[], str]


async def play(plan: Plan, seat: Seat) -> None:
    """Play until the player leaves or the pipe ends.

    Errors: STORAGE_*.
    """
    with _stoppable():
        async with open_assistant(plan, seat.console) as assistant:
            seat.console.texts = assistant.texts
            demo, languages = await asyncio.to_thread(_prepare, assistant, fill=seat.fill)
            async with control(plan.world, assistant):
                if seat.terminal:
                    _greet(seat.console, str(plan.world), demo=demo, languages=languages)
                    await interact(seat.console, assistant, plan.world)
                else:
                    await converse(seat.console, assistant, seat.read)


def _prepare(assistant: Assistant, *, fill: bool) -> tuple[bool, tuple[str, ...]]:
    shared = assistant.services.databases.shared()
    if fill or is_demo(shared):
        fill_demo(shared)
    languages = tuple(KNOWLEDGE.languages(shared))
    for language in languages:
        assistant.services.knowledge.prepare_index(shared, KNOWLEDGE, language)
    return is_demo(shared), languages


def _greet(console: Console, world: str, *, demo: bool, languages: tuple[str, ...]) -> None:
    player = console.player
    rows = greeting(console.texts, player.language, player=player.name, world=world, demo=demo, languages=languages)
    console.screen.show([*console.screen.fit(rows), Row(())])


@contextlib.contextmanager
def _stoppable() -> Generator[None]:
    """End in good order when the system asks to: the world is closed and given free."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    names = ("SIGTERM", "SIGHUP")
    signals = [getattr(signal, name) for name in names if hasattr(signal, name)]
    for one in signals:
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(one, lambda: task and task.cancel())
    try:
        yield
    finally:
        for one in signals:
            with contextlib.suppress(NotImplementedError):
                loop.remove_signal_handler(one)


class PipedLines:
    """Lines of a pipe, read without the locks of Python's own streams: a reader that waits must not hold up the end.

    Args:
        handle: the pipe's file descriptor.
    """

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._rest = b""
        self._ended = False

    def read(self) -> str:
        """The next line with its line break, empty at the end; what is too long to be looked at is read over."""
        line = b""
        while not line.endswith(b"\n"):
            if not self._rest and not self._fill():
                break
            piece, found, self._rest = self._rest.partition(b"\n")
            line = (line + piece)[:LINE_LIMIT] + found
        if not line:
            return ""
        return line.removesuffix(b"\n").decode("utf-8", "replace") + "\n"

    def _fill(self) -> bool:
        if not self._ended:
            try:
                self._rest = os.read(self._handle, 65_536)
            except OSError:
                self._rest = b""
            self._ended = not self._rest
        return not self._ended
