"""`mcsystem play` at the end of a pipe and on a terminal, and an extension of one's own."""

import os
import pty
import re
import select
import subprocess
import threading
import time

from loopback import Loopback, Reply
from stranger import PROGRAM, Machine, wait_until

QUESTION = "how do I claim land"


def test_lines_from_a_pipe(library: Machine) -> None:
    """Issue 2, step 1: piped lines are answered one by one, in the language of each, without colours."""
    typed = f"/question {QUESTION}\n\n/qestion\n/help\n提问 怎么圈领地\n"
    result = library.ok("play", lang="", typed=typed, env={"MCSYSTEM_LANG": "en_us"})
    places = [result.out.find(words) for words in ("golden shovel", "no command /qestion", "/question TEXT", "金锹")]
    assert -1 not in places
    assert places == sorted(places)
    assert "\x1b" not in result.out
    assert result.err == ""


def test_options_are_pressed_by_number(library: Machine) -> None:
    """Decisions, words: plain words give options; a number presses its option, another presses none."""
    result = library.ok("play", typed=f"{QUESTION}\n1\n")
    assert result.out.index("1. ") < result.out.index("golden shovel")
    other = library.ok("play", typed=f"{QUESTION}\n7\n")
    assert "golden shovel" not in other.out


def test_opening_and_closing_a_source(library: Machine) -> None:
    """UI-02: opening a source shows its passage and address, locally; an unknown number says so."""
    result = library.ok("play", typed=f"/question {QUESTION}\n/open 1\n/close 1\n/open 99\n")
    assert result.out.count("https://example.org/claims") == 1
    assert result.out.index("golden shovel") < result.out.index("https://example.org/claims")


def test_a_demo_world_is_played_without_setting_up(machine: Machine) -> None:
    """Issue 2, step 1: with nothing at all, both example questions are answered from the demo's documents."""
    typed = f"/question {QUESTION}\n提问 怎么领地\n"
    result = machine.ok("play", lang="", typed=typed, env={"MCSYSTEM_WORLD": "", "MCSYSTEM_LANG": "en_us"})
    assert "Land claims" in result.out
    assert "领地" in result.out
    assert result.out.count("▸ [1]") == 2


def test_nothing_typed(library: Machine) -> None:
    """Issue 2, step 1: an empty pipe ends well."""
    assert library.ok("play").code == 0


def test_an_invalid_line_does_not_end_the_console(library: Machine) -> None:
    """Issue 2, bad input: control characters, overrides and endless lines are lines like others; the rest goes on."""
    odd = ["\x07\x1b[31m", "\u202e\u2066", "/question", "/open", "/open x", "x" * 100_000, "/system trace nine"]
    result = library.ok("play", typed="\n".join([*odd, f"/question {QUESTION}"]) + "\n")
    assert "golden shovel" in result.out
    assert not set("\x07\x1b\u202e\u2066") & set(result.out)


def test_bytes_that_are_no_text(library: Machine) -> None:
    """Issue 2, bad input: a line that is not UTF-8 does not end the console."""
    process = subprocess.run(
        [PROGRAM, "play", "--lang", "en_us"],
        input=b"/question \xff\xfe\x80\n/question how do I claim land\n",
        env=library.environment(),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert process.returncode == 0
    assert b"golden shovel" in process.stdout
    assert b"Traceback" not in process.stdout + process.stderr


def terminal(machine: Machine, service: Loopback) -> tuple[str, int]:
    """Ask on a terminal, cancel while the service thinks, leave; what the screen showed and the exit code."""
    pid, screen = pty.fork()
    if pid == 0:  # pragma: no cover - the child becomes the program
        environ = {**machine.environment(), "PROMPT_TOOLKIT_NO_CPR": "1"}
        os.execve(PROGRAM, [PROGRAM, "play", "--lang", "en_us"], environ)  # noqa: S606 - a terminal needs exec
    shown: list[str] = []

    def until(words: str) -> None:
        deadline = time.monotonic() + 40
        while words not in "".join(shown):
            assert time.monotonic() < deadline, (words, "".join(shown)[-2000:])
            if select.select([screen], [], [], 0.1)[0]:
                shown.append(os.read(screen, 65536).decode("utf-8", "replace"))

    try:
        until("›")
        os.write(screen, f"/question {QUESTION}\r".encode())
        until("ooking")
        wait_until(lambda: service.asked, "the request")
        os.write(screen, b"/cancel\r")
        until("Stopped")
        os.write(screen, b"/quit\r")
        deadline = time.monotonic() + 40
        while (ended := os.waitpid(pid, os.WNOHANG)) == (0, 0):
            assert time.monotonic() < deadline
            if select.select([screen], [], [], 0.05)[0]:
                try:
                    shown.append(os.read(screen, 65536).decode("utf-8", "replace"))
                except OSError:
                    continue
        return "".join(shown), os.waitstatus_to_exitcode(ended[1])
    finally:
        os.close(screen)


def test_looking_and_cancelling_on_a_terminal(connected: Machine, service: Loopback) -> None:
    """QA-18: 'looking...' appears at once, /cancel stops the request and closes its connection."""
    service.reply = Reply(b"", wait=threading.Event())
    screen, code = terminal(connected, service)
    assert code == 0
    assert service.broken.wait(5)
    assert "Use a golden shovel" not in screen
    assert "Traceback" not in screen


def test_an_extension_of_ones_own(library: Machine) -> None:
    """MOD-08: `mcsystem new` writes a working extension; its command answers; a second one overwrites nothing."""
    library.ok("new", "lanterns")
    paths = [path for path in library.config.rglob("*lanterns*") if path.suffix == ".py"]
    assert len(paths) == 1
    command = re.findall(r"/lanterns", library.ok("say", "/help", "--permission", "4").out)
    assert command
    assert library.run("say", "/lanterns", "--json").object()["status"] in {"answered", "material", "nothing"}
    before = paths[0].read_bytes()
    again = library.run("new", "lanterns")
    assert (again.code, len(again.err.splitlines())) == (1, 1)
    assert paths[0].read_bytes() == before


def test_a_broken_extension_is_left_out(library: Machine) -> None:
    """Decisions, extensions: one that fails is disabled by name; everything else goes on."""
    library.write("server/config/system/extensions/broken.py", "def setup(registry):\n    raise ValueError('no')\n")
    library.write(
        "server/config/system/extensions/future.py", "MCSYSTEM_API = 99\n\n\ndef setup(registry):\n    pass\n"
    )
    assert library.ask(QUESTION)["status"] == "material"
    said = library.run("doctor", "--offline").out
    assert "broken" in said
    assert "future" in said
