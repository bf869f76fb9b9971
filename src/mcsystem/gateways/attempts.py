"""What the ledger keeps: one row an attempt, one sum a day, player and tool."""

from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Final, Self
from uuid import UUID

from mcsystem.storage import Table

MODEL: Final = "model"


class AttemptState(StrEnum):
    """How far a paid call came.

    RESERVED: written before anything else. SENT: the request may have left. SUCCESS: answered and usable.
    FAILED_FREE: refused, or nothing was sent. UNKNOWN: it may have been billed and nobody can tell.
    """

    RESERVED = "reserved"
    SENT = "sent"
    SUCCESS = "success"
    FAILED_FREE = "failed_free"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call as the service counted them; None where it did not say, or said nonsense.

    Attributes:
        prompt: tokens sent.
        completion: tokens written by the model.
        total: all tokens.
    """

    prompt: int | None = None
    completion: int | None = None
    total: int | None = None


UNMEASURED: Final = Usage()


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call that was tried.

    Attributes:
        id: sorts by time.
        at: milliseconds since 1970.
        day: the server's local day.
        player: on whose request.
        tool: what was called: `model`.
        workflow: the module that asked.
        service: host of the service.
        model: name of the model.
        state: how far it came.
        code: the error code behind a failure, else empty.
        prompt: tokens sent, None when unknown.
        completion: tokens written, None when unknown.
        total: all tokens, None when unknown.
    """

    id: str
    at: int
    day: date
    player: UUID
    tool: str
    workflow: str
    service: str
    model: str
    state: AttemptState = AttemptState.RESERVED
    code: str = ""
    prompt: int | None = None
    completion: int | None = None
    total: int | None = None

    @property
    def sum_key(self) -> str:
        """Key of the day's sum that this attempt belongs to."""
        return day_key(self.day, self.player, self.tool)

    def finished(self, state: AttemptState, usage: Usage, code: str) -> Self:
        """The same attempt at its end."""
        return replace(
            self, state=state, code=code, prompt=usage.prompt, completion=usage.completion, total=usage.total
        )


@dataclass(frozen=True, slots=True)
class DayUse:
    """Sum of one player's attempts with one tool on one day; kept for good.

    Attributes:
        attempts: calls tried, those that still run included.
        successes: answered and usable.
        failed: refused without cost, or never sent.
        unknown: may have been billed.
        unmeasured: successes and unknowns whose total tokens nobody told.
        prompt: known tokens sent.
        completion: known tokens written.
        total: known tokens.
    """

    attempts: int = 0
    successes: int = 0
    failed: int = 0
    unknown: int = 0
    unmeasured: int = 0
    prompt: int = 0
    completion: int = 0
    total: int = 0

    def begun(self) -> Self:
        """One more attempt."""
        return replace(self, attempts=self.attempts + 1)

    def ended(self, attempt: Attempt) -> Self:
        """The end of one attempt that was counted before."""
        free = attempt.state is AttemptState.FAILED_FREE
        return replace(
            self,
            successes=self.successes + (attempt.state is AttemptState.SUCCESS),
            failed=self.failed + free,
            unknown=self.unknown + (attempt.state is AttemptState.UNKNOWN),
            unmeasured=self.unmeasured + (not free and attempt.total is None),
            prompt=self.prompt + (attempt.prompt or 0),
            completion=self.completion + (attempt.completion or 0),
            total=self.total + (attempt.total or 0),
        )


def day_key(day: date, player: UUID, tool: str) -> str:
    """Key of one day's sum; sorts by day."""
    return f"{day.isoformat()}/{player}/{tool}"


# Attempts that still run stand apart from those that ended, so that a start after a crash reads a few rows, not all.
OPEN: Final = Table("system:usage_open", Attempt)
ENDED: Final = Table("system:usage_attempts", Attempt)
DAYS: Final = Table("system:usage_days", DayUse)
