"""The ledger of paid calls: written before a request leaves, exact after a crash, one file write for many callers."""

import itertools
import secrets
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Final, TypeVar
from uuid import UUID

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.gateways.attempts import (
    DAYS,
    ENDED,
    MODEL,
    OPEN,
    UNMEASURED,
    Attempt,
    AttemptState,
    DayUse,
    Usage,
    day_key,
)
from mcsystem.storage import Change, Database, Put, Remove

R = TypeVar("R")
KEEP_DAYS: Final = 90
KEEP_ROWS: Final = 50_000  # a write costs about 10 ms of CPU then
NOTHING_USED: Final = DayUse()


def local_now() -> datetime:
    """The server's local time; its calendar day is the day of quotas and sums."""
    return datetime.now(tz=UTC).astimezone()


@dataclass(slots=True)
class _Draft:
    """Changes of one write, worked out over what is stored."""

    database: Database
    open: dict[str, Attempt | None] = field(default_factory=dict[str, Attempt | None])
    ended: dict[str, Attempt | None] = field(default_factory=dict[str, Attempt | None])
    days: dict[str, DayUse] = field(default_factory=dict[str, DayUse])

    def running(self, key: str) -> Attempt | None:
        return self.open[key] if key in self.open else self.database.get(OPEN, key)

    def day(self, key: str) -> DayUse:
        return self.days.get(key) or self.database.get(DAYS, key) or NOTHING_USED

    def changes(self) -> list[Change]:
        made: list[Change] = [Put(DAYS, key, value) for key, value in self.days.items()]
        for table, rows in ((OPEN, self.open), (ENDED, self.ended)):
            made.extend(Remove(table, key) if row is None else Put(table, key, row) for key, row in rows.items())
        return made


@dataclass(slots=True)
class _Job:
    """One caller's change; `lasting` ones are tried again with the next write when the file cannot be written."""

    change: Callable[[_Draft], None]
    lasting: bool = False
    done: bool = False
    failure: AssistantError | None = None


class Ledger:
    """Attempts and sums in one database. Synchronous and thread-safe; never for a thread that runs an event loop.

    Every method raises LEDGER_UNAVAILABLE with the storage code as `reason` when the file cannot be read or written.

    Args:
        database: the file of its own, `<world>/data/system/token_usage.dat`.
        clock: the local time with its zone; its calendar day is the day of quotas.
        keep_rows: most finished rows; the oldest go first, sums stay exact.
    """

    def __init__(
        self, database: Database, *, clock: Callable[[], datetime] = local_now, keep_rows: int = KEEP_ROWS
    ) -> None:
        self._database = database
        self._clock = clock
        self._keep_rows = keep_rows
        self._numbers = itertools.count()
        self._turn = threading.Lock()
        self._queue: deque[_Job] = deque()
        self._late: list[_Job] = []
        self._rows: deque[str] | None = None

    def new(self, *, player: UUID, workflow: str, service: str, model: str, tool: str = MODEL) -> Attempt:
        """An attempt to reserve; nothing is written yet."""
        now = self._clock()
        at = int(now.timestamp() * 1000)
        key = f"{at:014d}-{next(self._numbers) % 65_536:04x}{secrets.token_hex(4)}"  # sorts by time
        return Attempt(key, at, now.date(), player, tool, workflow, service, model)

    def reserve(self, attempt: Attempt, *, limit: int) -> None:
        """Write `attempt` as reserved, unless its player has made `limit` attempts on its day.

        Errors: QUOTA_DAILY_CALLS with `limit` and when it `opens` again.
        """

        def change(draft: _Draft) -> None:
            today = draft.day(attempt.sum_key)
            _check(today, attempt.day, limit)
            draft.days[attempt.sum_key] = today.begun()
            draft.open[attempt.id] = attempt

        self._apply(_Job(change))

    def sent(self, attempt: Attempt) -> None:
        """Write that the request may leave from now on."""

        def change(draft: _Draft) -> None:
            row = draft.running(attempt.id)
            if row is not None:
                draft.open[attempt.id] = replace(row, state=AttemptState.SENT)

        self._apply(_Job(change))

    def finish(self, attempt: Attempt, state: AttemptState, *, usage: Usage = UNMEASURED, code: str = "") -> None:
        """Write how an attempt ended; one that was never reserved or has ended already stays as it is.

        When the file cannot be written, the end is kept and written with the next change; after a crash before that
        the attempt counts as unknown.
        """

        def change(draft: _Draft) -> None:
            row = draft.running(attempt.id)
            if row is not None:
                _end(draft, row.finished(state, usage, code))

        self._apply(_Job(change, lasting=True))

    def recover(self) -> int:
        """At start: turn attempts that never ended into unknown; returns how many there were."""
        found = self._read(lambda: list(self._database.entries(OPEN).values()))
        if not found:
            return 0

        def change(draft: _Draft) -> None:
            for row in found:
                _end(draft, row.finished(AttemptState.UNKNOWN, UNMEASURED, row.code))

        self._apply(_Job(change))
        return len(found)

    def check_quota(self, player: UUID, *, limit: int, tool: str = MODEL) -> None:
        """Refuse a player who has used up the day.

        Errors: QUOTA_DAILY_CALLS with `limit` and when it `opens` again.
        """
        today = self._clock().date()
        _check(self._day(day_key(today, player, tool)), today, limit)

    def calls_today(self, player: UUID, *, tool: str = MODEL) -> int:
        """Attempts of a player on the local day, whatever came of them."""
        return self._day(day_key(self._clock().date(), player, tool)).attempts

    def days(self) -> dict[str, DayUse]:
        """Every sum by `<day>/<player UUID>/<tool>`; empty when nothing was ever called."""
        return self._read(lambda: self._database.entries(DAYS))

    def attempts(self) -> list[Attempt]:
        """The rows of at most 90 days, oldest first, those that still run included."""
        rows = self._read(lambda: {**self._database.entries(ENDED), **self._database.entries(OPEN)})
        return [rows[key] for key in sorted(rows)]

    def _day(self, key: str) -> DayUse:
        return self._read(lambda: self._database.get(DAYS, key)) or NOTHING_USED

    def _apply(self, job: _Job) -> None:
        """Make one change durable. Whoever gets the turn writes for all that wait: many changes, one file write."""
        self._queue.append(job)
        with self._turn:
            if not job.done:
                self._write(self._take())
        if job.failure is not None:
            if job.failure.code is ErrorCode.QUOTA_DAILY_CALLS:
                raise job.failure
            raise _unavailable(job.failure) from job.failure

    def _take(self) -> list[_Job]:
        jobs: list[_Job] = []
        while self._queue:
            jobs.append(self._queue.popleft())
        return jobs

    def _write(self, jobs: list[_Job]) -> None:
        draft = _Draft(self._database)
        failure: AssistantError | None = AssistantError(ErrorCode.INTERNAL)
        try:
            for late in self._late:
                late.change(draft)
            for job in jobs:
                _try(job, draft)
            self._prune(draft)
            changes = draft.changes()
            if changes:
                self._database.commit(changes)
            self._late.clear()
            failure = None
        except AssistantError as error:
            failure = error
        finally:
            for job in jobs:
                job.failure = job.failure or failure
                job.done = True
            if failure is not None:
                self._rows = None
                self._late.extend(job for job in jobs if job.lasting)

    def _prune(self, draft: _Draft) -> None:
        """Drop rows that are too old or too many."""
        rows = self._rows
        if rows is None:
            rows = self._rows = deque(sorted(self._database.keys(ENDED)))
        rows.extend(draft.ended)
        oldest = int((self._clock() - timedelta(days=KEEP_DAYS)).timestamp() * 1000)
        while rows and (len(rows) > self._keep_rows or rows[0] < f"{oldest:014d}"):
            draft.ended[rows.popleft()] = None

    def _read(self, read: Callable[[], R]) -> R:
        try:
            return read()
        except AssistantError as error:
            raise _unavailable(error) from error


def _check(used: DayUse, day: date, limit: int) -> None:
    if used.attempts >= limit:
        opens = f"{day + timedelta(days=1)} 00:00"
        raise AssistantError(ErrorCode.QUOTA_DAILY_CALLS, limit=limit, opens=opens)


def _end(draft: _Draft, row: Attempt) -> None:
    draft.open[row.id] = None
    draft.ended[row.id] = row
    draft.days[row.sum_key] = draft.day(row.sum_key).ended(row)


def _try(job: _Job, draft: _Draft) -> None:
    try:
        job.change(draft)
    except AssistantError as error:
        if error.code is not ErrorCode.QUOTA_DAILY_CALLS:
            raise
        job.failure = error


def _unavailable(error: AssistantError) -> AssistantError:
    return AssistantError(ErrorCode.LEDGER_UNAVAILABLE, reason=error.code.value)
