"""Backup and restore: nothing is touched before all is checked, and a failure in the middle is taken back."""

import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from mcsystem.backup import MANIFEST, Belongings, backup, restore
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage import Databases, Table

NOTES = Table("t:notes", str)
SHARED = "database/shared.dat"


def belongings(folder: Path) -> Belongings:
    world = folder / "world"
    return Belongings(world, folder / "config" / "system", world / "data" / "system" / "token_usage.dat")


def fill(folder: Path, value: str) -> Belongings:
    mine = belongings(folder)
    databases = Databases.open(mine.world, write=True)
    databases.shared().put(NOTES, "k", value)
    databases.file(mine.ledger, "token_usage").put(NOTES, "k", value)
    databases.close()
    mine.config.mkdir(parents=True, exist_ok=True)
    (mine.config / "system-agent.json").write_text("{}", encoding="utf-8")
    (mine.config / "extensions").mkdir(exist_ok=True)
    (mine.config / "extensions" / "mine.py").write_text("raise SystemExit", encoding="utf-8")
    return mine


def values(mine: Belongings) -> list[str | None]:
    databases = Databases.open(mine.world, write=False)
    try:
        return [databases.shared().get(NOTES, "k"), databases.file(mine.ledger, "token_usage").get(NOTES, "k")]
    finally:
        databases.close()


def forged(path: Path, name: str, content: bytes, *, size: int) -> Path:
    entry = {"name": name, "size": size, "digest": hashlib.blake2b(content, digest_size=32).hexdigest()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, json.dumps({"format": 1, "files": [entry]}))
        archive.writestr(name, content)
    return path


def test_everything_comes_back_and_code_stays_out(tmp_path: Path) -> None:
    """KN-02: databases, ledger and settings return; extensions are code and are not part of a backup."""
    backup(fill(tmp_path / "old", "one"), tmp_path / "b.zip")
    fresh = belongings(tmp_path / "new")
    fresh.world.mkdir(parents=True)
    restore(fresh, tmp_path / "b.zip")
    assert values(fresh) == ["one", "one"]
    assert (fresh.config / "system-agent.json").exists()
    assert not (fresh.config / "extensions").exists()
    assert not (fresh.world / "system" / "restoring").exists()


def test_a_failure_in_the_middle_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fails half-way through the exchange leaves the world as it was."""
    backup(fill(tmp_path / "old", "one"), tmp_path / "b.zip")
    mine = fill(tmp_path / "new", "two")
    real, moves = Path.replace, [0]

    def failing(self: Path, target: Path) -> Path:
        if "restoring" in self.parts:
            moves[0] += 1
            if moves[0] == 2:
                raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(AssistantError) as caught:
        restore(mine, tmp_path / "b.zip")
    assert caught.value.code is ErrorCode.STORAGE_WRITE_FAILED
    monkeypatch.undo()
    assert values(mine) == ["two", "two"]


@pytest.mark.parametrize("size", [-2, 5, 2**62])
def test_a_lying_size_reads_no_bomb(tmp_path: Path, size: int) -> None:
    """A size that is not the file's is refused without unpacking more than it says."""
    mine = fill(tmp_path / "new", "two")
    bomb = forged(tmp_path / "b.zip", SHARED, b"\0" * 50_000_000, size=size)
    with pytest.raises(AssistantError) as caught:
        restore(mine, bomb)
    assert caught.value.code is ErrorCode.STORAGE_CORRUPT
    assert values(mine) == ["two", "two"]


@pytest.mark.parametrize("name", ["config/extensions/x.py", "config/../x.json", "database/../../x", "/etc/x", "x"])
def test_names_lead_nowhere_else(tmp_path: Path, name: str) -> None:
    """A name outside the known places, or of code, refuses the whole backup."""
    mine = fill(tmp_path / "new", "two")
    with pytest.raises(AssistantError) as caught:
        restore(mine, forged(tmp_path / "b.zip", name, b"x", size=1))
    assert caught.value.code is ErrorCode.STORAGE_CORRUPT


@pytest.mark.parametrize("cut", [0, 1, 30, 200, 500])
def test_a_damaged_backup_is_refused_in_our_words(tmp_path: Path, cut: int) -> None:
    """Bytes flipped or cut anywhere: a clear refusal, the world untouched."""
    backup(fill(tmp_path / "old", "one"), tmp_path / "b.zip")
    content = bytearray((tmp_path / "b.zip").read_bytes())
    mine = fill(tmp_path / "new", "two")
    for damaged in (bytes(content[:cut]), bytes(content[:cut] + b"\xff" * 20 + content[cut + 20 :])):
        (tmp_path / "d.zip").write_bytes(damaged)
        with pytest.raises(AssistantError) as caught:
            restore(mine, tmp_path / "d.zip")
        assert caught.value.code in {ErrorCode.STORAGE_CORRUPT, ErrorCode.STORAGE_READ_FAILED}
    assert values(mine) == ["two", "two"]
