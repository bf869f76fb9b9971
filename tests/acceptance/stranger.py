"""A stranger's machine: an empty home, the installed program as a real process, worlds and documents in one folder."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self, cast

PROGRAM: Final = str(Path(sys.executable).with_name("mcsystem"))
KEY_NAME: Final = "SYSTEM_DEEPSEEK_API_KEY"
KEY: Final = "sk-acceptance-7f3a91"
LIMIT: Final = 45.0  # seconds that one command may take on a busy machine
READ_ONLY: Final = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


@dataclass(frozen=True, slots=True)
class Result:
    """What one command left behind."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """Everything that a person sees."""
        return self.out + self.err

    def object(self) -> dict[str, Any]:
        """Standard output as one JSON object."""
        return cast("dict[str, Any]", json.loads(self.out))

    def array(self) -> list[dict[str, Any]]:
        """Standard output as one JSON array of objects."""
        return cast("list[dict[str, Any]]", json.loads(self.out))


@dataclass(slots=True)
class Machine:
    """One machine; `run` starts the program on it and never lets a traceback pass."""

    folder: Path
    lang: str = "en_us"
    environ: dict[str, str] = field(default_factory=dict[str, str])
    read_only: Path | None = None

    def __post_init__(self) -> None:
        for name in ("home", "config-home", "data-home", "state-home", "cache-home", "runtime"):
            (self.folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)

    @property
    def world(self) -> Path:
        """The world that commands use unless they name another one."""
        return self.folder / "server" / "world"

    @property
    def config(self) -> Path:
        """Where that world's settings lie."""
        return self.world.parent / "config" / "system"

    @property
    def shared(self) -> Path:
        """That world's shared database."""
        return self.world / "system" / "database" / "shared.dat"

    def players(self) -> list[Path]:
        """The files of that world's players."""
        return sorted((self.world / "system" / "database" / "players").glob("*"))

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """Nothing of the machine that runs the tests but its PATH."""
        xdg = {
            "XDG_CONFIG_HOME": "config-home",
            "XDG_DATA_HOME": "data-home",
            "XDG_STATE_HOME": "state-home",
            "XDG_CACHE_HOME": "cache-home",
            "XDG_RUNTIME_DIR": "runtime",
            "HOME": "home",
        }
        places = {name: str(self.folder / folder) for name, folder in xdg.items()}
        base = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm", "MCSYSTEM_WORLD": str(self.world)}
        return {**base, **places, **self.environ, **(extra or {})}

    def command(self, words: Sequence[str], lang: str | None) -> list[str]:
        """The words of the process, in a mount namespace of its own when a folder is to be read-only."""
        chosen = self.lang if lang is None else lang
        line = [PROGRAM, *words, *(("--lang", chosen) if chosen else ())]
        return line if self.read_only is None else ["unshare", "-m", "sh", "-c", READ_ONLY, str(self.read_only), *line]

    def start(
        self, *words: str, lang: str | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        """Start the program and return at once."""
        return subprocess.Popen(
            self.command(words, lang),
            cwd=self.folder,
            env=self.environment(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def run(
        self, *words: str, lang: str | None = None, env: Mapping[str, str] | None = None, typed: str = ""
    ) -> Result:
        """Run the program to its end; a traceback fails the test."""
        return finish(self.start(*words, lang=lang, env=env), typed)

    def ok(self, *words: str, lang: str | None = None, env: Mapping[str, str] | None = None, typed: str = "") -> Result:
        """As `run`, for a command that has to go well."""
        result = self.run(*words, lang=lang, env=env, typed=typed)
        assert result.code == 0, result
        return result

    def ask(self, text: str, *options: str, lang: str | None = None, code: int = 0) -> dict[str, Any]:
        """The JSON object that answers one question."""
        result = self.run("ask", text, "--json", *options, lang=lang)
        assert result.code == code, result
        return result.object()

    def write(self, name: str, text: str | bytes) -> Path:
        """A file below the machine's folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def settings(self, **sections: Any) -> Path:
        """Write system-agent.json with these sections."""
        return self.write("server/config/system/system-agent.json", json.dumps(sections))

    def copy_to(self, folder: Path) -> "Machine":
        """The same machine once more, somewhere else."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return Machine(folder, lang=self.lang, environ=dict(self.environ))


def finish(process: subprocess.Popen[str], typed: str = "") -> Result:
    """Wait for a started program."""
    try:
        out, err = process.communicate(typed, timeout=LIMIT)
    finally:
        process.kill()
    assert "Traceback" not in out + err, out + err
    return Result(process.returncode, out, err)


class Console:
    """`mcsystem play` at the end of a pipe that stays open."""

    def __init__(self, machine: Machine, *words: str, lang: str = "en_us") -> None:
        self.process = machine.start("play", *words, lang=lang)
        self.text = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join(5)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.text += line

    def say(self, line: str, expected: str) -> str:
        """Type one line and wait until the answer has these words; everything said since."""
        assert self.process.stdin is not None
        before = len(self.text)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        wait_until(lambda: expected in self.text[before:], f"{expected!r} after {line!r}", lambda: self.text[before:])
        return self.text[before:]

    def leave(self) -> int:
        """Close the pipe; the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(LIMIT)

    def die(self) -> None:
        """End without a chance to clean up, as a crash does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(LIMIT)


def wait_until(true: Any, what: str, seen: Any = None) -> None:
    """Wait until something becomes true."""
    deadline = time.monotonic() + LIMIT
    while not true():
        assert time.monotonic() < deadline, f"waited in vain for {what}: {seen() if seen else ''}"
        time.sleep(0.02)
