"""Waypoints: a player keeps named places and asks where they are."""

from dataclasses import dataclass

from mcsystem.api import Card, Module, NoArgs, Registry, Routing, RunContext, Table, ToolContext, no_args, tool


@dataclass(frozen=True, slots=True)
class Waypoint:
    """A place, in blocks."""

    x: int
    y: int
    z: int


WAYPOINTS = Table("example:waypoints", Waypoint)  # key: the place's name
TEXTS = {
    "en_us": {"example.waypoints.title": "Your places", "example.waypoints.open": "Show my places"},
    "zh_cn": {"example.waypoints.title": "你的路径点", "example.waypoints.open": "查看我的路径点"},
}


@tool("waypoints.list")
def list_waypoints(ctx: ToolContext, args: NoArgs) -> dict[str, Waypoint]:  # noqa: ARG001  # a tool's signature
    """This player's waypoints by name; empty when there are none."""
    return ctx.player_db.entries(WAYPOINTS)


async def show(run: RunContext, args: NoArgs) -> Card:
    """One line a place."""
    places = await run.call(list_waypoints, args)
    return Card.rows(run.tr("example.waypoints.title"), [f"{name}: {p.x} {p.y} {p.z}" for name, p in places.items()])


def setup(registry: Registry) -> None:
    """Register the module: commands, sentences and button in one place."""
    examples = {"en": ("show my waypoints", "where are my places"), "zh": ("查看我的路径点",)}
    routing = Routing(no_args, commands=("waypoints",), examples=examples, shortcut="example.waypoints.open")
    registry.add(Module("example:waypoints", show, (list_waypoints,), routing, summary="example.waypoints.title"))
    registry.add_texts(TEXTS)
