"""Tools: typed functions that a module's workflow, and later a model, may call."""

import inspect
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar, cast, get_type_hints, overload
from uuid import UUID

import msgspec

from mcsystem.engine.context import ToolContext
from mcsystem.errors import AssistantError, ErrorCode

A = TypeVar("A")
R = TypeVar("R")

# A tool works for the player of its context; an argument that could name another one is a hole.
FORBIDDEN: Final = frozenset({"player", "players", "uuid", "playeruuid", "playername", "playerid", "user", "username"})


@dataclass(frozen=True, slots=True)
class Tool(Generic[A, R]):
    """A typed function of the server.

    Attributes:
        name: `area.verb`, unique.
        arguments: a frozen dataclass or struct.
        body: plain `def` runs on a worker; `async def` on the loop, for waiting on hosts and networks only.
        write: changes something; refused for requests that a local match or the cache chose.
        external: reaches an external service; needs the run to be opened for that.
    """

    name: str
    arguments: type[A]
    body: Callable[[ToolContext, A], Any]
    write: bool = False
    external: bool = False

    @property
    def waits(self) -> bool:
        """Whether the body is a coroutine function."""
        return inspect.iscoroutinefunction(self.body)

    def decode(self, values: Mapping[str, object]) -> A:
        """Arguments as a model or a host sent them, checked strictly; unknown names (a player, say) are refused.

        Errors: TOOL_ARGUMENTS_INVALID with the field.
        """
        known = argument_names(self.arguments)
        for name in values:
            if name not in known:
                raise AssistantError(ErrorCode.TOOL_ARGUMENTS_INVALID, tool=self.name, field=name[:40])
        try:
            return msgspec.convert(dict(values), self.arguments, strict=True)
        except msgspec.ValidationError as error:
            where = str(error).rpartition(" at ")[2].strip("`")
            raise AssistantError(ErrorCode.TOOL_ARGUMENTS_INVALID, tool=self.name, field=where[:40]) from error


def argument_names(kind: type[Any]) -> tuple[str, ...]:
    """The names of a tool's arguments."""
    return tuple(field.name for field in msgspec.inspect.type_info(kind).fields)  # type: ignore[attr-defined]  # dataclass or struct


def check_arguments(tool: Tool[Any, Any]) -> None:
    """Refuse a tool whose arguments could name a player.

    Errors: EXTENSION_INVALID with the tool and the argument.
    """
    for name, kind in get_type_hints(tool.arguments).items():
        if kind is UUID or name.replace("_", "").lower() in FORBIDDEN:
            reason = f"argument {name} of {tool.name} could name a player; a tool works for the one in its context"
            raise AssistantError(ErrorCode.EXTENSION_INVALID, id=tool.name, reason=reason)


class _Decorator:
    """What `tool(...)` returns: keeps the types of the function it decorates."""

    def __init__(self, name: str, *, write: bool, external: bool) -> None:
        self._name, self._write, self._external = name, write, external

    @overload
    def __call__(self, body: Callable[[ToolContext, A], Coroutine[Any, Any, R]]) -> Tool[A, R]: ...

    @overload
    def __call__(self, body: Callable[[ToolContext, A], R]) -> Tool[A, R]: ...

    def __call__(self, body: Callable[[ToolContext, A], Any]) -> Tool[A, Any]:
        second = list(inspect.signature(body).parameters)[1]
        kind = cast("type[A]", get_type_hints(body)[second])
        return Tool(self._name, kind, body, write=self._write, external=self._external)


def tool(name: str, *, write: bool = False, external: bool = False) -> _Decorator:
    """Make a function `(ctx, arguments)` a tool.

    Args:
        name: `area.verb`, unique among all modules.
        write: it changes something.
        external: it reaches an external service.
    """
    return _Decorator(name, write=write, external=external)
