"""What happened in the last requests, step by step, without a word of anybody's text."""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Final

KEPT: Final = 200


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what ran, when (ms since the request began), how long (ms), and its code when it failed."""

    name: str
    at: float
    took: float
    code: str = ""


@dataclass(slots=True)
class Trace:
    """One request: its number, module, origin, host and steps."""

    number: int
    host: str
    started: float
    module: str = ""
    origin: str = ""
    steps: list[Step] = field(default_factory=list[Step])
    took: float = 0.0
    code: str = ""

    def lines(self) -> list[str]:
        """The trace as an indented tree, for admins."""
        head = f"#{self.number} {self.module or '-'} {self.origin or '-'} {self.host} {self.took:.1f} ms {self.code}"
        rows = [f"  {step.at:8.1f} ms  {step.name}  {step.took:.1f} ms {step.code}".rstrip() for step in self.steps]
        return [head.rstrip(), *rows]


class Traces:
    """The last requests, newest last; safe from any thread."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._numbers = count(1)
        self._kept: deque[Trace] = deque(maxlen=KEPT)
        self._lock = threading.Lock()

    def begin(self, host: str) -> Trace:
        """Start the trace of a new request."""
        with self._lock:
            trace = Trace(next(self._numbers), host, self.clock())
            self._kept.append(trace)
        return trace

    def step(self, trace: Trace, name: str, since: float, code: str = "") -> None:
        """Add a step that began at `since` (clock seconds) and ends now."""
        now = self.clock()
        trace.steps.append(Step(name, (since - trace.started) * 1000, (now - since) * 1000, code))

    def end(self, trace: Trace, code: str) -> None:
        """Close the trace with the card's code."""
        trace.took, trace.code = (self.clock() - trace.started) * 1000, code

    def find(self, number: int | None) -> Trace | None:
        """The trace of that number, the newest without one; None when it is no longer kept."""
        with self._lock:
            kept = list(self._kept)
        if number is None:
            return kept[-1] if kept else None
        return next((trace for trace in kept if trace.number == number), None)
