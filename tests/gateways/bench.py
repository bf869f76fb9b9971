"""A gateway over a real ledger, asked through real sockets; answers and errors come back as values."""

import asyncio
import logging
import time
import traceback
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from uuid import UUID

from hostile import KEY

from mcsystem.errors import AssistantError
from mcsystem.gateways import Attempt, Ledger, ModelCall, ModelGateway, ModelReply
from mcsystem.settings import ModelSettings
from mcsystem.storage import Databases

T = TypeVar("T")
PLAYER = UUID("069a79f4-44e9-4726-a5be-fca90e38aaf5")
QUESTION = "how do I claim land? (only the service may read this)"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model is asked to give."""

    answered: bool
    n: int


CALL = ModelCall("Answer in json.", QUESTION, "answer", "system:question", PLAYER, 10_000, 64, timeout=5.0)


@dataclass
class Outcome:
    """How one call ended."""

    value: Answer | None
    error: AssistantError | None
    seconds: float
    shown: str

    @property
    def code(self) -> str:
        return self.error.code.value if self.error else ""

    @property
    def reason(self) -> object:
        return self.error.details.get("reason") if self.error else None


@dataclass
class Bench:
    """Everything a test of the gateway needs."""

    databases: Databases
    environ: Mapping[str, str] = field(default_factory=lambda: {"SYSTEM_DEEPSEEK_API_KEY": KEY})
    concurrency: int = 4
    daily: int = 1000

    def __post_init__(self) -> None:
        self.ledger = Ledger(
            self.databases.file(self.databases.world / "data" / "system" / "token_usage.dat", "token_usage")
        )

    def gateway(self, url: str, **settings: Any) -> ModelGateway:
        """A gateway to the service at `url`."""
        configured = ModelSettings(base_url=url, **settings)
        return ModelGateway(
            lambda: configured,
            self.ledger,
            concurrency=self.concurrency,
            daily_calls=lambda: self.daily,
            environ=self.environ,
        )

    def ask(self, url: str, *, timeout: float = 5.0, **settings: Any) -> Outcome:
        """One call to `url` with a gateway of its own."""

        async def one() -> Outcome:
            gateway = self.gateway(url, **settings)
            try:
                return await ask(gateway, replace(CALL, timeout=timeout))
            finally:
                await gateway.close()

        return run(one())

    def rows(self) -> list[tuple[str, str]]:
        """State and code of every attempt, oldest first."""
        return [(row.state.value, row.code) for row in self.ledger.attempts()]

    def last(self) -> Attempt:
        """The newest attempt."""
        return self.ledger.attempts()[-1]


async def ask(gateway: ModelGateway, call: ModelCall = CALL) -> Outcome:
    """One call as a value; what a log would show of its error is kept too."""
    since = time.monotonic()
    try:
        reply: ModelReply[Answer] = await gateway.ask(call, Answer)
    except AssistantError as error:
        shown = "".join(traceback.format_exception(error)) + repr(error) + str(error) + repr(chain(error))
        return Outcome(None, error, time.monotonic() - since, shown)
    return Outcome(reply.value, None, time.monotonic() - since, repr(reply))


def chain(error: BaseException | None) -> list[object]:
    """Everything that hangs on an exception: causes, contexts, and the attributes of each."""
    found: list[object] = []
    while error is not None:
        found += [repr(error), error.args, vars(error)]
        error = error.__cause__ or error.__context__
    return found


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run on a loop of its own, as fast as production: asyncio's debug mode is off."""
    logging.getLogger("asyncio").debug("a loop starts")
    return asyncio.run(work)
