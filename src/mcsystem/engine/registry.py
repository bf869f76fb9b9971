"""Modules: declared in one place, registered once, closed when the engine starts."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

from mcsystem.cards import Card
from mcsystem.engine.players import Event, Hook
from mcsystem.engine.run import RunContext
from mcsystem.engine.tool import Tool, check_arguments
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.ids import NAMESPACED
from mcsystem.routing import Routing
from mcsystem.settings import Policy
from mcsystem.storage import Databases

LOG: Final = logging.getLogger(__name__)
API_VERSION: Final = 1

A = TypeVar("A")
Run = Callable[[RunContext, A], Awaitable[Card]]


@dataclass(frozen=True, slots=True)
class Module(Generic[A]):
    """One capability.

    Attributes:
        id: namespaced, such as `example:waypoints`.
        run: makes the card from the arguments; calls tools through its context.
        tools: what it may call, its own.
        routing: commands, examples, parser.
        uses: names of tools that other modules export and this one may call.
        exports: names of its tools that others may use.
        policy: its budget, unless `policies` in system-agent.json says otherwise.
        summary: language key of one line for help.
    """

    id: str
    run: "Run[A]"
    tools: tuple[Tool[Any, Any], ...]
    routing: Routing[A]
    uses: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    policy: Policy = field(default_factory=Policy)
    summary: str = ""


@dataclass(frozen=True, slots=True)
class ModuleContext:
    """What a module may keep from its registration, for background work.

    Attributes:
        databases: the world's databases; their use is for workers only.
        maintenance: queues a job on a worker; ENGINE_BUSY when the queue is full.
        notify: shows a card to a player who is there; False when they are not.
    """

    databases: Databases
    maintenance: Callable[[Callable[[], None]], None]
    notify: Callable[[UUID, Card], bool]


class Registry:
    """Collects modules while the engine is being set up."""

    def __init__(self, context: ModuleContext) -> None:
        self.context: Final = context
        self._modules: dict[str, Module[Any]] = {}
        self._tools: dict[str, Tool[Any, Any]] = {}
        self._exports: dict[str, Tool[Any, Any]] = {}
        self._texts: list[Mapping[str, Mapping[str, str]]] = []
        self._hooks: list[tuple[Event, Hook]] = []
        self._closed = False

    def add(self, module: Module[Any]) -> None:
        """Register a module.

        Errors: EXTENSION_INVALID, saying what is wrong: the ID, a name taken, a direct module that could write.
        """
        self._check(module)
        for one in module.tools:
            self._tools[one.name] = one
            if one.name in module.exports:
                self._exports[one.name] = one
        self._modules[module.id] = module

    def add_texts(self, texts: Mapping[str, Mapping[str, str]]) -> None:
        """Add texts: language -> key -> template. Keys should begin with the extension's namespace."""
        self._open()
        self._texts.append(texts)

    def on(self, event: Event, hook: Hook) -> None:
        """Run `hook` with a player's UUID after `event`: revoked, reset, forgotten, preferences, disconnected."""
        self._open()
        self._hooks.append((event, hook))

    def attempt(self, name: str, setup: "Callable[[Registry], None]") -> AssistantError | None:
        """Run an extension's `setup`; when it fails all it registered is taken back and the reason is returned."""
        kept = (dict(self._modules), dict(self._tools), dict(self._exports), list(self._texts), list(self._hooks))
        try:
            setup(self)
        except AssistantError as error:
            reason = str(error.details.get("reason", error.code.value))
        except Exception as error:  # an extension's failure is not ours: it is disabled by name, the server goes on
            LOG.exception("extension %s failed", name)
            reason = f"{type(error).__name__}: {error}"[:200]
        else:
            return None
        self._modules, self._tools, self._exports, self._texts, self._hooks = kept
        return _invalid(name, reason)

    def close(self) -> None:
        """End all registration; the engine calls this when it starts."""
        self._closed = True

    @property
    def modules(self) -> Mapping[str, Module[Any]]:
        """Every module by ID, in the order of registration."""
        return self._modules

    @property
    def exports(self) -> Mapping[str, Tool[Any, Any]]:
        """Every exported tool by name."""
        return self._exports

    @property
    def texts(self) -> Iterable[Mapping[str, Mapping[str, str]]]:
        """Texts that modules added, in order."""
        return self._texts

    @property
    def hooks(self) -> Iterable[tuple[Event, Hook]]:
        """Hooks that modules added, in order."""
        return self._hooks

    def _open(self) -> None:
        if self._closed:
            raise AssistantError(
                ErrorCode.EXTENSION_INVALID, id="", reason="registration ended when the engine started"
            )

    def _check(self, module: Module[Any]) -> None:
        self._open()
        if not NAMESPACED.fullmatch(module.id):
            raise _invalid(module.id, "the module ID should be namespace:name in lower case")
        if module.id in self._modules:
            raise _invalid(module.id, "a module with this ID is registered already")
        for one in module.tools:
            if one.name in self._tools:
                raise _invalid(module.id, f"the tool name {one.name} is taken")
            check_arguments(one)
        for name in module.exports:
            if name not in {one.name for one in module.tools}:
                raise _invalid(module.id, f"it exports {name}, which is not one of its tools")
        risky = [one.name for one in module.tools if one.write or one.external]
        if module.routing.direct and (risky or module.policy.write_steps):
            raise _invalid(
                module.id, f"a direct module may not write or go outside ({', '.join(risky)}); use direct=False"
            )
        taken = {command.name for other in self._modules.values() for command in other.routing.whole_commands}
        for command in module.routing.whole_commands:
            if command.name in taken:
                raise _invalid(module.id, f"the command {command.name} is taken")


def _invalid(module: str, reason: str) -> AssistantError:
    return AssistantError(ErrorCode.EXTENSION_INVALID, id=module[:80], reason=reason)
