"""The composition root: world, config and host become a running assistant; the one place naming the modules."""

import asyncio
import contextlib
import importlib.metadata
import importlib.util
import logging
import os
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Final, cast
from uuid import UUID

from mcsystem.cards import Card
from mcsystem.config import Config
from mcsystem.engine.admin import Admin
from mcsystem.engine.assistant import Assistant
from mcsystem.engine.host import Host
from mcsystem.engine.players import Players
from mcsystem.engine.registry import API_VERSION, ModuleContext, Registry
from mcsystem.engine.run import Services
from mcsystem.engine.threads import Workers, favour_loop
from mcsystem.engine.trace import Traces
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.gateways import Ledger, ModelGateway
from mcsystem.knowledge import Knowledge
from mcsystem.modules import admin, preferences, question
from mcsystem.modules import help as help_module
from mcsystem.storage import Databases

LOG: Final = logging.getLogger(__name__)

Setup = Callable[[Registry], None]

BUILT_IN: Final[tuple[Setup, ...]] = (question.setup, help_module.setup, preferences.setup, admin.setup)
ENTRY_POINTS: Final = "mcsystem.modules"
LEDGER_FILE: Final = Path("data", "system", "token_usage.dat")


@dataclass(frozen=True, slots=True)
class Plan:
    """What an assistant is built from.

    Attributes:
        world: the world folder.
        config: the config folder.
        write: True takes the world's lock; False only reads.
        extensions: setup functions handed over by the host or a test.
        discover: also load installed extensions and those in the config folder.
        environ: where keys are looked up.
        clock: monotonic seconds.
    """

    world: Path
    config: Path
    write: bool = True
    extensions: Sequence[Setup] = ()
    discover: bool = True
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    clock: Callable[[], float] = time.monotonic


@dataclass(slots=True)
class _Door:
    """Lets registered modules reach the assistant that is built after them."""

    assistant: Assistant | None = None

    def notify(self, player: UUID, card: Card) -> bool:
        return self.assistant is not None and self.assistant.notify(player, card)


@contextlib.asynccontextmanager
async def open_assistant(plan: Plan, host: Host) -> AsyncGenerator[Assistant]:
    """An assistant for one world, closed with everything it opened at the end.

    Errors: STORAGE_WORLD_LOCKED, STORAGE_READ_ONLY, STORAGE_READ_FAILED.
    """
    databases = await asyncio.to_thread(lambda: Databases.open(plan.world, write=plan.write))
    try:
        config = Config(plan.config)
        await asyncio.to_thread(config.load)
        assistant = await _assemble(plan, host, databases, config)
        await asyncio.to_thread(favour_loop)
        try:
            yield assistant
        finally:
            await assistant.close()
    finally:
        await asyncio.to_thread(databases.close)


async def _assemble(plan: Plan, host: Host, databases: Databases, config: Config) -> Assistant:
    limits = config.settings.agent.limits
    workers = Workers(threads=limits.workers, queue=limits.queue)
    door = _Door()
    registry = Registry(ModuleContext(databases, lambda job: _queue(workers, job), door.notify))
    problems = await asyncio.to_thread(register_all, registry, plan)
    for problem in problems:
        LOG.warning("%s", problem)
    knowledge = Knowledge(databases)
    ledger = Ledger(databases.file(plan.world / LEDGER_FILE, "token_usage"))
    if plan.write:
        await workers.run(lambda: _recover(ledger))
    gateway = ModelGateway(
        lambda: config.settings.agent.model,
        ledger,
        concurrency=limits.concurrent_model_calls,
        daily_calls=lambda: config.settings.agent.limits.daily_model_calls,
        environ=plan.environ,
        run_blocking=workers.run_surely,
    )
    traces = Traces(plan.clock)
    services = Services(
        databases=databases,
        knowledge=knowledge,
        gateway=gateway,
        workers=workers,
        players=Players(databases, knowledge),
        traces=traces,
        admin=Admin(config, databases, knowledge, traces),
        exports=registry.exports,
        owner_present=host.owner_present,
    )
    door.assistant = Assistant(services, config, registry, host)
    return door.assistant


def _queue(workers: Workers, job: Callable[[], None]) -> None:
    workers.submit(job).add_done_callback(lambda done: done.cancelled() or _told(done.exception()))


def _told(error: BaseException | None) -> None:
    if error is not None:
        LOG.error("background work failed", exc_info=error)


def _recover(ledger: Ledger) -> None:
    try:
        ledger.recover()
    except AssistantError as error:  # model calls are refused as long as the ledger cannot be read; all else works
        LOG.warning("usage ledger: %s", error)


def register_all(registry: Registry, plan: Plan) -> list[AssistantError]:
    """Register the built-in modules, then extensions; one that fails is disabled by name and returned as a problem."""
    for setup in BUILT_IN:
        setup(registry)
    failed = [registry.attempt(getattr(setup, "__module__", "extension"), setup) for setup in plan.extensions]
    if plan.discover:
        points = importlib.metadata.entry_points(group=ENTRY_POINTS)
        paths = sorted((plan.config / "extensions").glob("*.py"))
        failed += [registry.attempt(point.name, _loader(point.load)) for point in points]
        failed += [registry.attempt(path.name, _loader(partial(_module, path))) for path in paths]
    return [problem for problem in failed if problem is not None]


def _loader(load: Callable[[], object]) -> Setup:
    """A setup that loads first, so that a failing import is the extension's failure."""

    def setup(registry: Registry) -> None:
        loaded = load()
        wanted = getattr(loaded, "MCSYSTEM_API", API_VERSION)
        if wanted != API_VERSION:
            reason = f"it was written for API version {wanted}; this System has {API_VERSION}"
            raise AssistantError(ErrorCode.EXTENSION_INVALID, id="", reason=reason)
        entry = getattr(loaded, "setup", loaded)
        if not callable(entry):
            raise AssistantError(ErrorCode.EXTENSION_INVALID, id="", reason="it has no function setup(registry)")
        cast("Setup", entry)(registry)

    return setup


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"mcsystem_extension_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise AssistantError(ErrorCode.EXTENSION_INVALID, id=path.name, reason="it is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
