"""One request's budget: everything it may still spend, taken before it is spent, never given back."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.settings import Policy

Kind = Literal["modelCalls", "toolCalls", "steps", "writeSteps", "inputBytes", "totalTokens"]


@dataclass(slots=True)
class Budget:
    """What one workflow may spend; safe to use from any thread.

    Attributes:
        policy: the limits.
        clock: monotonic seconds.
        deadline: when the request ends, on that clock.
        spent: amounts taken so far.
    """

    policy: Policy
    clock: Callable[[], float]
    deadline: float = 0.0
    spent: dict[Kind, int] = field(default_factory=dict[Kind, int])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.deadline = self.clock() + self.policy.ttl_millis / 1000

    def limit(self, kind: Kind) -> int:
        """The limit of `kind`."""
        policy = self.policy
        limits: dict[Kind, int] = {
            "modelCalls": policy.model_calls,
            "toolCalls": policy.tool_calls,
            "steps": policy.steps,
            "writeSteps": policy.write_steps,
            "inputBytes": policy.input_bytes,
            "totalTokens": policy.total_tokens,
        }
        return limits[kind]

    def left(self, kind: Kind) -> int:
        """How much of `kind` may still be taken, never below 0."""
        return max(0, self.limit(kind) - self.spent.get(kind, 0))

    def seconds_left(self) -> float:
        """Seconds until the deadline, never below 0."""
        return max(0.0, self.deadline - self.clock())

    def take(self, amounts: dict[Kind, int]) -> None:
        """Take all of `amounts`, or none.

        Errors: BUDGET_EXHAUSTED with the kind and its limit; also when the deadline has passed (`ttlMillis`).
        """
        with self._lock:
            if self.clock() >= self.deadline:
                raise AssistantError(ErrorCode.BUDGET_EXHAUSTED, kind="ttlMillis", limit=self.policy.ttl_millis)
            for kind, amount in amounts.items():
                if amount > self.left(kind):
                    raise AssistantError(ErrorCode.BUDGET_EXHAUSTED, kind=kind, limit=self.limit(kind))
            for kind, amount in amounts.items():
                self.spent[kind] = self.spent.get(kind, 0) + amount

    def take_tool(self, *, write: bool) -> None:
        """Take one tool call (and one write step).

        Errors: BUDGET_EXHAUSTED.
        """
        self.take({"toolCalls": 1, "steps": 1, "writeSteps": int(write)})

    def take_model(self, input_bytes: int) -> None:
        """Take one model call that sends `input_bytes`.

        Errors: BUDGET_EXHAUSTED.
        """
        self.take({"modelCalls": 1, "steps": 1, "inputBytes": input_bytes, "totalTokens": input_bytes // 4})

    def charge_tokens(self, tokens: int) -> None:
        """Count tokens already spent; what goes over the limit stops the next call."""
        with self._lock:
            self.spent["totalTokens"] = self.spent.get("totalTokens", 0) + tokens
