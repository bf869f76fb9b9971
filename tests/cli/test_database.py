"""`mcsystem db`, `backup` and `restore`: look inside, check every file, take everything out and bring it back."""

import hashlib
import json
import zipfile
from pathlib import Path

import pytest
from machine import Commands

from mcsystem.backup import MANIFEST
from mcsystem.ids import offline_uuid


def test_tables_and_values_are_shown(lighthouse: Commands) -> None:
    """Every scope's tables with their number of values; keys of one; one value with the kind of each part."""
    lighthouse("say", "/system history on", "--player", "Alex")
    rows = json.loads(lighthouse("db", "list", "--json").out)
    assert {"scope": "shared", "table": "system:knowledge", "values": 1} in rows
    assert {"scope": str(offline_uuid("Alex")), "table": "system:preferences", "values": 1} in rows
    assert json.loads(lighthouse("db", "list", "--player", "Alex", "--json").out) == [rows[1]]
    key = lighthouse("db", "show", "system:knowledge").out.strip()
    assert key == "en_us/test/harbour.md"
    kind, content = json.loads(lighthouse("db", "show", "system:knowledge", key).out)
    assert (kind, content["title"]) == ("compound", ["string", "harbour.md"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "none:such"), "There is: system:knowledge"),
        (("show", "system:knowledge", "none"), "has no value none"),
        (("import", "missing.json"), "missing.json"),
        (("export", "no/such/folder/x.json"), "could not be written"),
        (("list", "--player", "a/b"), "not a player name"),
    ],
)
def test_what_is_not_there_is_said_in_one_sentence(lighthouse: Commands, arguments: tuple[str, ...], said: str) -> None:
    """Exit code 1 and what there is instead."""
    done = lighthouse("db", *arguments)
    assert (done.code, done.out) == (1, "")
    assert said in done.err


def test_every_file_is_verified(lighthouse: Commands) -> None:
    """Exit code 1 as soon as one file does not decode, the usage ledger included; nothing is changed."""
    assert lighthouse("db", "verify").code == 0
    player = lighthouse.world / "system" / "database" / "players" / f"{offline_uuid('Alex')}.dat"
    player.parent.mkdir(exist_ok=True)
    player.write_bytes(b"\x1f\x8b broken")
    done = lighthouse("db", "verify", "--json")
    assert done.code == 1
    assert [one["ok"] for one in json.loads(done.out)].count(False) == 1
    assert player.read_bytes() == b"\x1f\x8b broken"
    player.unlink()
    ledger = lighthouse.world / "data" / "system" / "token_usage.dat"
    ledger.parent.mkdir(parents=True)
    ledger.write_bytes(b"x")
    assert "token_usage.dat" in lighthouse("db", "verify").out
    assert lighthouse("db", "verify").code == 1


def test_an_export_brought_back_is_the_same(lighthouse: Commands) -> None:
    """The whole world, or one player's database, out and into another world."""
    lighthouse("say", "/system history on", "--player", "Alex")
    lighthouse("db", "export", "all.json")
    done = lighthouse("db", "import", "all.json", "--json", MCSYSTEM_WORLD="copy")
    assert done.code == 0
    exported = json.loads(lighthouse("db", "export").out)
    assert exported == json.loads(lighthouse("db", "export", MCSYSTEM_WORLD="copy").out)
    assert lighthouse("ask", "when is the lighthouse open", MCSYSTEM_WORLD="copy").code == 0
    lighthouse("db", "export", "alex.json", "--player", "Alex")
    assert lighthouse("db", "import", "alex.json", "--player", "Steve").code == 0
    assert "system:preferences" in lighthouse("db", "list", "--player", "Steve").out


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"format": "mcsystem-world", "version": 9}', "[" * 50_000, "\udcff"]
)
def test_what_is_no_export_changes_nothing(lighthouse: Commands, content: str) -> None:
    """One sentence, exit code 1, everything as before."""
    (lighthouse.folder / "x.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    before = lighthouse("db", "export").out
    done = lighthouse("db", "import", "x.json")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "$" + "{" not in done.err
    assert lighthouse("db", "export").out == before


def test_a_backup_restores_a_world(lighthouse: Commands) -> None:
    """Databases, ledger and config in one file, checked before anything is touched; what was there is set aside."""
    lighthouse("say", "/system history on", "--player", "Alex")
    (lighthouse.folder / "config" / "system" / "prompts").mkdir()
    (lighthouse.folder / "config" / "system" / "prompts" / "own.txt").write_text("mine")
    assert lighthouse("backup", "b.zip").code == 0
    assert lighthouse("restore", "b.zip", "--world", "new/world").code == 0
    assert (lighthouse.folder / "new" / "config" / "system" / "prompts" / "own.txt").read_text() == "mine"
    assert lighthouse("ask", "when is the lighthouse open", "--world", "new/world").code == 0
    lighthouse.learn("more.md", "# More\n\nThe lantern burns whale oil.")
    refused = lighthouse("restore", "b.zip")
    assert (refused.code, "--force" in refused.err) == (1, True)
    assert lighthouse("restore", "b.zip", "--force").code == 0
    assert lighthouse("ask", "what does the lantern burn").code == 3
    aside = lighthouse.world / "system" / "before-restore" / "1" / "database" / "shared.dat"
    assert aside.is_file()


def rewritten(source: Path, target: Path, change: dict[str, bytes]) -> None:
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in {*old.namelist(), *change}:
            new.writestr(name, change[name] if name in change else old.read(name))


@pytest.mark.parametrize("kind", ["text", "cut", "changed", "escaping", "newer", "missing", "manifest"])
def test_a_damaged_or_hostile_backup_touches_nothing(lighthouse: Commands, kind: str) -> None:
    """A wrong digest, a name that leads out, a newer format, no zip at all: refused whole."""
    lighthouse("backup", "b.zip")
    good, bad = lighthouse.folder / "b.zip", lighthouse.folder / "bad.zip"
    digest = hashlib.blake2b(b"x", digest_size=32).hexdigest()
    entry = {"name": "config/../../evil", "size": 1, "digest": digest}
    match kind:
        case "text":
            bad.write_text("hello")
        case "cut":
            bad.write_bytes(good.read_bytes()[:-40])
        case "changed":
            with zipfile.ZipFile(good) as archive:
                content = archive.read("database/shared.dat")
            rewritten(good, bad, {"database/shared.dat": content[:-1] + bytes([content[-1] ^ 1])})
        case "escaping":
            manifest = json.dumps({"format": 1, "files": [entry]}).encode()
            rewritten(good, bad, {MANIFEST: manifest, "config/../../evil": b"x"})
        case "newer":
            rewritten(good, bad, {MANIFEST: b'{"format": 2, "files": []}'})
        case "manifest":
            rewritten(good, bad, {MANIFEST: b"{"})
        case _:
            pass
    done = lighthouse("restore", "bad.zip", "--world", "fresh")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert not (lighthouse.folder / "fresh").exists()
    assert not (lighthouse.folder / "evil").exists()
