"""A model that answers from a script: for tests and for authors of extensions; it opens nothing."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

import msgspec

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.gateways.attempts import AttemptState, Usage
from mcsystem.gateways.provider import Completion, ModelCall, Refused

BILLED_PERHAPS: Final = frozenset({ErrorCode.MODEL_TIMEOUT, ErrorCode.MODEL_INVALID_RESPONSE})
USUAL: Final = Usage(100, 20, 120)

Answer = str | ErrorCode | AssistantError | object
Script = Iterable[Answer] | Callable[[ModelCall], Answer]


@dataclass(slots=True)
class ScriptedModel:
    """Gives prepared answers, in order or by a function, and keeps every call.

    An answer is text (sent as it is, so that broken JSON can be tried), an `ErrorCode` or `AssistantError` (the call
    fails with it), or any value that has a JSON form (a dict, a dataclass). After the last answer of a list it is
    MODEL_UNAVAILABLE.

    Attributes:
        script: the answers.
        delay: seconds before each answer; the call's own deadline still counts.
        usage: tokens that each answer reports.
        unset: True behaves as if no key were set.
        calls: every call that arrived, oldest first.
        service: name in the ledger.
        model: name in the ledger and in replies.
    """

    script: Script
    delay: float = 0.0
    usage: Usage = USUAL
    unset: bool = False
    calls: list[ModelCall] = field(default_factory=list[ModelCall])
    service: str = "scripted"
    model: str = "scripted"
    _left: list[Answer] | None = field(default=None, init=False)

    def connect(self) -> "ScriptedModel":
        """See `Provider.connect`.

        Errors: MODEL_NOT_CONFIGURED when `unset`.
        """
        if self.unset:
            raise AssistantError(ErrorCode.MODEL_NOT_CONFIGURED, field="SCRIPTED", expected="sk-...", reason="unset")
        return self

    async def complete(
        self, call: ModelCall, result: type[object], *, deadline: float, sending: Callable[[], None]
    ) -> Completion | Refused:
        """See `Connection.complete`; `result` and `deadline` are the gateway's business."""
        del result, deadline
        self.calls.append(call)
        sending()
        answer = self._next(call)
        if self.delay:
            await asyncio.sleep(self.delay)
        if isinstance(answer, ErrorCode):
            answer = AssistantError(answer)
        if isinstance(answer, AssistantError):
            billed = answer.code in BILLED_PERHAPS
            return Refused(answer, AttemptState.UNKNOWN if billed else AttemptState.FAILED_FREE)
        content = answer if isinstance(answer, str) else msgspec.json.encode(answer).decode()
        return Completion(content, self.usage)

    async def probe(self, *, deadline: float) -> AssistantError | None:
        """See `Connection.probe`: always reachable."""
        del deadline

    def _next(self, call: ModelCall) -> Answer:
        if callable(self.script):
            return self.script(call)
        if self._left is None:
            self._left = list(self.script)
        return self._left.pop(0) if self._left else ErrorCode.MODEL_UNAVAILABLE
