"""The interactive console on a real terminal: answers above the prompt, history, completion, Ctrl-C and Ctrl-D."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

SECONDS = 30.0
CODES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[=>()][0-9A-B]?)")


@dataclass
class Terminal:
    """A program on a terminal of its own."""

    process: "subprocess.Popen[bytes]"
    handle: int
    text: str = ""

    def type(self, text: str) -> None:
        os.write(self.handle, text.encode())

    def wait_for(self, wanted: str) -> str:
        """Read until `wanted` is there; returns what came up to it, the rest is kept for the next wait."""
        until = time.monotonic() + SECONDS
        while wanted not in self.text:
            ready, _, _ = select.select([self.handle], [], [], max(0.0, until - time.monotonic()))
            assert ready, f"{wanted!r} did not come; there was {self.text[-2000:]!r}"
            try:
                raw = os.read(self.handle, 65_536)
            except OSError:
                raw = b""
            assert raw, f"the program ended before {wanted!r}: {self.text[-2000:]!r}"
            if b"\x1b[6n" in raw:
                os.write(self.handle, b"\x1b[1;1R")  # a terminal says where its cursor is
            self.text = CODES.sub("", self.text + raw.decode("utf-8", "replace"))
        before, _, self.text = self.text.partition(wanted)
        return before

    def end(self, key: str = "") -> int:
        """The exit code; `key` is pressed again as a person would, since one pressed while a card is drawn is lost."""
        until = time.monotonic() + SECONDS
        again = time.monotonic()
        while self.process.poll() is None and time.monotonic() < until:
            if key and time.monotonic() >= again:
                again += 1
                self.type(key)
            ready, _, _ = select.select([self.handle], [], [], 0.1)
            if ready:
                try:
                    os.read(self.handle, 65_536)
                except OSError:
                    break
        return self.process.wait(SECONDS)


@pytest.fixture
def terminal(tmp_path: Path) -> Generator[Terminal]:
    """`mcsystem play` in a new world, in a new home."""
    ours, theirs = pty.openpty()
    environ = {
        "HOME": str(tmp_path), "PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8",
        "COLUMNS": "100", "LINES": "30",
    }  # fmt: skip
    command = [sys.executable, "-m", "mcsystem", "play", "--player", "Alex", "--world", str(tmp_path / "world")]
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environ, cwd=tmp_path, start_new_session=True
    )
    os.close(theirs)
    yield Terminal(process, ours)
    process.kill()
    process.wait()
    os.close(ours)


def test_a_whole_session_at_a_terminal(terminal: Terminal, tmp_path: Path) -> None:
    """Greeting, an answer, its source, the history by the up key, Ctrl-C, completion, and Ctrl-D with exit code 0."""
    terminal.wait_for("Three things to try:")
    terminal.wait_for("Alex ›")
    terminal.type("/question how do I claim land\r")
    answer = terminal.wait_for("local · 0 calls · 0")
    assert "▸ [1] Land claims" in answer
    assert "▾" not in answer
    terminal.type("/open 1\r")
    terminal.wait_for("▾ [1] Land claims")
    terminal.type("/sys")
    terminal.wait_for("forget what was said so far")
    terminal.type("\x03")
    time.sleep(0.3)
    terminal.type("\x03")
    terminal.wait_for("Nothing is running. Ctrl-D leaves.")
    terminal.type("\x1b[A\x1b[A\r")
    terminal.wait_for("local · 0 calls · 0")
    assert terminal.end("\x04") == 0
    history = tmp_path / "world" / "system" / "console_history.txt"
    assert "+/question how do I claim land" in history.read_text(encoding="utf-8")
    assert history.stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "world" / "system" / "control.json").exists()


def test_the_system_may_end_it_in_good_order(terminal: Terminal, tmp_path: Path) -> None:
    """SIGTERM closes the world and takes the control file away."""
    terminal.wait_for("Alex ›")
    assert (tmp_path / "world" / "system" / "control.json").exists()
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.end() == 130
    assert not (tmp_path / "world" / "system" / "control.json").exists()
