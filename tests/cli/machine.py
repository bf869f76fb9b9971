"""A user's machine: commands run in this process, or as real programs, in a home and world of their own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mcsystem.cli import run
from mcsystem.cli.shell import Shell
from mcsystem.resources import Texts
from mcsystem.testing import Play


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str


@dataclass
class Commands:
    """A user's machine: an empty home, no server, no world.

    Attributes:
        folder: everything lies below it.
        capture: pytest's capture of standard output and error.
        environ: environment variables.
    """

    folder: Path
    capture: "pytest.CaptureFixture[str]"
    environ: dict[str, str] = field(default_factory=dict[str, str])

    def __call__(self, *arguments: str, **environ: str) -> Done:
        """Run a command in this process."""
        self.capture.readouterr()
        shell = Shell({"HOME": str(self.folder), **self.environ, **environ}, self.folder, Texts.packaged())
        code = run(shell, list(arguments))
        out, err = self.capture.readouterr()
        return Done(code, out, err)

    def program(self, *arguments: str, text: str | bytes = "", environ: Mapping[str, str] | None = None) -> Done:
        """Run a command as a real program with `text` on its standard input."""
        given = {"HOME": str(self.folder), "PATH": os.environ["PATH"], **self.environ, **(environ or {})}
        raw = text.encode() if isinstance(text, str) else text
        done = subprocess.run(
            [sys.executable, "-m", "mcsystem", *arguments],
            input=raw, capture_output=True, check=False, cwd=self.folder, env=given, timeout=60,
        )  # fmt: skip
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    @property
    def world(self) -> Path:
        """A world with nothing but what tests put there."""
        return self.folder / "world"

    def learn(self, name: str, text: str, **more: Any) -> None:
        """Put one document into the world's shared knowledge."""
        Play(self.folder).learn(name, text, **more)

    def docs(self, **files: str) -> Path:
        """A folder of documents; `__` in a name is a dot."""
        folder = self.folder / "docs"
        folder.mkdir(exist_ok=True)
        for name, text in files.items():
            (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
        return folder
