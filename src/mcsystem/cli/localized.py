"""The command tree in one language: help texts are keys in the code and sentences here."""

import copy
import difflib
from collections.abc import Sequence
from typing import Any, Final

import click

from mcsystem.resources import Texts

HEADINGS: Final = {"Options": "cli.help.options", "Commands": "cli.help.commands"}


class UnknownCommand(click.UsageError):
    """No command of that name; `nearest` is one that may have been meant, or empty."""

    def __init__(self, name: str, nearest: str, ctx: click.Context) -> None:
        super().__init__(name, ctx)
        self.name = name
        self.nearest = nearest


class Group(click.Group):
    """A group that lists its commands in the order they were added and names the nearest one for a slip."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """As added."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names."""
        name = args[0]
        if name not in self.commands and not name.startswith("-") and not ctx.resilient_parsing:
            nearest = difflib.get_close_matches(name, list(self.commands), 1)
            raise UnknownCommand(name, nearest[0] if nearest else "", ctx)
        return super().resolve_command(ctx, args)


def localized(command: click.Command, texts: Texts, language: str) -> click.Command:
    """A copy of the command, and of all below it, that speaks `language`."""
    made = copy.copy(command)
    made.help = texts.tr(language, command.help or "")
    made.short_help = texts.tr(language, command.short_help) if command.short_help else None
    made.params = [_parameter(one, texts, language) for one in command.params]
    made.context_class = _context(texts, language)
    made.add_help_option = False
    made.params.append(_help_option(texts, language))
    if isinstance(made, click.Group) and isinstance(command, click.Group):
        made.commands = {name: localized(one, texts, language) for name, one in command.commands.items()}
    return made


def _parameter(parameter: click.Parameter, texts: Texts, language: str) -> click.Parameter:
    made = copy.copy(parameter)
    if isinstance(made, click.Option) and made.help:
        made.help = texts.tr(language, made.help)
    return made


def _help_option(texts: Texts, language: str) -> click.Option:
    def show(ctx: click.Context, _: click.Parameter, value: Any) -> None:  # noqa: ANN401  # click's signature
        if value and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()

    return click.Option(
        ["--help"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help=texts.tr(language, "cli.option.help"),
    )


def _context(texts: Texts, language: str) -> type[click.Context]:
    class Formatter(click.HelpFormatter):
        def write_heading(self, heading: str) -> None:
            super().write_heading(texts.tr(language, HEADINGS[heading]) if heading in HEADINGS else heading)

        def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
            super().write_usage(prog, args, prefix or f"{texts.tr(language, 'cli.help.usage')} ")

    class Context(click.Context):
        formatter_class = Formatter

    return Context


def usage_sentence(error: click.UsageError, texts: Texts, language: str) -> str:
    """One sentence on what was written wrongly, and where the right form stands."""
    path = error.ctx.command_path if error.ctx is not None else "mcsystem"
    key, slots = _usage(error)
    if isinstance(error, UnknownCommand) and error.nearest:
        key = "cli.usage.command.nearest"
    return texts.tr(language, key, help=f"{path} --help", **slots)


def _usage(error: click.UsageError) -> tuple[str, dict[str, str]]:
    match error:
        case UnknownCommand():
            return "cli.usage.command", {"name": error.name, "nearest": error.nearest}
        case click.NoSuchOption():
            return "cli.usage.option", {"name": error.option_name}
        case click.MissingParameter():
            return "cli.usage.missing", {"name": _name(error)}
        case click.BadParameter():
            return "cli.usage.value", {"name": _name(error), "reason": error.message}
        case _:
            return "cli.usage.other", {"reason": error.format_message()}


def _name(error: click.BadParameter) -> str:
    hint: str | Sequence[str] | None = error.param_hint
    if hint is None and error.param is not None:
        hint = (
            error.param.opts if isinstance(error.param, click.Option) else error.param.make_metavar(error.ctx or _NONE)
        )
    return (hint if isinstance(hint, str) else "/".join(hint or ())).removesuffix("...")


_NONE: Final = click.Context(click.Command("mcsystem"))
