"""`mcsystem new` writes an extension that works as it stands."""

import subprocess
import sys
from pathlib import Path

import pytest


def run(tmp_path: Path, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mcsystem", *arguments, "--world", str(tmp_path / "world")],
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        input=typed,
        timeout=60,
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": "", "MCSYSTEM_LANG": "en_us"},
    )


def test_the_written_extension_answers_its_command(tmp_path: Path) -> None:
    """MOD-08: from nothing to a working command in two steps."""
    done = run(tmp_path, "new", "notes")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "config" / "system" / "extensions" / "notes.py").exists()
    played = run(tmp_path, "play", typed="/notes\n/help\n")
    assert "Your notes" in played.stdout
    assert "Nothing here yet." in played.stdout


def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    """A second run with the same name leaves the file and says what to do."""
    path = tmp_path / "config" / "system" / "extensions" / "notes.py"
    path.parent.mkdir(parents=True)
    path.write_text("mine", encoding="utf-8")
    done = run(tmp_path, "new", "notes")
    assert (done.returncode, path.read_text(encoding="utf-8")) == (1, "mine")
    assert "was not touched" in done.stderr


@pytest.mark.parametrize("name", ["Bad Name", "../evil", "1st", "x", "名字"])
def test_a_bad_name_is_refused(tmp_path: Path, name: str) -> None:
    """A name that could not be an ID or a file is refused with the rule."""
    done = run(tmp_path, "new", name)
    assert done.returncode == 1
    assert "lower-case" in done.stderr
    assert not (tmp_path / "config").exists()
