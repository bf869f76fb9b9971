"""`system:help`: what can be asked and typed here."""

from mcsystem.api import Card, Line, Module, NoArgs, Registry, Routing, RunContext, Status, no_args
from mcsystem.api import Command as Said

TITLE = "help.title"


async def show(run: RunContext, args: NoArgs) -> Card:  # noqa: ARG001  # a module's signature
    """Every command this player may use, one line each."""
    rows = [Line(f"{one.usage}  -  {one.summary}") for one in run.commands()]
    return Card(run.tr(TITLE), (Line(run.tr("help.intro"), "muted"), *rows), status=Status.ANSWERED)


def setup(registry: Registry) -> None:
    """Register the module."""
    routing = Routing(
        no_args,
        commands=(
            Said("help", no_args, usage="/help", summary="help.summary"),
            Said("system", no_args, usage="/system", summary="help.summary", listed=False),
            Said("帮助", no_args, usage="帮助", summary="help.summary", bare=True, listed=False),
        ),
        examples={"en": ("help", "what can you do"), "zh": ("帮助", "你能做什么")},
        shortcut="help.shortcut",
    )
    registry.add(Module("system:help", show, (), routing, summary="help.summary"))
