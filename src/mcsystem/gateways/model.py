"""The gateway to the text model: every call is limited, counted and written down before it leaves, and made once."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.gateways.answers import decode
from mcsystem.gateways.attempts import Attempt, AttemptState
from mcsystem.gateways.ledger import Ledger
from mcsystem.gateways.openai import LARGE, OpenAiModel
from mcsystem.gateways.provider import Connection, ModelCall, ModelReply, Provider, Refused, RunBlocking
from mcsystem.gateways.secret import MaskingFilter
from mcsystem.gateways.slots import Slots
from mcsystem.gateways.transport import HttpTransport, OpenTransport, open_http
from mcsystem.settings import ModelSettings

LOG: Final = logging.getLogger(__name__)
T = TypeVar("T")

WAIT_SHARE: Final = 0.5  # of a call's time; what starts later would be billed and then time out
SETTLE_SECONDS: Final = 0.25  # how long an answer waits at least for its row; the row is written in any case
CLOSE_SECONDS: Final = 10.0
PROBE_SECONDS: Final = 5.0
LIBRARY_LOGGERS: Final = ("httpx2", "httpcore2.connection", "httpcore2.http11", "httpcore2.proxy")


@dataclass(slots=True)
class _Progress:
    """How far one call came, so that its row ends right whatever interrupts it."""

    attempt: Attempt
    writes: "list[asyncio.Future[None]]" = field(default_factory=list["asyncio.Future[None]"])
    sending: bool = False

    def mark_sending(self) -> None:
        self.sending = True

    def refused(self, error: AssistantError) -> Refused:
        """A refusal at this moment: free as long as no byte left."""
        return Refused(error, AttemptState.UNKNOWN if self.sending else AttemptState.FAILED_FREE)


class ModelGateway:
    """The one way to a text model.

    A call waits at most half its time for a free place (else MODEL_BUSY), is written to the ledger, and then sent once.

    Args:
        settings: the connection's settings as they are now; each call works on a snapshot.
        ledger: where calls are counted.
        concurrency: calls at once, all players together.
        daily_calls: calls of one player in a local day, as set now.
        environ: where the key is looked up.
        run_blocking: where files are written and large answers parsed; `asyncio.to_thread` by default.
        open_transport: seam for tests.
    """

    def __init__(
        self,
        settings: Callable[[], ModelSettings],
        ledger: Ledger,
        *,
        concurrency: int,
        daily_calls: Callable[[], int],
        environ: Mapping[str, str],
        run_blocking: RunBlocking = asyncio.to_thread,
        open_transport: OpenTransport = open_http,
    ) -> None:
        self._ledger = ledger
        self._daily_calls = daily_calls
        self._run = run_blocking
        transport = HttpTransport(run_blocking, open_transport=open_transport)
        configured = OpenAiModel(settings, environ, transport=transport, run_blocking=run_blocking)
        self._provider: Provider = configured
        self._slots = Slots(concurrency)
        self._tasks: set[asyncio.Future[None]] = set()
        self._closed = False
        self.log_filter: Final = MaskingFilter(configured.secrets)

    def use(self, provider: Provider) -> None:
        """Ask `provider` from now on instead of the configured service."""
        self._provider = provider

    def unavailable(self) -> AssistantError | None:
        """MODEL_NOT_CONFIGURED with what to set, None when the model can be asked; opens nothing."""
        try:
            self._provider.connect()
        except AssistantError as error:
            return error
        return None

    async def ask(self, call: ModelCall, result: type[T]) -> ModelReply[T]:
        """Ask once and decode the answer into `result`.

        Errors: MODEL_*, QUOTA_DAILY_CALLS, BUDGET_EXHAUSTED, LEDGER_UNAVAILABLE, ENGINE_CLOSED. Nothing was sent after
        MODEL_NOT_CONFIGURED, MODEL_BUSY and the last four.
        """
        if self._closed:
            raise AssistantError(ErrorCode.ENGINE_CLOSED)
        connection = self._provider.connect()
        _check_bytes(call)
        self._guard_logs()
        now = asyncio.get_running_loop().time()
        deadline = now + call.timeout if call.deadline is None else min(now + call.timeout, call.deadline)
        attempt = self._ledger.new(
            player=call.player, workflow=call.workflow, service=connection.service, model=connection.model
        )
        progress = _Progress(attempt)
        try:
            reply = await self._once(call, result, connection, progress=progress, deadline=deadline)
        except asyncio.CancelledError:
            self._settle(progress, progress.refused(AssistantError(ErrorCode.ENGINE_CANCELLED)))
            raise
        settled = self._settle(progress, reply)
        await asyncio.wait({settled}, timeout=max(SETTLE_SECONDS, deadline - asyncio.get_running_loop().time()))
        if isinstance(reply, Refused):
            raise reply.error
        return reply

    async def probe(self, *, seconds: float = PROBE_SECONDS) -> None:
        """Whether the service answers and takes the key; asks for its list of models, which costs nothing.

        Errors: MODEL_*.
        """
        connection = self._provider.connect()
        self._guard_logs()
        error = await connection.probe(deadline=asyncio.get_running_loop().time() + seconds)
        if error is not None:
            raise error

    async def close(self) -> None:
        """Refuse new calls and finish the rows of those that were made."""
        self._closed = True
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=CLOSE_SECONDS)
        for name in LIBRARY_LOGGERS:
            logging.getLogger(name).removeFilter(self.log_filter)

    async def _once(
        self, call: ModelCall, result: type[T], connection: Connection, *, progress: _Progress, deadline: float
    ) -> ModelReply[T] | Refused:
        """The whole life of one call within its deadline; everything that goes wrong comes back as a value."""
        limit = self._daily_calls()
        now = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(deadline):
                await self._run(lambda: self._ledger.check_quota(call.player, limit=limit))
                async with self._slots.hold(until=now + (deadline - now) * WAIT_SHARE):
                    await self._record(progress, lambda: self._ledger.reserve(progress.attempt, limit=limit))
                    await self._record(progress, lambda: self._ledger.sent(progress.attempt))
                    outcome = await connection.complete(call, result, deadline=deadline, sending=progress.mark_sending)
        except TimeoutError:
            return progress.refused(AssistantError(ErrorCode.MODEL_TIMEOUT, seconds=round(call.timeout, 1)))
        except AssistantError as error:
            return progress.refused(error)
        if isinstance(outcome, Refused):
            return outcome
        try:
            value = await self._decoded(outcome.content, result)
        except AssistantError as error:
            return Refused(error, AttemptState.UNKNOWN, outcome.usage)
        return ModelReply(value, outcome.usage, connection.model)

    async def _decoded(self, content: str, result: type[T]) -> T:
        if len(content) <= LARGE:
            return decode(content, result)
        return await self._run(lambda: decode(content, result))

    async def _record(self, progress: _Progress, job: Callable[[], None]) -> None:
        """Write to the ledger; a cancelled caller goes at once, the write ends by itself."""
        write = self._kept(self._run(job))
        progress.writes.append(write)
        await asyncio.shield(write)

    def _settle(self, progress: _Progress, reply: "ModelReply[T] | Refused") -> "asyncio.Future[None]":
        """End the row of a call; it goes on even when the caller does not wait."""
        return self._kept(self._end(progress, reply))

    async def _end(self, progress: _Progress, reply: "ModelReply[T] | Refused") -> None:
        if not progress.writes:
            return
        await asyncio.wait(progress.writes)
        reserved = progress.writes[0]
        if reserved.cancelled() or reserved.exception() is not None:
            return
        state, code = AttemptState.SUCCESS, ""
        if isinstance(reply, Refused):
            state, code = reply.state, reply.error.code.value
        try:
            await self._run(lambda: self._ledger.finish(progress.attempt, state, usage=reply.usage, code=code))
        except AssistantError as error:  # kept by the ledger for its next write; unknown after a crash before that
            LOG.warning("usage ledger: %s", error)

    def _kept(self, work: Awaitable[None]) -> "asyncio.Future[None]":
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: "asyncio.Future[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waited has seen it; nobody else needs to

    def _guard_logs(self) -> None:
        for name in LIBRARY_LOGGERS:
            logging.getLogger(name).addFilter(self.log_filter)


def _check_bytes(call: ModelCall) -> None:
    if len(call.system.encode()) + len(call.user.encode()) > call.input_bytes:
        raise AssistantError(ErrorCode.BUDGET_EXHAUSTED, kind="inputBytes", limit=call.input_bytes)
