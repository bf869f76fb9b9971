"""One module's run: what it may call and ask, counted against one budget and checked at every step."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from string import Template
from typing import Any, Final, TypeVar

from mcsystem.cards import Calls
from mcsystem.engine.admin import Admin
from mcsystem.engine.budget import Budget
from mcsystem.engine.context import ToolContext
from mcsystem.engine.players import OwnData, Players, PlayerState, check_generation
from mcsystem.engine.threads import Workers
from mcsystem.engine.tool import Tool
from mcsystem.engine.trace import Trace, Traces
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.gateways import ModelCall, ModelGateway
from mcsystem.ids import Origin, Player, Proof
from mcsystem.knowledge import Knowledge
from mcsystem.resources import Texts, prompt
from mcsystem.settings import Settings
from mcsystem.storage import Databases

A = TypeVar("A")
R = TypeVar("R")

# After one of these nothing was sent, so no call is counted.
NOT_SENT: Final = frozenset(
    {
        ErrorCode.BUDGET_EXHAUSTED,
        ErrorCode.ENGINE_CLOSED,
        ErrorCode.LEDGER_UNAVAILABLE,
        ErrorCode.MODEL_BUSY,
        ErrorCode.MODEL_NOT_CONFIGURED,
        ErrorCode.QUOTA_DAILY_CALLS,
    }
)
ANSWER_RESERVE: Final = 0.5  # seconds kept for checking the sources again and delivering
TAG: Final = re.compile(r"</?\s*(source|sources|question|system|assistant|user)\b[^>]*>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Services:
    """What every run shares: the world's parts, made once."""

    databases: Databases
    knowledge: Knowledge
    gateway: ModelGateway
    workers: Workers
    players: Players
    traces: Traces
    admin: Admin
    exports: Mapping[str, Tool[Any, Any]]
    owner_present: bool


@dataclass(frozen=True, slots=True)
class CommandHelp:
    """One command for help and completion: its name with the slash, how to use it, and what it does."""

    name: str
    usage: str
    summary: str


@dataclass(frozen=True, slots=True)
class Material:
    """One numbered source as the model gets it: outside text, never instructions."""

    n: int
    title: str
    text: str


@dataclass(slots=True)
class RunContext:
    """What a module's `run` gets: its tools, one model, texts, and the player in the host's word.

    Attributes:
        player: who asks.
        language: the language this player reads.
        origin: how this module was chosen.
        settings: as they were when the request began.
        commands: the commands this player may use.
        calls: billable calls made so far.
    """

    player: Player
    language: str
    origin: Origin
    settings: Settings
    commands: Callable[[], Sequence[CommandHelp]]
    _proof: Proof
    _texts: Texts
    _module: str
    _tools: frozenset[str]
    _uses: frozenset[str]
    _state: PlayerState
    _generation: int
    _budget: Budget
    _services: Services
    _trace: Trace
    calls: Calls = field(default_factory=Calls)

    def tr(self, key: str, /, **slots: object) -> str:
        """A text in the player's language."""
        return self._texts.tr(self.language, key, **slots)

    def sentence(self, error: AssistantError) -> str:
        """The sentence for the player that says what happened and what to do."""
        return self._texts.error(self.language, error)

    async def call(self, tool: Tool[A, R], arguments: A) -> R:
        """Call one of this module's tools, or one that it may use.

        Errors: TOOL_NOT_GRANTED, TOOL_WRITE_REFUSED, BUDGET_EXHAUSTED, ENGINE_*, and the tool's own.
        """
        self._admit(tool)
        since = self._services.traces.clock()
        code = ""
        try:
            if tool.waits:
                result: R = await tool.body(self._context(), arguments)
            else:
                result = await self._services.workers.run(lambda: tool.body(self._context(), arguments))
        except AssistantError as error:
            code = error.code.value
            raise
        finally:
            self._services.traces.step(self._trace, tool.name, since, code)
        check_generation(self._state, self._generation)
        return result

    def model_unavailable(self) -> AssistantError | None:
        """Why no model may be asked now: EXTERNAL_AI_OFF or MODEL_NOT_CONFIGURED; None when one may."""
        missing = self._services.gateway.unavailable()
        if missing is not None:
            return missing
        chosen = (self._state.preferences.external_ai if self._state.preferences else "") or self._default_external()
        return None if chosen == "on" else AssistantError(ErrorCode.EXTERNAL_AI_OFF)

    def _default_external(self) -> str:
        return "on" if self.settings.agent.external_ai.default or self._services.owner_present else "off"

    async def ask(self, name: str, result: type[R], *, question: str, sources: Sequence[Material] = ()) -> R:
        """Ask the model once with the prompt `name` and decode its answer into `result`.

        The model gets the question, the player's language and the sources, in the user part of the prompt alone; tags
        in them that could pass for the prompt's own are taken out.

        Errors: EXTERNAL_AI_OFF, MODEL_*, QUOTA_DAILY_CALLS, LEDGER_UNAVAILABLE, BUDGET_EXHAUSTED, CONFIG_UNREADABLE.
        """
        refused = self.model_unavailable()
        if refused is not None:
            raise refused
        template = await self._services.workers.run(lambda: prompt(name, self._services.admin.config.prompts))
        call = self._model_call(template, name, question, sources)
        self._budget.take_model(call.input_bytes)
        since, code = self._services.traces.clock(), ""
        counted = self.calls
        self.calls = replace(counted, model=counted.model + 1)
        try:
            reply = await self._services.gateway.ask(call, result)
        except AssistantError as error:
            code = error.code.value
            if error.code in NOT_SENT:
                self.calls = counted
            raise
        except asyncio.CancelledError:
            code = ErrorCode.ENGINE_CANCELLED.value
            raise
        finally:
            self._services.traces.step(self._trace, f"model {name}", since, code)
        await self._services.workers.turns.take()
        self.calls = replace(self.calls, tokens=self.calls.tokens + (reply.usage.total or 0))
        self._budget.charge_tokens(max(0, (reply.usage.total or 0) - call.input_bytes // 4))
        check_generation(self._state, self._generation)
        return reply.value

    def _model_call(self, template: Template, name: str, question: str, sources: Sequence[Material]) -> ModelCall:
        system, _, user = template.template.partition("\n---\n")
        block = "\n".join(
            f'<source n="{one.n}">\n{neutral(one.title)}\n{neutral(one.text)}\n</source>' for one in sources
        )
        slots = {"question": neutral(question), "language": self.language, "sources": block}
        filled = Template(user).safe_substitute(slots)
        policy = self._budget.policy
        timeout = min(policy.model_timeout_millis / 1000, self._budget.seconds_left() - ANSWER_RESERVE)
        if timeout <= 0:
            raise AssistantError(ErrorCode.BUDGET_EXHAUSTED, kind="ttlMillis", limit=policy.ttl_millis)
        return ModelCall(
            system=system.strip(),
            user=filled.strip(),
            schema_name=name,
            workflow=self._module,
            player=self.player.uuid,
            input_bytes=len(system.encode()) + len(filled.encode()),
            output_tokens=policy.output_tokens,
            timeout=timeout,
        )

    def _admit(self, tool: Tool[Any, Any]) -> None:
        granted = tool.name in self._tools or (tool.name in self._uses and tool.name in self._services.exports)
        if not granted:
            raise AssistantError(ErrorCode.TOOL_NOT_GRANTED, tool=tool.name)
        if tool.write and (self.origin not in {Origin.EXPLICIT, Origin.MODEL} or self._proof is not Proof.PROVEN):
            raise AssistantError(ErrorCode.TOOL_WRITE_REFUSED, tool=tool.name)
        self._budget.take_tool(write=tool.write)

    def _context(self) -> ToolContext:
        databases = self._services.databases
        return ToolContext(
            player=self.player,
            language=self.language,
            player_db=databases.player(self.player.uuid),
            shared_db=databases.shared(),
            knowledge=self._services.knowledge,
            settings=self.settings,
            own=OwnData(self._services.players, self._state, self._moved),
            origin=self.origin,
            proof=self._proof,
            exported=self._exported,
            _admin=self._services.admin,
        )

    def _exported(self, name: str, arguments: object) -> object | None:
        tool = self._services.exports.get(name)
        if tool is None or name not in self._uses or tool.waits:
            return None
        self._admit(tool)
        result: object = tool.body(self._context(), arguments)
        return result

    def _moved(self) -> None:
        """The run itself erased the data: its own answer may still be shown."""
        self._generation = self._state.generation

    def check_current(self) -> None:
        """Stop when the player's data was erased by somebody else meanwhile.

        Errors: ENGINE_REVOKED.
        """
        check_generation(self._state, self._generation)


def neutral(text: str) -> str:
    """Outside text for a prompt, without anything that could pass for the prompt's own tags."""
    return TAG.sub(" ", text)
