"""One scope in one file: read once, kept as rows, rewritten whole by one writer that takes along all who wait."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage.atomic import UnknownOutcomeError, delete_file, drop_tmp, read_file, replace_file
from mcsystem.storage.backend import Committed, TableChange
from mcsystem.storage.content import read_content
from mcsystem.storage.rows import Draft, FileSnapshot, build_tables


class FileMark(NamedTuple):
    """Tells one state of a file from another without reading it."""

    inode: int
    size: int
    changed: int


class Ticket:
    """One commit that waits for its turn.

    Attributes:
        outcome: set once; an error concerns this commit or all those written with it.
    """

    __slots__ = ("changes", "expect", "outcome")

    def __init__(self, changes: Sequence[TableChange], expect: int | None) -> None:
        self.changes = changes
        self.expect = expect
        self.outcome: Committed | AssistantError | None = None


class ScopeFile:
    """The rows of one file.

    Args:
        path: the file; nothing is made before the first write.
        write: whether this process holds the world; else the file is looked at anew on each use.
        next_revision: gives numbers that only grow.
    """

    def __init__(self, path: Path, *, write: bool, next_revision: Callable[[], int]) -> None:
        self.path = path
        self._write = write
        self._next_revision = next_revision
        self._queue: deque[Ticket] = deque()
        self._writer = threading.Lock()  # held while the file is read or written, and while `_state` changes
        self._state: FileSnapshot | AssistantError | None = None
        self._mark: FileMark | None = None

    def snapshot(self) -> FileSnapshot:
        """The published rows, read from the file at the first use.

        Errors: STORAGE_CORRUPT, STORAGE_NEWER_FORMAT, STORAGE_READ_FAILED.
        """
        state = self._state
        if isinstance(state, FileSnapshot) and self._write:
            return state
        with self._writer:
            return self._load()

    def commit(self, changes: Sequence[TableChange], expect: int | None) -> Committed:
        """See `StorageBackend.commit`. Commits that wait while a write runs share the next one."""
        ticket = Ticket(changes, expect)
        self._queue.append(ticket)
        with self._writer:
            if ticket.outcome is None:
                self._write_all()
        if isinstance(ticket.outcome, Committed):
            return ticket.outcome
        raise ticket.outcome or self._failure("interrupted")

    def delete(self) -> None:
        """Remove the file and its `.tmp` without looking into them.

        Errors: STORAGE_WRITE_FAILED, STORAGE_READ_ONLY.
        """
        with self._writer:
            self._state = None
            delete_file(self.path)

    def wait(self) -> None:
        """Return when no write runs."""
        with self._writer:
            return

    def _load(self) -> FileSnapshot:
        state, mark = self._state, None
        if not (self._write and isinstance(state, FileSnapshot)):
            mark = file_mark(self.path)
            if state is None or mark != self._mark:
                state = self._state = self._read()
                self._mark = mark
        if isinstance(state, AssistantError):
            raise AssistantError(state.code, **state.details)
        return state

    def _read(self) -> FileSnapshot | AssistantError:
        """Read the file. What does not decode is remembered until the file is another one."""
        if self._write:
            drop_tmp(self.path)
        raw = read_file(self.path)
        revision = self._next_revision()
        if raw is None:
            return FileSnapshot(revision, revision)
        try:
            content = read_content(raw)
        except AssistantError as error:
            return AssistantError(error.code, file=str(self.path), **error.details)
        return FileSnapshot(revision, revision, content.extra, build_tables(content.tables))

    def _write_all(self) -> None:
        """Write every waiting commit at once; each ticket has its outcome afterwards, whatever happens."""
        tickets: list[Ticket] = []
        while self._queue:
            tickets.append(self._queue.popleft())
        try:
            self._write_batch(tickets)
        except AssistantError as error:
            for ticket in tickets:
                ticket.outcome = AssistantError(error.code, **error.details)
        finally:
            if any(ticket.outcome is None for ticket in tickets):  # a bug or a KeyboardInterrupt: believe only the disk
                self._state = None
                for ticket in tickets:
                    ticket.outcome = self._failure("interrupted")

    def _write_batch(self, tickets: Sequence[Ticket]) -> None:
        draft = Draft(self._load())
        outcomes = [self._apply(draft, ticket) for ticket in tickets]
        if any(isinstance(outcome, Committed) and outcome.changed for outcome in outcomes):
            snapshot = draft.finish()
            try:
                replace_file(self.path, snapshot.file_bytes())
            except UnknownOutcomeError as error:
                self._state = None
                raise self._failure("outcome unknown") from error
            self._state = snapshot
        for ticket, outcome in zip(tickets, outcomes, strict=True):
            ticket.outcome = outcome

    def _apply(self, draft: Draft, ticket: Ticket) -> Committed | AssistantError:
        if ticket.expect is not None and ticket.expect != draft.revision:
            return AssistantError(ErrorCode.STORAGE_CONFLICT, expected=ticket.expect, revision=draft.revision)
        try:
            changed = draft.apply(ticket.changes, self._next_revision())
        except AssistantError as error:
            return AssistantError(error.code, file=str(self.path), **error.details)
        return Committed(draft.revision, changed)

    def _failure(self, reason: str) -> AssistantError:
        return AssistantError(ErrorCode.STORAGE_WRITE_FAILED, file=str(self.path), reason=reason)


def file_mark(path: Path) -> FileMark | None:
    """The mark of the file at `path`; None when there is none or it cannot be seen."""
    try:
        found = path.stat(follow_symlinks=False)
    except OSError:
        return None
    return FileMark(found.st_ino, found.st_size, found.st_mtime_ns)
