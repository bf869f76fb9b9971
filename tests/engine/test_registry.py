"""Modules are declared in one place, registered once, and refused when they could do harm."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest

from mcsystem.api import (
    AssistantError,
    Card,
    ErrorCode,
    Module,
    ModuleContext,
    NoArgs,
    Policy,
    Registry,
    Routing,
    RunContext,
    Tool,
    ToolContext,
    no_args,
    tool,
)
from mcsystem.storage import Databases


@dataclass(frozen=True, slots=True)
class ForPlayer:
    player_name: str


@dataclass(frozen=True, slots=True)
class ByUuid:
    target: UUID


@dataclass(frozen=True, slots=True)
class Words:
    text: str
    count: int = 1


@tool("t.read")
def read(ctx: ToolContext, args: NoArgs) -> str:
    return f"{ctx.player.name}{args}"


@tool("t.write", write=True)
def write(ctx: ToolContext, args: NoArgs) -> str:
    return f"{ctx.player.name}{args}"


@tool("t.words")
def words(ctx: ToolContext, args: Words) -> str:
    return f"{ctx.language}{args.text}"


@tool("t.other")
def other_player(ctx: ToolContext, args: ForPlayer) -> str:
    return f"{ctx.language}{args.player_name}"


@tool("t.uuid")
def by_uuid(ctx: ToolContext, args: ByUuid) -> str:
    return f"{ctx.language}{args.target}"


def ignore_job(job: Callable[[], None]) -> None:
    del job


def ignore_card(player: UUID, card: Card) -> bool:
    return not (player or card)


async def run(context: RunContext, args: NoArgs) -> Card:
    return Card(f"{context.language}{args}")


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(ModuleContext(Databases.open(tmp_path, write=False), ignore_job, ignore_card))


def module(name: str = "t:m", *tools: Tool[object, object], direct: bool = True, command: str = "m") -> Module[NoArgs]:
    return Module(name, run, tools, Routing(no_args, commands=(command,), direct=direct))


def refused(registry: Registry, one: Module[NoArgs]) -> str:
    with pytest.raises(AssistantError) as caught:
        registry.add(one)
    assert caught.value.code is ErrorCode.EXTENSION_INVALID
    return str(caught.value.details["reason"])


def test_a_direct_module_may_not_write(registry: Registry) -> None:
    """RT-04, house: a module that writes is never direct."""
    assert "direct" in refused(registry, module("t:m", write))  # pyright: ignore[reportArgumentType]
    registry.add(module("t:m", write, direct=False))  # pyright: ignore[reportArgumentType]
    policy = Policy(write_steps=1)
    one = Module("t:n", run, (read,), Routing(no_args, commands=("n",)), policy=policy)
    assert "direct" in refused(registry, one)


@pytest.mark.parametrize("bad", [other_player, by_uuid])
def test_no_tool_can_name_another_player(registry: Registry, bad: Tool[object, object]) -> None:
    """DB-06: no tool has an argument that names a player."""
    assert "could name a player" in refused(registry, module("t:m", bad))


def test_arguments_that_a_model_adds_are_refused() -> None:
    """DB-06: a player that a model adds to the arguments is refused, as is every wrong type."""
    assert words.decode({"text": "x", "count": 2}) == Words("x", 2)
    for values in (
        {"text": "x", "uuid": "0"},
        {"text": "x", "player": "Ben"},
        {"text": 1},
        {},
        {"text": "x", "count": "2"},
    ):
        with pytest.raises(AssistantError) as caught:
            words.decode(values)
        assert caught.value.code is ErrorCode.TOOL_ARGUMENTS_INVALID


def test_names_are_unique_and_registration_ends(registry: Registry) -> None:
    """MOD-01: each name once; after the start nothing can be added."""
    registry.add(module("t:m", read))  # pyright: ignore[reportArgumentType]
    assert "already" in refused(registry, module("t:m", command="x"))
    assert "taken" in refused(registry, module("t:n", read, command="x"))  # pyright: ignore[reportArgumentType]
    assert "taken" in refused(registry, module("t:n"))
    assert "namespace" in refused(registry, module("Bad Name", command="x"))
    registry.close()
    assert "ended" in refused(registry, module("t:z", command="z"))


def test_a_failing_extension_takes_back_what_it_registered(registry: Registry) -> None:
    """MOD-08: an extension that fails half-way leaves nothing behind and is named."""

    def setup(target: Registry) -> None:
        target.add(module("t:half", read))  # pyright: ignore[reportArgumentType]
        target.add_texts({"en_us": {"t": "t"}})
        raise ValueError("no luck")  # an extension's own error

    problem = registry.attempt("half", setup)
    assert problem is not None
    assert (problem.details["id"], "no luck" in str(problem.details["reason"])) == ("half", True)
    assert not registry.modules
    assert not list(registry.texts)
    registry.add(module("t:half", read))  # pyright: ignore[reportArgumentType]
