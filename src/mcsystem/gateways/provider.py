"""The seam between our gateway and a model service: what is asked, what comes back, and what it may have cost."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar
from uuid import UUID

from mcsystem.errors import AssistantError
from mcsystem.gateways.attempts import UNMEASURED, AttemptState, Usage

T = TypeVar("T")


class RunBlocking(Protocol):
    """Runs a blocking function away from the event loop, such as `asyncio.to_thread`."""

    def __call__(self, job: Callable[[], T], /) -> Awaitable[T]:
        """Run `job` on a worker."""
        ...


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One question to a model. Nothing but `system`, `user` and the shape of the answer is sent.

    Attributes:
        system: instructions, ours.
        user: question and sources, untrusted text.
        schema_name: name of the answer's shape, `[A-Za-z0-9_-]`.
        workflow: module that asks; for the ledger alone.
        player: whose quota it is; for the ledger alone.
        input_bytes: most UTF-8 bytes of `system` and `user` together.
        output_tokens: most tokens the model may write.
        timeout: seconds for everything, waiting for a free place included.
        deadline: event loop time at which the request as a whole ends, None when only `timeout` counts.
    """

    system: str
    user: str
    schema_name: str
    workflow: str
    player: UUID
    input_bytes: int
    output_tokens: int
    timeout: float
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class ModelReply(Generic[T]):
    """A model's checked answer.

    Attributes:
        value: decoded into the type that was asked for.
        usage: tokens as the service counted them.
        model: name of the model that was asked.
    """

    value: T
    usage: Usage
    model: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What a service answered: `content` as it came, not checked yet."""

    content: str
    usage: Usage = UNMEASURED


@dataclass(frozen=True, slots=True)
class Refused:
    """A call without a usable answer.

    Attributes:
        error: what to tell.
        state: FAILED_FREE when it certainly cost nothing, else UNKNOWN.
        usage: tokens, where the service told them all the same.
    """

    error: AssistantError
    state: AttemptState
    usage: Usage = UNMEASURED


class Connection(Protocol):
    """One provider with the settings of one moment; opens nothing before `complete` or `probe`."""

    @property
    def service(self) -> str:
        """Host of the service, for the ledger."""
        ...

    @property
    def model(self) -> str:
        """Name of the model, for the ledger."""
        ...

    async def complete(
        self, call: ModelCall, result: type[object], *, deadline: float, sending: Callable[[], None]
    ) -> Completion | Refused:
        """Ask once, never twice.

        Args:
            call: what to ask.
            result: type of the answer, for services that take a schema.
            deadline: event loop time at which everything is given up.
            sending: called right before the first byte that could be billed leaves.
        """
        ...

    async def probe(self, *, deadline: float) -> AssistantError | None:
        """What keeps the service from answering, None when it can be reached; costs nothing."""
        ...


class Provider(Protocol):
    """A kind of model service."""

    def connect(self) -> Connection:
        """A connection with the settings as they are now; touches no network.

        Errors: MODEL_NOT_CONFIGURED.
        """
        ...
