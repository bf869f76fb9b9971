"""How a module says which words mean it: commands, examples, parser and label, all in one place."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Generic, Literal, TypeVar

A = TypeVar("A")
Parser = Callable[[str], "A | None"]


@dataclass(frozen=True, slots=True)
class NoArgs:
    """The arguments of something that takes none."""


def no_args(text: str) -> NoArgs:  # noqa: ARG001  # the parser's signature; the text carries nothing
    """A parser for modules without arguments: any text fits."""
    return NoArgs()


@dataclass(frozen=True, slots=True)
class Command(Generic[A]):
    """One explicit way to call a module.

    Attributes:
        name: words after the slash. `question` answers to `/question` and `/system question`; a name that begins with
            `system ` only to that.
        parse: arguments from the text behind the name; None means misuse; it may raise REQUEST_EMPTY and the like.
        usage: how to write it, such as `/question TEXT`; a language key, else shown as it is.
        summary: language key of what it does, empty for the module's own.
        permission: least permission level.
        bare: also works without the slash, and for Chinese without a space behind it (`提问 ...`).
        listed: shown in help and completion.
    """

    name: str
    parse: "Parser[A]"
    usage: str = ""
    summary: str = ""
    permission: int = 0
    bare: bool = False
    listed: bool = True


@dataclass(frozen=True, slots=True)
class Routing(Generic[A]):
    """A module's semantic profile and commands.

    Attributes:
        parse: arguments from the present text alone; None when missing or ambiguous, history never fills in.
        commands: names (parsed by `parse`) or whole `Command`s.
        examples: routing language (`en`, `zh`) -> sentences that mean this module.
        shortcut: language key of the button that opens it, empty for none; read-only modules without arguments only.
        choice: language key of its label among candidates, empty for the module's title.
        offer: language key of the option that runs the first command with the player's own words, empty for none.
        direct: a confident local match may run it; False makes the examples hints for the model only.
        exposure: `catalogue` shows it to the routing model, `explicit_only` with that mark, `structured_only` never.
    """

    parse: "Parser[A]"
    commands: "tuple[str | Command[A], ...]" = ()
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    shortcut: str = ""
    choice: str = ""
    offer: str = ""
    direct: bool = True
    exposure: Literal["catalogue", "explicit_only", "structured_only"] = "catalogue"

    @property
    def command(self) -> str:
        """The name of the first command, empty without one."""
        names = [entry.name if isinstance(entry, Command) else entry for entry in self.commands]
        return names[0] if names else ""

    @property
    def whole_commands(self) -> "tuple[Command[A], ...]":
        """Every command as a `Command`."""
        return tuple(
            entry if isinstance(entry, Command) else Command(entry, self.parse, usage=f"/{entry}")
            for entry in self.commands
        )
