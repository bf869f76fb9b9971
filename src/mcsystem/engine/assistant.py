"""Start reading here: a request comes in by `submit` or `ask`, is routed, run within its budget, and becomes a card."""

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from mcsystem.cards import Button, Card, Line, Status
from mcsystem.config import Config
from mcsystem.engine.actions import Actions
from mcsystem.engine.budget import Budget
from mcsystem.engine.host import Host
from mcsystem.engine.intake import clean
from mcsystem.engine.notices import error_card, options_card, pages
from mcsystem.engine.players import PlayerState
from mcsystem.engine.registry import Module, Registry
from mcsystem.engine.run import CommandHelp, RunContext, Services
from mcsystem.engine.trace import Trace
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.ids import Origin, Player, Request
from mcsystem.resources import Texts
from mcsystem.routing import Chosen, Command, Denied, Misused, Plain, Router, Unknown
from mcsystem.settings import Policy

LOG: Final = logging.getLogger(__name__)
LOOKING_AFTER: Final = 0.15  # seconds; an answer that is quicker needs no "looking..." line
REFUSALS: Final = 4  # times the queue: how many may be told at once that System is busy
MARGIN: Final = 5.0  # seconds
CANCEL: Final = frozenset({"/cancel", "/system cancel", "/取消", "取消"})
MORE: Final = frozenset({"/more", "/system more", "/更多"})


class Assistant:
    """One world's assistant. Built by `app.open_assistant`; lives on one event loop.

    Args:
        services: the world's parts.
        config: the config folder, reloaded live.
        registry: all modules; registration ends here.
        host: where cards are shown.
    """

    def __init__(self, services: Services, config: Config, registry: Registry, host: Host) -> None:
        registry.close()
        self.services: Final = services
        self.config: Final = config
        self.host: Final = host
        self._modules: Final[Mapping[str, Module[Any]]] = registry.modules
        self._added_texts: Final = tuple(registry.texts)
        self._policies: Final = config.settings.agent.policies  # in force until a restart
        self._router: Final = Router({name: module.routing for name, module in registry.modules.items()})
        limits = config.settings.agent.limits
        self._actions: Final = Actions(services.traces.clock, per_minute=limits.typed_numbers_per_minute)
        self._in_flight_limit: Final = limits.queue
        self._in_flight = 0
        self._waiting = threading.BoundedSemaphore(limits.queue)
        self._refused = threading.BoundedSemaphore(limits.queue * REFUSALS)
        self._dropped = 0
        self._tasks: Final[set[asyncio.Task[None]]] = set()
        self._loop = asyncio.get_running_loop()
        self._closed = False
        for event, hook in registry.hooks:
            services.players.on(event, hook)
        for event in ("revoked", "reset", "disconnected"):
            services.players.on(event, self._actions.forget)

    # ---- the doors -------------------------------------------------------------------------------------------

    def submit(self, request: Request) -> None:
        """Take a request from any thread; its cards come through `host.deliver`. Never blocks.

        What does not fit into the bounded queue is told ENGINE_BUSY; that is bounded as well, the rest is dropped and
        counted in the log.
        """
        if self._closed:
            return
        if self._waiting.acquire(blocking=False):
            self._call(self._accept, request, self._waiting)
        elif self._refused.acquire(blocking=False):
            self._call(self._refuse, request, self._refused)
        else:
            self._dropped += 1

    def _call(self, step: Callable[[Request], None], request: Request, room: threading.BoundedSemaphore) -> None:
        try:
            self._loop.call_soon_threadsafe(step, request)
        except RuntimeError:  # the loop ended between the check and the call
            room.release()

    def _refuse(self, request: Request) -> None:
        self._refused.release()
        state = self.services.players.state(request.player)
        self._spawn_delivery(state, self._error(state, AssistantError(ErrorCode.ENGINE_BUSY)))
        if self._dropped:
            LOG.warning("%d requests dropped: %s", self._dropped, ErrorCode.ENGINE_BUSY.value)
            self._dropped = 0

    async def ask(self, request: Request) -> Card:
        """One request and its final card, whole (scripts); cancelling the awaiting task stops the request."""
        state = self.services.players.state(request.player)
        return self._actions.offer(request.player.uuid, await self._answer(request, state))

    def cancel(self, player: UUID) -> bool:
        """Stop this player's running request; False when none runs. Call on the loop."""
        state = self.services.players.find(player)
        if state is None or state.task is None or state.task.done():
            return False
        return state.task.cancel()

    def notify(self, player: UUID, card: Card) -> bool:
        """Show a card to a player who is there, from any thread; False when they are not."""
        state = self.services.players.find(player)
        if state is None or self._closed:
            return False
        self._loop.call_soon_threadsafe(self._spawn_delivery, state, card)
        return True

    def commands(self, player: Player) -> list[CommandHelp]:
        """The commands this player may use, in order, with texts in their language."""
        texts, language = self.texts, self._language(player)
        return [
            _help(texts, language, self._modules[name], one) for name, one in self._router.listed(player.permission)
        ]

    def patience(self, player: Player) -> float:
        """Seconds a host should wait for this player's answer: the longest workflow they may start, and a margin."""
        usable = {module for module, _ in self._router.listed(player.permission)}
        return max(self._policy(self._modules[name]).ttl_millis for name in usable) / 1000 + MARGIN

    def _policy(self, module: Module[Any]) -> Policy:
        return self._policies.get(module.id, module.policy)

    @property
    def texts(self) -> Texts:
        """All texts now in force: packaged, modules', the server's own."""
        base = self.config.texts
        packaged, *own = base.layers
        return Texts((packaged, *self._added_texts, *own))

    async def close(self) -> None:
        """Refuse new requests, stop the running ones, and wait for what is on the workers."""
        self._closed = True
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.services.gateway.close()
        await asyncio.to_thread(self.services.workers.close)

    # ---- one request -----------------------------------------------------------------------------------------

    def _accept(self, request: Request) -> None:
        self._waiting.release()
        state = self.services.players.state(request.player)
        text = " ".join(request.text.split()).casefold()
        running = state.task is not None and not state.task.done()
        if text in CANCEL:
            self.cancel(request.player.uuid)
            if not running:
                self._spawn_delivery(state, self._note(state, "engine.nothing_runs"))
        elif running:
            self._spawn_delivery(state, self._error(state, AssistantError(ErrorCode.ENGINE_PLAYER_BUSY)))
        elif self._in_flight >= self._in_flight_limit:
            self._spawn_delivery(state, self._error(state, AssistantError(ErrorCode.ENGINE_BUSY)))
        elif text in MORE or self._actions.peek(request.player.uuid, text) in MORE:
            card = state.pages.pop(0) if state.pages else self._note(state, "engine.no_more")
            self._spawn_delivery(state, card)
        else:
            self._in_flight += 1
            state.task = self._spawn(self._serve(request, state))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _spawn_delivery(self, state: PlayerState, card: Card) -> None:
        self._spawn(self._deliver(state, card))

    async def _deliver(self, state: PlayerState, card: Card) -> None:
        await self.host.deliver(state.player, self._actions.offer(state.player.uuid, card))

    async def _serve(self, request: Request, state: PlayerState) -> None:
        looking = self._spawn(self._looking(state))
        try:
            await self.services.workers.turns.take()
            card = await self._answer(request, state)
        except asyncio.CancelledError:
            if self._closed:
                raise
            card = self._error(state, AssistantError(ErrorCode.ENGINE_CANCELLED))
        finally:
            looking.cancel()
            self._in_flight -= 1
        await asyncio.gather(looking, return_exceptions=True)
        first, *state.pages = pages(card, self.texts, self._language(state.player))
        await self._deliver(state, first)

    async def _looking(self, state: PlayerState) -> None:
        await asyncio.sleep(LOOKING_AFTER)
        await self.services.workers.turns.take()
        line = Line(self.texts.tr(self._language(state.player), "engine.looking"), "muted")
        await asyncio.shield(self.host.deliver(state.player, Card("", (line,), status=Status.NOTICE)))

    async def _answer(self, request: Request, state: PlayerState) -> Card:
        trace = self.services.traces.begin(self.host.name)
        try:
            await self.services.workers.run(lambda: self.services.players.load(state))
            card = await self._decide(request, state, trace)
        except AssistantError as error:
            card = self._error(state, error)
        except asyncio.CancelledError:
            self.services.traces.end(trace, ErrorCode.ENGINE_CANCELLED.value)
            raise
        except Exception:  # anything foreign that was not translated at its edge is a bug of ours
            LOG.exception("request %d failed", trace.number)
            card = self._error(state, AssistantError(ErrorCode.INTERNAL))
        self.services.traces.end(trace, card.code or "")
        return replace(card, module=trace.module, trace=trace.number)

    async def _decide(self, request: Request, state: PlayerState, trace: Trace) -> Card:
        text = clean(request.text, self.config.settings.agent.limits.question_characters)
        text = self._actions.resolve(request.player.uuid, text) or text
        decision = self._router.decide(text, permission=request.player.permission)
        match decision:
            case Chosen(module, arguments, origin):
                return await self._run(self._modules[module], arguments, origin, request, state, trace)
            case Misused(usage):
                shown = self.texts.tr(self._language(request.player), usage)
                raise AssistantError(ErrorCode.REQUEST_ARGUMENTS_INVALID, usage=shown)
            case Denied(level):
                raise AssistantError(ErrorCode.PERMISSION_DENIED, level=level)
            case Unknown(command):
                raise AssistantError(ErrorCode.REQUEST_UNKNOWN_COMMAND, command=command)
            case Plain(words):
                return options_card(self.texts, self._language(request.player), self._offers(words, request.player))

    async def _run(
        self, module: Module[Any], arguments: object, origin: Origin, request: Request, state: PlayerState, trace: Trace
    ) -> Card:
        trace.module, trace.origin = module.id, origin.value
        policy = self._policy(module)
        run = RunContext(
            player=request.player,
            language=request.language or self._language(request.player),
            origin=origin,
            settings=self.config.settings,
            _proof=request.proof,
            commands=lambda: self.commands(request.player),
            _texts=self.texts,
            _module=module.id,
            _tools=frozenset(one.name for one in module.tools),
            _uses=frozenset(module.uses),
            _state=state,
            _generation=state.generation,
            _budget=Budget(policy, self.services.traces.clock),
            _services=self.services,
            _trace=trace,
        )
        try:
            async with asyncio.timeout(policy.ttl_millis / 1000):
                card = await module.run(run, arguments)
        except TimeoutError as error:
            raise AssistantError(ErrorCode.ENGINE_TIMEOUT, seconds=policy.ttl_millis // 1000) from error
        run.check_current()
        return replace(card, origin=origin, calls=run.calls)

    # ---- small parts -----------------------------------------------------------------------------------------

    def _language(self, player: Player) -> str:
        state = self.services.players.find(player.uuid)
        chosen = state.preferences.language if state is not None and state.preferences is not None else ""
        return chosen or player.language

    def _error(self, state: PlayerState, error: AssistantError) -> Card:
        return error_card(self.texts, self._language(state.player), error)

    def _note(self, state: PlayerState, key: str) -> Card:
        return Card("", (Line(self.texts.tr(self._language(state.player), key), "muted"),), status=Status.NOTICE)

    def _offers(self, words: str, player: Player) -> tuple[Button, ...]:
        texts, language = self.texts, self._language(player)
        return tuple(_offers(texts, language, self._modules.values(), words))


def _offers(texts: Texts, language: str, modules: Iterable[Module[Any]], words: str) -> Iterable[Button]:
    for module in modules:
        if module.routing.offer:
            yield Button(texts.tr(language, module.routing.offer, text=words), f"/{module.routing.command} {words}")
    for module in modules:
        if module.routing.shortcut and module.routing.command:
            yield Button(texts.tr(language, module.routing.shortcut), f"/{module.routing.command}")


def _help(texts: Texts, language: str, module: Module[Any], command: Command[Any]) -> CommandHelp:
    usage = texts.tr(language, command.usage or f"/{command.name}")
    name = command.name if command.bare else f"/{command.name}"
    return CommandHelp(name, usage, texts.tr(language, command.summary or module.summary))
