"""The ledger counts every attempt exactly, whatever happens to the process, the disk or the clock."""

import itertools
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.gateways import Attempt, AttemptState, DayUse, Ledger, Usage
from mcsystem.storage import Database, Databases

SOAK = bool(os.environ.get("MCSYSTEM_SOAK"))
ALEX, STEVE = UUID(int=1), UUID(int=2)
SHANGHAI = timezone(timedelta(hours=8))
ENDS = (AttemptState.SUCCESS, AttemptState.FAILED_FREE, AttemptState.UNKNOWN)
MANY = 1_000_000


@dataclass
class Clock:
    """A local clock that tests move."""

    now: datetime = field(default_factory=lambda: datetime(2026, 12, 1, 23, 59, tzinfo=SHANGHAI))

    def __call__(self) -> datetime:
        return self.now


@dataclass
class World:
    """A ledger file that can be closed and opened again."""

    folder: Path
    clock: Clock = field(default_factory=Clock)
    options: dict[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        self.open()

    @property
    def path(self) -> Path:
        return self.folder / "data" / "system" / "token_usage.dat"

    def open(self, *, write: bool = True) -> Ledger:
        self.databases = Databases.open(self.folder, write=write)
        self.database: Database = self.databases.file(self.path, "token_usage")
        self.ledger = Ledger(self.database, clock=self.clock, **self.options)
        return self.ledger

    def reopen(self) -> Ledger:
        self.databases.close()
        return self.open()

    def new(self, player: UUID = ALEX) -> Attempt:
        return self.ledger.new(player=player, workflow="system:question", service="s", model="m")

    def reserved(self, player: UUID = ALEX, *, limit: int = MANY) -> Attempt:
        attempt = self.new(player)
        self.ledger.reserve(attempt, limit=limit)
        return attempt

    def whole(self, state: AttemptState, usage: Usage, player: UUID = ALEX) -> Attempt:
        attempt = self.reserved(player)
        self.ledger.sent(attempt)
        self.ledger.finish(attempt, state, usage=usage)
        return attempt

    def ended(self, attempt: Attempt) -> None:
        self.ledger.finish(attempt, AttemptState.SUCCESS, usage=Usage(1, 1, 2))

    def states(self) -> list[str]:
        return [row.state.value for row in self.ledger.attempts()]


@pytest.fixture
def world(tmp_path: Path) -> Generator[World]:
    found = World(tmp_path / "world")
    yield found
    found.databases.close()


def folded(rows: list[Attempt]) -> dict[str, DayUse]:
    """What the sums must be, worked out plainly from the rows."""
    sums: dict[str, DayUse] = {}
    for row in rows:
        sums[row.sum_key] = sums.get(row.sum_key, DayUse()).begun()
        if row.state in ENDS:
            sums[row.sum_key] = sums[row.sum_key].ended(row)
    return sums


def code_of(action: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(AssistantError) as caught:
        action()
    return caught.value.code.value, str(caught.value.details.get("reason", ""))


def test_an_attempt_goes_from_reserved_to_its_end(world: World) -> None:
    """Each step is stored before it returns, in the file that the design names."""
    attempt = world.reserved()
    assert world.states() == ["reserved"]
    world.ledger.sent(attempt)
    assert world.states() == ["sent"]
    world.ledger.finish(attempt, AttemptState.SUCCESS, usage=Usage(5, 7, 12))
    assert world.path.is_file()
    row = world.reopen().attempts()[0]
    assert (row.state, row.prompt, row.completion, row.total, row.player) == (AttemptState.SUCCESS, 5, 7, 12, ALEX)
    assert world.ledger.days() == {
        f"2026-12-01/{ALEX}/model": DayUse(attempts=1, successes=1, prompt=5, completion=7, total=12)
    }


def test_nothing_is_written_before_the_first_attempt(world: World) -> None:
    """Reading an empty ledger, recovering and asking for the quota leave no file."""
    assert (world.ledger.recover(), world.ledger.attempts(), world.ledger.days()) == (0, [], {})
    world.ledger.check_quota(ALEX, limit=1)
    assert not world.path.exists()


def test_what_never_ended_is_unknown_after_a_restart(world: World) -> None:
    """Reserved and sent become unknown and are counted so; what ended stays; a second start finds nothing."""
    world.whole(AttemptState.FAILED_FREE, Usage())
    world.reserved()
    world.ledger.sent(world.reserved(STEVE))
    ledger = world.reopen()
    assert (ledger.recover(), ledger.recover()) == (2, 0)
    assert sorted(world.states()) == ["failed_free", "unknown", "unknown"]
    assert ledger.days() == folded(ledger.attempts())
    assert ledger.days()[f"2026-12-01/{STEVE}/model"] == DayUse(attempts=1, unknown=1, unmeasured=1)


def test_an_end_counts_once(world: World) -> None:
    """A second end, and an end of what was never reserved, change nothing."""
    attempt = world.whole(AttemptState.UNKNOWN, Usage(1, 1, 2))
    before = world.ledger.days()
    world.ledger.finish(attempt, AttemptState.SUCCESS, usage=Usage(9, 9, 18))
    world.ledger.finish(world.new(), AttemptState.SUCCESS)
    world.ledger.sent(world.new())
    assert (world.states(), world.ledger.days()) == (["unknown"], before)


def test_a_player_has_a_quota_for_a_local_day(world: World) -> None:
    """Every attempt counts, failed ones too; others have their own; at local midnight it opens again, as it said."""
    world.whole(AttemptState.FAILED_FREE, Usage())
    world.reserved(limit=2)
    with pytest.raises(AssistantError) as caught:
        world.reserved(limit=2)
    assert caught.value.code is ErrorCode.QUOTA_DAILY_CALLS
    assert dict(caught.value.details) == {"limit": 2, "opens": "2026-12-02 00:00"}
    assert code_of(lambda: world.ledger.check_quota(ALEX, limit=2))[0] == "QUOTA_DAILY_CALLS"
    assert (world.ledger.calls_today(ALEX), world.ledger.calls_today(STEVE)) == (2, 0)
    world.reserved(STEVE, limit=1)
    world.clock.now += timedelta(minutes=1)
    world.reserved(limit=1)
    assert world.ledger.calls_today(ALEX) == 1
    assert len(world.states()) == 4


def test_a_quota_of_nothing_lets_nothing_through(world: World) -> None:
    """The limit 0 means no calls at all, and leaves no row."""
    assert code_of(lambda: world.reserved(limit=0))[0] == "QUOTA_DAILY_CALLS"
    assert not world.path.exists()


def test_the_quota_survives_a_restart(world: World) -> None:
    """Yesterday's process counted for today's."""
    world.reserved(limit=1)
    world.reopen()
    assert code_of(lambda: world.reserved(limit=1))[0] == "QUOTA_DAILY_CALLS"


def test_many_at_once_never_pass_the_quota(world: World) -> None:
    """The check and the reservation are one step: of 40 at once exactly 10 get through."""

    def one(_: int) -> bool:
        try:
            world.reserved(limit=10)
        except AssistantError:
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(one, range(40))) == 10
    assert world.ledger.calls_today(ALEX) == 10


def test_sums_are_exact_under_many_at_once(world: World) -> None:
    """200 (soak: 5,000) whole attempts from 32 threads: every row is there, and the sums are their fold."""
    count = 5_000 if SOAK else 200
    draw = random.Random(11)
    plans = [
        (draw.choice(ENDS), Usage(*(draw.choice((None, draw.randrange(9_999))) for _ in range(3))))
        for _ in range(count)
    ]

    def whole(plan: tuple[AttemptState, Usage], player: UUID) -> None:
        world.whole(*plan, player)

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(whole, plans, itertools.cycle((ALEX, STEVE))))
    rows = world.ledger.attempts()
    assert len(rows) == count
    assert world.ledger.days() == folded(rows)
    assert world.reopen().days() == folded(rows)
    total = sum(use.total for use in world.ledger.days().values())
    assert total == sum(usage.total or 0 for _, usage in plans)


def test_many_at_once_share_file_writes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits while the disk is busy is written with the next one: 64 reservations cost a handful of commits."""
    commits: list[int] = []
    commit = world.database.commit

    def slow(changes: Any, **options: Any) -> int:
        commits.append(len(changes))
        time.sleep(0.05)
        return commit(changes, **options)

    monkeypatch.setattr(world.database, "commit", slow)
    with ThreadPoolExecutor(64) as pool:
        list(pool.map(world.reserved, [ALEX] * 64))
    assert world.ledger.calls_today(ALEX) == 64
    assert len(commits) <= 16


def test_rows_go_after_ninety_days_and_sums_stay(world: World) -> None:
    """Old rows leave with the next write; the sums of their days are kept for good."""
    world.whole(AttemptState.SUCCESS, Usage(1, 1, 2))
    world.clock.now += timedelta(days=89)
    world.whole(AttemptState.SUCCESS, Usage(1, 1, 2))
    assert len(world.states()) == 2
    world.clock.now += timedelta(days=2)
    world.reserved()
    assert world.states() == ["success", "reserved"]
    assert len(world.ledger.days()) == 3


def test_rows_are_bounded_and_sums_stay_exact(tmp_path: Path) -> None:
    """A busy server keeps the newest rows only; counting goes on exactly."""
    world = World(tmp_path / "world", options={"keep_rows": 5})
    for _ in range(12):
        world.clock.now += timedelta(seconds=1)
        world.whole(AttemptState.SUCCESS, Usage(1, 1, 2))
    world.reserved()
    assert len(world.states()) <= 7
    assert sum(use.attempts for use in world.ledger.days().values()) == 13
    world.databases.close()


def test_a_call_over_midnight_counts_for_the_day_it_began(world: World) -> None:
    """Its end lands in the sum of its own day."""
    attempt = world.reserved()
    world.clock.now += timedelta(minutes=5)
    world.ledger.finish(attempt, AttemptState.SUCCESS, usage=Usage(1, 1, 2))
    assert world.ledger.days() == {
        f"2026-12-01/{ALEX}/model": DayUse(attempts=1, successes=1, prompt=1, completion=1, total=2)
    }


def test_a_ledger_that_cannot_be_read_stops_calls_and_stays_as_it_is(world: World) -> None:
    """A broken file gives LEDGER_UNAVAILABLE with the storage code on every use, byte for byte unchanged."""
    world.databases.close()
    world.path.parent.mkdir(parents=True, exist_ok=True)
    world.path.write_bytes(b"not a database")
    ledger = world.open()
    for action in (ledger.recover, ledger.attempts, ledger.days, world.reserved, lambda: ledger.calls_today(ALEX)):
        assert code_of(action) == ("LEDGER_UNAVAILABLE", "STORAGE_CORRUPT")
    assert world.path.read_bytes() == b"not a database"


def test_a_world_opened_for_reading_makes_no_calls(world: World) -> None:
    """Without the right to write nothing could be counted, so nothing is reserved; reading works."""
    world.whole(AttemptState.SUCCESS, Usage(1, 1, 2))
    world.databases.close()
    ledger = world.open(write=False)
    assert code_of(world.reserved) == ("LEDGER_UNAVAILABLE", "STORAGE_READ_ONLY")
    assert ledger.calls_today(ALEX) == 1


def test_an_end_that_could_not_be_written_is_written_later(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk at the end of a call is reported, and made good by the next write; counted once."""
    attempt = world.reserved()

    def full(*_: Any, **__: Any) -> int:
        raise AssistantError(ErrorCode.STORAGE_WRITE_FAILED, file="x", reason="ENOSPC")

    with monkeypatch.context() as broken:
        broken.setattr(world.database, "commit", full)
        assert code_of(lambda: world.ended(attempt)) == ("LEDGER_UNAVAILABLE", "STORAGE_WRITE_FAILED")
        assert code_of(world.reserved) == ("LEDGER_UNAVAILABLE", "STORAGE_WRITE_FAILED")
    assert world.states() == ["reserved"]
    world.reserved(STEVE)
    world.reserved(STEVE)
    assert world.states() == ["success", "reserved", "reserved"]
    assert world.ledger.days() == folded(world.ledger.attempts())


def test_a_bug_below_fails_every_waiting_caller(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception that is no error of ours never passes for a written row."""

    def bug(*_: Any, **__: Any) -> int:
        time.sleep(0.02)  # so that others wait and are written, or not, together
        raise RuntimeError("bug")

    def one(_: int) -> str:
        try:
            world.reserved()
        except RuntimeError:
            return "bug"
        except AssistantError as error:
            return error.code.value
        return "written"

    with monkeypatch.context() as broken:
        broken.setattr(world.database, "commit", bug)
        with ThreadPoolExecutor(8) as pool:
            ends = list(pool.map(one, range(32)))
    assert "bug" in ends
    assert set(ends) <= {"bug", "LEDGER_UNAVAILABLE"}
    assert world.states() == []


def test_kill_nine_loses_no_acknowledged_attempt(tmp_path: Path) -> None:
    """After kill -9 every step that was acknowledged is in the file; the attempt under way is unknown; sums fit."""
    folder = tmp_path / "world"
    child = Path(__file__).with_name("ledger_child.py")
    draw = random.Random(5)
    said: dict[str, str] = {}
    for _ in range(100 if SOAK else 4):
        process = subprocess.Popen([sys.executable, str(child), str(folder)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for _ in range(draw.randrange(1, 40)):
            state, _, key = process.stdout.readline().strip().partition(" ")
            said[key] = state
        process.kill()
        for line in process.communicate()[0].splitlines():
            state, _, key = line.partition(" ")
            if len(key) == 27:  # the last line may be cut off
                said[key] = state
    world = World(folder)
    world.ledger.recover()
    rows = {row.id: row for row in world.ledger.attempts()}
    for key, state in said.items():
        allowed = ("success",) if state == "success" else ("unknown", "success")
        assert rows[key].state.value in allowed
    assert world.ledger.days() == folded(list(rows.values()))
    assert {row.state.value for row in rows.values()} <= {"unknown", "success"}
    world.databases.close()
