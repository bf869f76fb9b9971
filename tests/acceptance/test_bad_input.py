"""What people and files send by mistake: one clear sentence, the right exit code, nothing lost, no traceback."""

import pytest
from stranger import Machine

QUESTION = "how do I claim land"
LONG = "claim " * 16_667


@pytest.mark.parametrize(("lang", "words", "text"), [("en_us", "empty", ""), ("zh_cn", "空", "  \t ")])
def test_an_empty_question(library: Machine, lang: str, words: str, text: str) -> None:
    """Issue 2, bad input: an empty question is a notice that shows how to ask, exit code 3."""
    card = library.ask(text, lang=lang, code=3)
    assert (card["status"], card["code"]) == ("notice", "REQUEST_EMPTY")
    assert words in card["text"]


@pytest.mark.parametrize("lang", ["en_us", "zh_cn"])
def test_a_very_long_question(library: Machine, lang: str) -> None:
    """Issue 2, bad input: 100,000 characters are refused with the limit; the question itself is not repeated."""
    card = library.ask(LONG, lang=lang, code=3)
    assert (card["status"], card["code"]) == ("notice", "REQUEST_TOO_LONG")
    assert "1000" in card["text"]
    assert len(card["text"]) < 200


def test_the_limit_is_the_limit(library: Machine) -> None:
    """docs/settings.md, questionCharacters: a thousand characters are read, one more is not, and is counted right."""
    text = "how do I claim land" + " please" * 200
    assert library.ask(text[:1000])["status"] == "material"
    card = library.ask(text[:1001].replace(" ple", " PLE"), code=3)
    assert "1001" in card["text"]


@pytest.mark.parametrize("code", ["klingon!", "../../etc", "中文"])
def test_an_unknown_language_code(library: Machine, code: str) -> None:
    """Issue 2, bad input: a wrong language code is one sentence that shows right ones, exit code 1."""
    result = library.run("ask", QUESTION, "--json", lang=code)
    assert result.code == 1
    assert result.object()["code"] == "LANGUAGE_UNKNOWN"
    assert "zh_cn" in result.object()["text"]


def test_a_language_code_in_another_spelling(library: Machine) -> None:
    """QA-02: a code written with capitals and a dash, as systems write it, means the same language."""
    assert library.ask("怎么圈领地", lang="zh-CN")["status"] == "material"


@pytest.mark.parametrize(
    "text",
    [
        "how do I\x07 claim\x7f land",
        "\u202ehow do I claim land",
        "how do I \u2066claim\u2069 \u200bland",
        "how\ndo I\r\nclaim land",
    ],
    ids=["control", "override", "isolates", "lines"],
)
def test_characters_nobody_can_see(library: Machine, text: str) -> None:
    """Issue 2, bad input: control characters and right-to-left overrides are cleaned away; the question is answered."""
    result = library.ok("ask", text, "--json")
    assert result.object()["sources"][0]["document"] == "claims.md"
    assert not set("\x07\x7f\u202e\u2066\u2069\u200b") & set(result.out)


def test_hidden_characters_in_documents(machine: Machine) -> None:
    """Issue 2, bad input: escape sequences and overrides in a document never reach the terminal."""
    machine.write(
        "docs/evil.md", "# Bridge \x1b[31m\u202e\n\nThe bridge\x07 to the castle \x1b]0;title\x07 is \u202eopen.\n"
    )
    machine.run("knowledge", "import", "docs")
    for words in (("ask", "is the bridge to the castle open"), ("knowledge", "list"), ("knowledge", "show", "evil.md")):
        result = machine.run(*words)
        assert not set("\x1b\x07\u202e") & set(result.said), words


def test_a_file_name_that_is_hostile(machine: Machine) -> None:
    """Issue 2, bad input: a file name with escape sequences is not sent to the terminal as such."""
    machine.write("docs/a\x1b[31mred.md", "# Bridge\n\nThe bridge is open.\n")
    machine.write("docs/good.md", "# Tower\n\nThe tower is closed.\n")
    imported = machine.run("knowledge", "import", "docs")
    assert "\x1b" not in imported.said
    assert "\x1b" not in machine.run("knowledge", "list").out
    assert machine.ask("is the tower closed")["sources"][0]["document"] == "good.md"


@pytest.mark.parametrize(
    ("player", "words"),
    [
        ("bad name!", ("ask", QUESTION)),
        ("x" * 40, ("knowledge", "list")),
        ("../../escape", ("knowledge", "import", "docs")),
        ("", ("ask", QUESTION)),
    ],
    ids=["blank-inside", "long", "path", "empty"],
)
def test_a_player_that_cannot_be(library: Machine, player: str, words: tuple[str, ...]) -> None:
    """DB-02, DB-05, issue 2: a name that is no player's is one sentence, exit code 1; nothing is written anywhere."""
    before, shared = library.players(), library.shared.read_bytes()
    result = library.run(*words, "--player", player)
    assert library.shared.read_bytes() == shared
    assert (result.code, result.out, len(result.err.splitlines())) == (1, "", 1), result
    assert library.players() == before


def test_a_player_by_uuid_is_the_same_player(library: Machine) -> None:
    """DB-04: --player takes the UUID, too, in either spelling, and finds the same file."""
    uuid = library.players()[0].stem
    for spelling in (uuid, uuid.upper(), uuid.replace("-", "")):
        card = library.ask("where is the secret base", "--player", spelling)
        assert card["sources"][0]["scope"] == "player"


@pytest.mark.parametrize("words", [("ask",), ("knowledge", "search", "x", "--limit", "0")])
def test_a_command_written_wrongly(library: Machine, words: tuple[str, ...]) -> None:
    """docs/commands.md: a command that is written wrongly leaves exit code 2 and says how it is used."""
    result = library.run(*words, lang="")
    assert (result.code, result.out) == (2, "")
    assert "--help" in result.err or "Usage" in result.err


def test_the_language_option_wins(library: Machine) -> None:
    """Issue 2, step 1: `--lang` says in which language this question is asked, whatever was chosen before."""
    library.ok("say", "/system language zh_cn")
    assert library.ask(QUESTION, lang="en_us")["status"] == "material"
    assert library.ask("怎么圈领地", lang="zh_cn")["status"] == "material"


def test_a_world_that_is_a_file(machine: Machine) -> None:
    """Issue 2, bad input: a file in the place of the world is one sentence; the file stays."""
    machine.write("server/world", "mine")
    machine.write("docs/good.md", "# Tower\n\nThe tower is closed.\n")
    for words in (("ask", QUESTION), ("knowledge", "import", "docs")):
        result = machine.run(*words)
        assert (result.code, result.out, len(result.err.splitlines())) == (1, "", 1), words
    assert machine.world.read_text() == "mine"
