"""From a line of text to a module: explicit commands and phrases. Nothing is ever dispatched on a guess."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcsystem.ids import Origin
from mcsystem.routing.declare import Command, Routing

PREFIX: Final = "system"
SEPARATORS: Final = " \t:：,，"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A module was named and its arguments were understood."""

    module: str
    arguments: object
    origin: Origin
    command: str


@dataclass(frozen=True, slots=True)
class Misused:
    """A command was named, its arguments were not understood; `usage` is a language key or the form itself."""

    usage: str


@dataclass(frozen=True, slots=True)
class Denied:
    """A command was named that needs a higher permission level."""

    level: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """The text has the form of a command that does not exist."""

    command: str


@dataclass(frozen=True, slots=True)
class Plain:
    """No command: ordinary words."""

    text: str


Decision = Chosen | Misused | Denied | Unknown | Plain


class Router:
    """Finds the module that a command names.

    Args:
        routings: module ID -> its routing.
    """

    def __init__(self, routings: Mapping[str, Routing[Any]]) -> None:
        self._commands: dict[str, tuple[str, Command[Any]]] = {}
        self._bare: list[tuple[str, str, Command[Any]]] = []
        for module, routing in routings.items():
            for command in routing.whole_commands:
                self._add(module, command)
        self._bare.sort(key=lambda entry: -len(entry[0]))

    def _add(self, module: str, command: Command[Any]) -> None:
        name = _fold(command.name)
        short = name.removeprefix(f"{PREFIX} ")
        self._commands.setdefault(f"{PREFIX} {short}", (module, command))
        if short == name:
            self._commands.setdefault(name, (module, command))
        if command.bare:
            self._bare.append((short, module, command))

    def decide(self, text: str, *, permission: int) -> Decision:
        """The module for `text` as typed by somebody of this permission level."""
        line = text.strip()
        if line[:1] in {"/", "／"}:
            return self._command(line[1:].lstrip(), permission)
        return self._phrase(line, permission) or Plain(line)

    def _phrase(self, line: str, permission: int) -> Decision | None:
        folded = _fold(line)
        for phrase, module, command in self._bare:
            if folded.startswith(phrase) and _ends(phrase, line):
                return _parse(module, command, line[len(phrase) :], permission)
        return None

    def _command(self, line: str, permission: int) -> Decision:
        words = line.split()
        for count in range(min(3, len(words)), 0, -1):
            found = self._commands.get(_fold(" ".join(words[:count])).rstrip(SEPARATORS))
            if found is not None:
                return _parse(*found, _behind(line, count), permission)
        phrase = self._phrase(line, permission)
        if phrase is not None:
            return phrase
        shown = words[:2] if words and _fold(words[0]) == PREFIX else words[:1]
        return Unknown(" ".join(shown)[:40])

    def listed(self, permission: int) -> Iterable[tuple[str, Command[Any]]]:
        """The commands that somebody of this level may use, as (module ID, command), in the order of registration."""
        seen: set[int] = set()
        for module, command in self._commands.values():
            if command.listed and command.permission <= permission and id(command) not in seen:
                seen.add(id(command))
                yield module, command


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _behind(line: str, count: int) -> str:
    rest = line.split(maxsplit=count)
    return rest[count] if len(rest) > count else ""


def _ends(phrase: str, line: str) -> bool:
    """Whether the phrase ends there: always for Chinese, at a separator or the end for Latin words."""
    rest = line[len(phrase) :]
    return not rest or rest[0] in SEPARATORS or not phrase[-1].isascii()


def _parse(module: str, command: Command[Any], rest: str, permission: int) -> Decision:
    if permission < command.permission:
        return Denied(command.permission)
    arguments = command.parse(rest.strip(SEPARATORS))
    if arguments is None:
        return Misused(command.usage or f"/{command.name}")
    return Chosen(module, arguments, Origin.EXPLICIT, command.name)
