"""`ask` and `say`: one path with the game's own, exit codes and one JSON shape for scripts."""

import json
from pathlib import Path

import pytest
from machine import Commands

from mcsystem.storage import Databases

KEYS = {
    "status", "code", "module", "origin", "answered_by", "title", "text", "sources", "options", "calls", "cost",
    "currency",
    "tokens",
}  # fmt: skip


def test_an_answer_is_exit_code_0_and_shows_its_closed_source(lighthouse: Commands) -> None:
    """People see title, answer, closed sources and the badge; `--full` opens the sources."""
    done = lighthouse("ask", "when", "is the lighthouse open")
    assert (done.code, done.err) == (0, "")
    assert "▸ [1] harbour.md › Lighthouse (harbour.md)" in done.out
    assert done.out.endswith("local · 0 calls · 0\n")
    assert "▾ [1]" in lighthouse("ask", "--full", "when is the lighthouse open").out


def test_json_is_one_object_of_the_promised_shape(lighthouse: Commands) -> None:
    """The shape for scripts, with the document's path below the imported folder."""
    done = lighthouse("ask", "when is the lighthouse open", "--json")
    answer = json.loads(done.out)
    assert done.code == 0
    assert set(answer) == KEYS
    assert (answer["status"], answer["code"], answer["module"]) == ("material", None, "system:question")
    assert (answer["origin"], answer["answered_by"]) == ("explicit", "local")
    assert answer["calls"] == {"model": 0, "search": 0, "fetch": 0}
    (source,) = answer["sources"]
    assert (source["n"], source["scope"], source["document"], source["url"]) == (1, "shared", "harbour.md", None)


@pytest.mark.parametrize(
    ("arguments", "code", "status", "error"),
    [
        (("ask", "qqq zzz"), 3, "nothing", None),
        (("ask", ""), 3, "notice", "REQUEST_EMPTY"),
        (("ask", " \t\n\x00\u202e "), 3, "notice", "REQUEST_EMPTY"),
        (("ask", "x" * 100_000), 3, "notice", "REQUEST_TOO_LONG"),
        (("ask", "x", "--lang", "english"), 1, "error", "LANGUAGE_UNKNOWN"),
        (("ask", "x", "--player", "../etc"), 1, "error", "PLAYER_UNKNOWN"),
        (("ask", "x", "--world", "nowhere"), 1, "error", "WORLD_NOT_FOUND"),
        (("ask", "when is the lighthouse open", "--lang", "fr_fr"), 3, "nothing", None),
        (("say", "the lighthouse"), 4, "options", None),
        (("say", "/nonsense"), 3, "notice", "REQUEST_UNKNOWN_COMMAND"),
        (("say", "/help"), 0, "answered", None),
        (("say", "/system reload"), 3, "notice", "PERMISSION_DENIED"),
        (("say", "/question when is the lighthouse open"), 0, "material", None),
    ],
)
def test_each_outcome_has_its_exit_code(
    lighthouse: Commands, arguments: tuple[str, ...], code: int, status: str, error: str | None
) -> None:
    """0 answer, 3 nothing or notice, 4 options, 1 error; the JSON says the same, in an object of one shape."""
    done = lighthouse(*arguments, "--json")
    answer = json.loads(done.out)
    assert (done.code, answer["status"], answer["code"]) == (code, status, error)
    assert set(answer) == KEYS
    assert "Traceback" not in done.err
    assert bool(done.err) == (code == 1)


def test_errors_are_one_sentence_in_the_language_asked_for(lighthouse: Commands) -> None:
    """On standard error, nothing on standard output, in both languages."""
    english = lighthouse("ask", "x", "--world", "nowhere")
    assert english.out == ""
    assert english.err.count("\n") == 1
    assert "There is no world folder" in english.err
    assert "没有世界文件夹" in lighthouse("ask", "x", "--world", "nowhere", "--lang", "zh_cn").err
    assert "没有世界文件夹" in lighthouse("ask", "x", "--world", "nowhere", LANG="zh_CN.UTF-8").err


def test_a_file_in_place_of_the_world_is_said(lighthouse: Commands) -> None:
    """Commands that would make a world do not take a file for one."""
    (lighthouse.folder / "file").write_text("x")
    lighthouse.docs(a__md="# A\n\nText.")
    for command in (("ask", "x"), ("knowledge", "import", "docs", "--lang", "en_us"), ("play",), ("db", "import", "x")):
        done = lighthouse(*command, "--world", "file")
        assert (done.code, done.err.count("\n"), "no world folder" in done.err) == (1, 1, True), command


def test_a_pipe_gets_whole_lines(lighthouse: Commands) -> None:
    """What goes into another program is not broken to any width."""
    lighthouse.learn("long.md", "# Beacon\n\nThe beacon " + "burns and " * 40 + "shines.")
    assert max(map(len, lighthouse("ask", "what does the beacon do").out.splitlines())) > 200


def test_reading_takes_no_lock_and_writes_nothing_into_the_world(lighthouse: Commands) -> None:
    """A question is answered while another process holds the world, and leaves no file in it."""
    held = Databases.open(lighthouse.world, write=True)
    before = sorted(lighthouse.world.rglob("*"))
    try:
        assert lighthouse("ask", "when is the lighthouse open").code == 0
    finally:
        held.close()
    assert sorted(lighthouse.world.rglob("*")) == before


def test_the_audience_is_the_players(lighthouse: Commands) -> None:
    """A document for level 2 is found with the permission alone, from ops.json or given."""
    lighthouse.learn("staff.md", "# Tickets\n\nTickets about griefing are handled within one day.", audience="2")
    question = ("ask", "how are griefing tickets handled")
    assert lighthouse(*question).code == 3
    assert lighthouse(*question, "--permission", "2").code == 0
    (lighthouse.folder / "server.properties").write_text("level-name=world")
    ops = [{"uuid": "069a79f4-44e9-4726-a5be-fca90e38aaf5", "level": 3}]
    (lighthouse.folder / "ops.json").write_text(json.dumps(ops))
    assert lighthouse(*question, "--player", "069a79f444e94726a5befca90e38aaf5").code == 0
    assert lighthouse(*question, "--player", "Alex").code == 3


def test_the_demo_world_is_there_when_nothing_else_is_named(mcsystem: Commands) -> None:
    """The first question on a bare machine is answered, in both languages; what was asked for is not mixed."""
    assert mcsystem("ask", "how do I claim land").code == 0
    assert "land-claims.md" in mcsystem("ask", "怎么领地", "--lang", "zh_cn").out
    assert mcsystem("ask", "怎么领地", "--lang", "en_us").code == 3
    assert (mcsystem.folder / ".local/share/mcsystem/demo/world/system/database/shared.dat").is_file()


def test_hostile_documents_reach_no_terminal_raw(lighthouse: Commands) -> None:
    """Terminal codes, direction and colour codes of a document come out of no command, as text or as JSON."""
    bad = "\x1b]0;owned\x07\x1b[2J§4\u202eevil\u2066 [bold]lighthouse keeper[/bold]"
    lighthouse.learn("keeper.md", f"# {bad}\n\nThe {bad} sleeps at noon.", title=bad)
    for command in (
        ("ask", "--full", "where does the lighthouse keeper sleep"),
        ("ask", "--json", "where does the lighthouse keeper sleep"),
        ("knowledge", "list"),
        ("knowledge", "show", "keeper.md"),
        ("knowledge", "show", "keeper.md", "--json"),
        ("knowledge", "search", "lighthouse keeper", "--json"),
        ("db", "export"),
        ("db", "show", "system:knowledge"),
    ):
        done = lighthouse(*command)
        assert done.code == 0, command
        assert not {"\x1b", "\x07", "\u202e", "\u2066"} & set(done.out + done.err), command
        assert "[bold]" in done.out or command[0] == "db"


def test_a_damaged_database_is_an_error_and_stays_as_it_is(lighthouse: Commands) -> None:
    """QA-07: never 'nothing found'; the file keeps every byte."""
    path = lighthouse.world / "system" / "database" / "shared.dat"
    path.write_bytes(b"not a database")
    done = lighthouse("ask", "when is the lighthouse open", "--json")
    assert (done.code, json.loads(done.out)["code"]) == (1, "STORAGE_CORRUPT")
    assert path.read_bytes() == b"not a database"


def test_a_model_that_cannot_be_written_down_leaves_the_passages(lighthouse: Commands, tmp_path: Path) -> None:
    """With a key set and the world held by somebody who takes no orders, what reads still works."""
    lighthouse.environ["SYSTEM_DEEPSEEK_API_KEY"] = "sk-test"
    config = tmp_path / "config" / "system"
    config.mkdir(parents=True, exist_ok=True)
    (config / "system-agent.json").write_text(json.dumps({"model": {"baseUrl": "http://127.0.0.1:9/v1"}}))
    done = lighthouse("ask", "when is the lighthouse open", "--json")
    answer = json.loads(done.out)
    assert (done.code, answer["status"], answer["code"]) == (0, "material", "MODEL_UNAVAILABLE")
    assert answer["sources"]
    assert "sk-test" not in done.out + done.err


def test_an_empty_player_name_is_nobody(lighthouse: Commands) -> None:
    """An unset variable in a script must not publish private documents under the default account."""
    done = lighthouse("ask", "where is the light", "--player", "")
    assert done.code == 1
    assert "not a player name" in done.err
