"""`mcsystem knowledge`: folders in, progress and problems, lists, scores, removal; beside a running server too."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from machine import Commands

from mcsystem.storage import Databases

PAIRS = '[{"question": "Where is the harbour?", "answer": "South of the spawn."}]'


def test_a_folder_goes_in_and_only_what_changed_goes_in_again(mcsystem: Commands) -> None:
    """New, changed, removed and unchanged documents are counted; the world is made where it was missing."""
    docs = mcsystem.docs(a__md="# A\n\nApples grow here.", b__txt="Bananas do not.", faq__json=PAIRS)
    world = ("--world", "world")
    done = mcsystem("knowledge", "import", str(docs), "--lang", "en_us", *world)
    assert done.code == 0
    assert "3 new, 0 changed, 0 removed, 0 unchanged" in done.out
    mcsystem.docs(a__md="# A\n\nApples and pears grow here.")
    (docs / "b.txt").unlink()
    done = mcsystem("knowledge", "import", str(docs), "--lang", "en_us", "--json", *world)
    report = json.loads(done.out)
    assert (report["added"], report["changed"], report["removed"], report["unchanged"]) == (0, 1, 1, 1)
    assert mcsystem("ask", "where do pears grow", *world).code == 0
    assert mcsystem("ask", "do bananas grow", *world).code == 3


def test_problems_name_file_and_line_while_the_rest_goes_in(mcsystem: Commands) -> None:
    """`file:line: sentence` on standard error, exit code 0 as long as something went in."""
    docs = mcsystem.docs(
        good__md="# Good\n\nText.", bad__md="---\ntitle: x\nno pair here\n---\ntext", faq__json='[{"question": 5}]'
    )
    (docs / "binary.md").write_bytes(bytes(range(256)))
    done = mcsystem("knowledge", "import", str(docs), "--lang", "en_us", "--world", "world")
    assert done.code == 0
    lines = done.err.splitlines()
    assert any(line.startswith("bad.md:3: ") for line in lines)
    assert any(line.startswith("faq.json:1: ") for line in lines)
    assert any(line.startswith("binary.md: ") for line in lines)
    chinese = mcsystem("knowledge", "import", str(docs), "--lang", "zh_cn", "--world", "world")
    assert "没有导入" in chinese.out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("missing", "--lang", "en_us"), 1, "missing"),
        (("docs/a.md", "--lang", "en_us"), 1, "a.md"),
        (("docs", "--lang", "english"), 1, "not a language code"),
        (("docs",), 2, "--lang"),
        (("docs", "--lang", "en_us", "--player", "a/b"), 1, "not a player name"),
        (("--lang", "en_us"), 2, "DIR"),
        (("docs", "--lang", "en_us", "--wath"), 2, "--wath"),
    ],
)
def test_mistakes_are_one_sentence(mcsystem: Commands, arguments: tuple[str, ...], code: int, said: str) -> None:
    """Exit code 1 for what is wrong, 2 for how it was written; no traceback, nothing on standard output."""
    mcsystem.docs(a__md="# A\n\nText.")
    done = mcsystem("knowledge", "import", *arguments, "--world", "world")
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_nothing_imported_is_exit_code_1(mcsystem: Commands) -> None:
    """Where every file is wrong, scripts learn it."""
    docs = mcsystem.docs(a__json="[", b__csv="")
    assert mcsystem("knowledge", "import", str(docs), "--lang", "en_us", "--world", "world").code == 1


def test_a_players_own_documents_are_theirs(mcsystem: Commands) -> None:
    """`--player` imports into and lists from that player's own database."""
    docs = mcsystem.docs(home__md="# My base\n\nThe base is under the old oak.")
    world = ("--world", "world")
    assert mcsystem("knowledge", "import", str(docs), "--lang", "en_us", "--player", "Alex", *world).code == 0
    assert mcsystem("ask", "where is my base", "--player", "Alex", *world).code == 0
    assert mcsystem("ask", "where is my base", "--player", "Steve", *world).code == 3
    assert json.loads(mcsystem("knowledge", "list", "--json", *world).out) == []
    (row,) = json.loads(mcsystem("knowledge", "list", "--json", "--player", "Alex", *world).out)
    assert row["document"] == "home.md"


def test_search_shows_scores_and_what_counts(lighthouse: Commands) -> None:
    """The promised shape, best first; words that match little are listed and are no hit."""
    lighthouse.learn("shop.md", "# Shop\n\nThe shop at the harbour sells rope, and much else of all kinds for sailors.")
    found = json.loads(lighthouse("knowledge", "search", "lighthouse at the harbour", "--json").out)
    assert [one["document"] for one in found] == ["harbour.md", "shop.md"]
    assert set(found[0]) >= {"document", "title", "score", "hit", "text"}
    assert found[0]["hit"] is True
    assert found[0]["score"] > found[1]["score"]
    assert json.loads(lighthouse("knowledge", "search", "zzz", "--json").out) == []
    none = lighthouse("knowledge", "search", "zzz", "--lang", "zh_cn")
    assert (none.code, "en_us" in none.out) == (0, True)
    assert lighthouse("knowledge", "search", " ").code == 1
    assert lighthouse("knowledge", "search", "lighthouse").out.startswith("✔ ")


def test_documents_are_listed_shown_and_removed(lighthouse: Commands) -> None:
    """By their path below the imported folder; what is not there is said."""
    (row,) = json.loads(lighthouse("knowledge", "list", "--json").out)
    assert (row["document"], row["language"], row["audience"], row["kind"]) == (
        "harbour.md",
        "en_us",
        "all",
        "document",
    )
    assert "open from dusk" in lighthouse("knowledge", "show", "harbour.md").out
    assert json.loads(lighthouse("knowledge", "show", "harbour.md", "--json").out)[0]["text"].startswith("# Lighthouse")
    assert lighthouse("knowledge", "show", "nothing.md").code == 1
    done = lighthouse("knowledge", "remove", "harbour.md", "--json")
    assert json.loads(done.out) == {"document": "harbour.md", "language": "en_us", "removed": 1}
    assert lighthouse("knowledge", "remove", "harbour.md").code == 1
    assert lighthouse("ask", "when is the lighthouse open").code == 3


def test_a_document_can_be_edited_and_added(lighthouse: Commands) -> None:
    """KN-02: another text, title or audience for one document; nothing else of it changes, nothing is doubled."""
    (lighthouse.folder / "new.md").write_text("# Lighthouse\n\nThe lighthouse is closed for repairs.", encoding="utf-8")
    assert "Replaced" in lighthouse("knowledge", "put", "harbour.md", "new.md").out
    (row,) = json.loads(lighthouse("knowledge", "list", "--json").out)
    assert (row["collection"], row["audience"]) == ("test", "all")
    assert "repairs" in lighthouse("ask", "is the lighthouse closed").out
    done = lighthouse("knowledge", "put", "tide.md", "new.md", "--title", "Tides", "--audience", "2", "--json")
    assert json.loads(done.out) == {"document": "tide.md", "language": "en_us", "replaced": False}
    assert json.loads(lighthouse("knowledge", "show", "tide.md", "--json").out)[0]["audience"] == "2"
    (lighthouse.folder / "binary").write_bytes(b"\xff\xfe\x00")
    for arguments in (("x.md", "binary"), ("x.md", "new.md", "--audience", "moderators!"), ("../\x1b", "new.md")):
        done = lighthouse("knowledge", "put", *arguments)
        assert (done.code, done.err.count("\n")) == (1, 1), arguments
    assert "No such file" in lighthouse("knowledge", "put", "x.md", "missing").err
    piped = lighthouse.program("knowledge", "put", "piped.md", text="The mill grinds at night.")
    assert (piped.code, lighthouse("knowledge", "remove", "piped.md").code) == (0, 0)
    assert len(json.loads(lighthouse("knowledge", "list", "--json").out)) == 2


def test_front_matter_of_a_put_text_counts(lighthouse: Commands) -> None:
    """KN-05: what a file says of its audience holds for a single document too; a mistake in it stores nothing."""
    staff = "---\ntitle: Panel\naudience: 2\n---\nThe panel opens at noon.\n"
    (lighthouse.folder / "staff.md").write_text(staff, encoding="utf-8")
    assert lighthouse("knowledge", "put", "staff.md", "staff.md").code == 0
    assert lighthouse("ask", "when does the panel open").code == 3
    assert "---" not in lighthouse("ask", "when does the panel open", "--permission", "2").out
    (lighthouse.folder / "bad.md").write_text("---\naudience: the crew, and friends\n---\nSecret.\n", encoding="utf-8")
    assert lighthouse("knowledge", "put", "bad.md", "bad.md").code == 1
    assert lighthouse("knowledge", "show", "bad.md").code == 1


def test_a_table_of_questions_is_not_replaced_by_a_text(mcsystem: Commands) -> None:
    """Its pairs belong to its file."""
    docs = mcsystem.docs(faq__json=PAIRS, a__md="text")
    world = ("--world", "world")
    mcsystem("knowledge", "import", str(docs), "--lang", "en_us", *world)
    assert mcsystem("knowledge", "put", "faq.json", str(docs / "a.md"), *world).code == 1
    assert mcsystem("ask", "where is the harbour", *world).code == 0


def test_an_imported_folder_can_be_forgotten(mcsystem: Commands) -> None:
    """`folders` names it, `forget` takes it out whole."""
    mcsystem.environ["MCSYSTEM_WORLD"] = str(mcsystem.world)
    docs = mcsystem.docs(a__md="# A\n\nText.", b__md="# B\n\nText.")
    mcsystem("knowledge", "import", str(docs), "--lang", "en_us")
    (folder,) = json.loads(mcsystem("knowledge", "folders", "--json").out)
    assert (folder["folder"], folder["language"]) == (str(docs), "en_us")
    assert "2 documents removed" in mcsystem("knowledge", "forget", folder["collection"]).out
    assert json.loads(mcsystem("knowledge", "folders", "--json").out) == []
    assert mcsystem("knowledge", "forget", folder["collection"]).code == 1


@pytest.mark.parametrize(
    "command", [("list",), ("show", "x"), ("remove", "x"), ("search", "x"), ("folders",), ("forget", "x")]
)
def test_a_world_that_is_not_there_is_not_made_by_looking(mcsystem: Commands, command: tuple[str, ...]) -> None:
    """Every command but import says that there is no world."""
    done = mcsystem("knowledge", *command, "--world", "nowhere")
    assert (done.code, "no world folder" in done.err) == (1, True)
    assert not (mcsystem.folder / "nowhere").exists()


def test_commands_reach_a_world_that_somebody_plays_in(mcsystem: Commands) -> None:
    """While a console holds the world, an import of another process goes to it and is found there at once."""
    docs = mcsystem.docs(tower__md="# Tower\n\nThe clock tower chimes at noon.", bad__json="[")
    arguments = [sys.executable, "-m", "mcsystem", "play", "--world", "world"]
    environ = {"HOME": str(mcsystem.folder), "PATH": "/usr/bin:/bin"}
    mcsystem.world.mkdir()
    play = subprocess.Popen(
        arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=mcsystem.folder,
        env=environ,
        encoding="utf-8",
    )
    assert play.stdin is not None
    assert play.stdout is not None
    try:
        play.stdin.write("/question clock tower\n")
        play.stdin.flush()
        assert "nothing on this" in play.stdout.readline()
        done = mcsystem("knowledge", "import", str(docs), "--lang", "en_us", "--json", "--world", "world")
        assert (done.code, json.loads(done.out)["added"]) == (0, 1)
        assert "bad.json" in done.err
        said = mcsystem("say", "/question when does the clock tower chime", "--json", "--world", "world")
        assert json.loads(said.out)["status"] == "material"
        out, _ = play.communicate("/question when does the clock tower chime\n", timeout=30)
        assert "tower.md" in out
        assert play.returncode == 0
    finally:
        play.kill()
        play.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are other ones there")
def test_watching_imports_again_after_a_change_and_leaves_the_world_free(mcsystem: Commands) -> None:
    """`--watch`: a new file is in the knowledge a moment later; in between others may write; Ctrl-C ends it well."""
    docs = mcsystem.docs(a__md="# A\n\nApples grow here.")
    command = [sys.executable, "-m", "mcsystem", "knowledge", "import", str(docs), "--lang", "en_us", "--watch"]
    environ = {"HOME": str(mcsystem.folder), "PATH": "/usr/bin:/bin", "MCSYSTEM_WORLD": str(mcsystem.world)}
    watch = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=mcsystem.folder, env=environ
    )
    assert watch.stdout is not None
    assert watch.stderr is not None
    try:
        assert "1 new" in watch.stdout.readline()
        assert "Watching" in watch.stderr.readline()
        Databases.open(mcsystem.world, write=True).close()
        time.sleep(1.0)
        mcsystem.docs(b__md="# B\n\nBananas grow in the greenhouse.")
        assert "1 new" in watch.stdout.readline()
        assert mcsystem("ask", "where do bananas grow", "--world", "world").code == 0
        watch.send_signal(signal.SIGINT)
        assert watch.wait(20) in {0, 130}
    finally:
        watch.kill()
        watch.communicate()


def test_a_relative_folder_is_the_callers(mcsystem: Commands) -> None:
    """Whoever does the work, the folder is looked for where the command was typed."""
    mcsystem.docs(a__md="# A\n\nText.")
    assert mcsystem("knowledge", "import", "docs", "--lang", "en_us", "--world", "world").code == 0
    assert Path(
        json.loads(mcsystem("knowledge", "folders", "--json", "--world", "world").out)[0]["folder"]
    ).is_absolute()
