"""The files below a world: `mcsystem db`, damaged files, and what must never be replaced."""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from stranger import Machine

QUESTION = "how do I claim land"
DAMAGED = {
    "text": b"this is not a database\n",
    "empty": b"",
}


def tables(machine: Machine, *options: str) -> dict[tuple[str, str], int]:
    """What `db list` shows."""
    rows = machine.ok("db", "list", "--json", *options).array()
    return {(row["scope"], row["table"]): row["values"] for row in rows}


def export(machine: Machine, *options: str) -> dict[str, Any]:
    """Everything as JSON."""
    return machine.ok("db", "export", *options).object()


def test_where_the_files_lie(library: Machine) -> None:
    """DB-02 and DB-04: one shared file, one for the player who has something, compressed as the standard says."""
    assert library.shared.read_bytes()[:2] == b"\x1f\x8b"
    assert [path.suffix for path in library.players()] == [".dat"]
    uuid = library.players()[0].stem
    assert [len(part) for part in uuid.split("-")] == [8, 4, 4, 4, 12]


def test_list_tables(library: Machine) -> None:
    """DB-26: list names tables and counts of the whole world, or of one player."""
    uuid = library.players()[0].stem
    everything = tables(library)
    assert everything["shared", "system:knowledge"] == 4
    assert everything[uuid, "system:knowledge"] == 1
    assert {scope for scope, _ in tables(library, "--player", "Alex")} == {uuid}
    assert tables(library, "--player", "Steve") == {}


def test_show_one_value(library: Machine) -> None:
    """DB-26: show prints the keys of a table, then one value as JSON."""
    keys: list[Any] = list(library.ok("db", "show", "system:knowledge", "--json").array())
    key = next(key for key in keys if "claims.md" in key)
    assert "golden shovel" in json.dumps(json.loads(library.ok("db", "show", "system:knowledge", key, "--json").out))


@pytest.mark.parametrize("words", [("system:nothing",), ("system:knowledge", "no-such-key")])
def test_show_what_is_not_there(library: Machine, words: tuple[str, ...]) -> None:
    """DB-26: a table or key that is not there is one sentence that names it, exit code 1."""
    result = library.run("db", "show", *words)
    assert (result.code, result.out, len(result.err.splitlines())) == (1, "", 1)
    assert words[-1] in result.err


def test_verify_good_files(library: Machine) -> None:
    """DB-26: verify reads every file and leaves exit code 0 when all decode."""
    rows = library.ok("db", "verify", "--json").array()
    assert len(rows) == 2
    assert all(row["ok"] and row["code"] is None for row in rows)


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_stays_byte_for_byte(library: Machine, damage: bytes) -> None:
    """DB-17 and QA-07: every use of a damaged file is an error that names it; nothing replaces it."""
    library.shared.write_bytes(damage)
    library.write("new/gate.md", "# Gate\n\nThe gate is closed at night.\n")
    uses = (
        ("ask", QUESTION),
        ("knowledge", "import", "new"),
        ("knowledge", "remove", "claims.md"),
        ("db", "export"),
    )
    for words in uses if damage else uses[:2]:
        result = library.run(*words)
        assert (result.code, result.out, len(result.err.splitlines())) == (1, "", 1), words
        assert str(library.shared) in result.err
    assert library.shared.read_bytes() == damage
    assert not list(library.shared.parent.glob("*.tmp"))


def test_verify_a_damaged_file(library: Machine) -> None:
    """DB-26: verify names the damaged file, goes on with the others, leaves exit code 1 and changes nothing."""
    damage = library.shared.read_bytes()[:-9]
    library.shared.write_bytes(damage)
    result = library.run("db", "verify", "--json")
    assert result.code == 1
    assert {row["file"]: row["ok"] for row in result.array()} == {
        str(library.shared): False,
        str(library.players()[0]): True,
    }
    assert library.run("db", "verify").code == 1
    assert library.shared.read_bytes() == damage


def test_a_damaged_player_file_hurts_that_player_only(library: Machine) -> None:
    """DB-05 and DB-17: one player's damaged file is that player's error; others are answered."""
    own = library.players()[0]
    own.write_bytes(b"garbage")
    card = library.ask(QUESTION, "--player", "Alex", code=1)
    assert (card["status"], card["code"], card["sources"]) == ("error", "STORAGE_CORRUPT", [])
    assert library.ask(QUESTION, "--player", "Steve")["status"] == "material"
    assert own.read_bytes() == b"garbage"


def test_a_damaged_file_is_explained_in_chinese(library: Machine) -> None:
    """DB-17 and issue 2: the same error in the admin's language, with what to do."""
    library.shared.write_bytes(b"garbage")
    result = library.run("ask", "怎么圈领地", lang="zh_cn")
    assert result.code == 1
    assert "备份" in result.err
    assert "cannot" not in result.err


def test_erasing_works_on_a_damaged_file(library: Machine) -> None:
    """DB-07: revoke deletes the player's file and its .tmp without decoding it; shared data stays."""
    own = library.players()[0]
    own.write_bytes(b"garbage")
    own.with_name(own.name + ".tmp").write_bytes(b"half")
    shared = library.shared.read_bytes()
    library.ok("play", "--player", "Steve", typed="/system revoke\n1\n")
    assert own.read_bytes() == b"garbage"
    library.ok("play", "--player", "Alex", typed="/system revoke\n1\n")
    assert library.players() == []
    assert library.shared.read_bytes() == shared


def test_a_left_over_half_file_is_not_data(library: Machine) -> None:
    """DB-20: a .tmp beside a database is never read, even when the database itself is missing."""
    library.shared.rename(library.shared.with_name("shared.dat.tmp"))
    assert library.ask(QUESTION, code=3)["sources"] == []


def test_an_uncompressed_file_is_read(library: Machine) -> None:
    """DB-15: an uncompressed file is read as it is; the next save writes the compressed form."""
    library.shared.write_bytes(gzip.decompress(library.shared.read_bytes()))
    assert library.ask(QUESTION)["sources"][0]["document"] == "claims.md"
    library.ok("knowledge", "remove", "faq.csv")
    assert library.shared.read_bytes()[:2] == b"\x1f\x8b"
    assert library.ask(QUESTION)["sources"][0]["document"] == "claims.md"


def test_a_root_with_a_name_is_read(library: Machine) -> None:
    """DB-15: the older header, a root with a name, is read too."""
    plain = gzip.decompress(library.shared.read_bytes())
    assert plain[:3] == b"\x0a\x00\x00"
    library.shared.write_bytes(gzip.compress(b"\x0a\x00\x04data" + plain[3:]))
    assert library.ask(QUESTION)["sources"][0]["document"] == "claims.md"


def test_export_and_import_into_another_world(library: Machine) -> None:
    """DB-26: what was exported goes into an empty world and answers there, players' data included."""
    everything = export(library)
    library.ok("db", "export", "all.json")
    other = ("--world", str(library.folder / "other"))
    library.ok("db", "import", "all.json", *other)
    assert export(library, *other) == everything
    assert library.ask("where is the secret base", "--player", "Alex", *other)["sources"][0]["scope"] == "player"


def test_export_of_one_player_has_nobody_elses(library: Machine) -> None:
    """DB-05 and DB-26: one player's export holds that player's data alone."""
    mine = library.ok("db", "export", "--player", "Alex").out
    assert "windmill" in mine
    assert "golden shovel" not in mine
    assert "windmill" not in library.ok("db", "export", "--player", "Steve").out


def test_import_leaves_other_tables(library: Machine) -> None:
    """DB-26: tables that the file does not name stay as they are."""
    everything = export(library)
    del everything["scopes"]["shared"]["tables"]["system:knowledge"]
    library.write("part.json", json.dumps(everything))
    library.ok("db", "import", "part.json")
    assert library.ask(QUESTION)["sources"][0]["document"] == "claims.md"


@pytest.mark.parametrize(
    "content",
    [b'{"x": ', b'{"x": 1}', b'{"format": "mcsystem-world", "version": 1, "scopes": 5}', None],
    ids=["syntax", "other", "shape", "missing"],
)
def test_a_wrong_export_changes_nothing(library: Machine, content: bytes | None) -> None:
    """DB-26 and issue 2: a file that is no export is one sentence naming it, exit code 1, and nothing changes."""
    path = library.folder / "wrong.json"
    if content is not None:
        path.write_bytes(content)
    before = library.shared.read_bytes()
    result = library.run("db", "import", "wrong.json")
    assert (result.code, result.out, len(result.err.splitlines())) == (1, "", 1)
    assert library.shared.read_bytes() == before
    assert "wrong.json" in result.err


def test_a_half_wrong_export_changes_nothing(library: Machine) -> None:
    """DB-26: a database is taken over whole or not at all."""
    everything = export(library)
    rows = everything["scopes"]["shared"]["tables"]["system:knowledge"]
    everything["scopes"]["shared"]["tables"] = {"system:knowledge": {**rows, "en_us/x/bad.md": ["no-such-kind", 1]}}
    library.write("half.json", json.dumps(everything))
    before = library.shared.read_bytes()
    result = library.run("db", "import", "half.json")
    assert (result.code, len(result.err.splitlines())) == (1, 1)
    assert library.shared.read_bytes() == before


def test_a_wrong_export_is_explained_in_chinese(library: Machine) -> None:
    """Issue 2, bad input: the sentence is in the admin's language, without English left in it."""
    library.write("wrong.json", '{"x": 1}')
    result = library.run("db", "import", "wrong.json", lang="zh_cn")
    assert result.code == 1
    assert "not an exported" not in result.err


def test_a_database_that_is_a_folder(library: Machine) -> None:
    """Issue 2, bad input: a folder where the file belongs is an error of that file; verify and import say so too."""
    library.shared.unlink()
    library.shared.mkdir()
    inside = library.shared / "mine.txt"
    inside.write_text("keep me")
    library.write("new/gate.md", "# Gate\n\nThe gate is closed at night.\n")
    for words in (("ask", QUESTION), ("knowledge", "import", "new")):
        result = library.run(*words)
        assert (result.code, result.out, len(result.err.splitlines())) == (1, "", 1)
        assert str(library.shared) in result.err
    assert library.run("db", "verify").code == 1
    assert inside.read_text() == "keep me"
    chinese = library.run("ask", "怎么圈领地", lang="zh_cn")
    assert "无法读取" in chinese.err
    assert "folder" not in chinese.err


def test_a_world_that_is_not_there(machine: Machine) -> None:
    """Issue 2, bad input: a world that is not there is one sentence; reading creates nothing."""
    for words in (("ask", QUESTION), ("db", "verify")):
        result = machine.run(*words)
        assert (result.code, result.out, len(result.err.splitlines())) == (1, "", 1), words
        assert str(machine.world) in result.err
    assert not machine.world.exists()


def test_two_worlds_share_nothing(library: Machine, tmp_path: Path) -> None:
    """DB-01: what one world knows another does not, and a copied world knows the same."""
    other = tmp_path / "other"
    other.mkdir()
    assert library.ask(QUESTION, "--world", str(other), code=3)["sources"] == []
    copied = tmp_path / "copied"
    shutil.copytree(library.world, copied)
    assert library.ask(QUESTION, "--world", str(copied))["sources"][0]["document"] == "claims.md"
