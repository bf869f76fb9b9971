"""Lets calls through until it is shut, and shutting waits for those inside."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

from mcsystem.errors import AssistantError, ErrorCode


class Gate:
    """Open from the beginning; shut once and for all."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._shut: ErrorCode | None = None

    @contextmanager
    def enter(self) -> Generator[None, None, None]:
        """Be inside for the length of a `with` block.

        Errors: the code it was shut with.
        """
        with self._changed:
            if self._shut is not None:
                raise AssistantError(self._shut)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                if not self._inside:
                    self._changed.notify_all()

    def shut(self, code: ErrorCode) -> None:
        """Refuse further calls with `code`, and return when none is inside."""
        with self._changed:
            self._shut = self._shut or code
            self._changed.wait_for(lambda: not self._inside)
