"""One world, several processes: who may write, who is told to wait, and worlds that cannot be written at all."""

import os
import subprocess

import pytest
from loopback import PASSAGE, Loopback
from stranger import KEY_NAME, Console, Machine, finish

QUESTION = "how do I claim land"
GATE = "# Gate\n\nThe iron gate is closed at night.\n"
MOUNTS = (
    os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode == 0
)


@pytest.fixture
def playing(library: Machine) -> Console:
    """A console that holds the library's world."""
    console = Console(library, "--player", "Steve")
    console.say("/question " + QUESTION, "golden shovel")
    return console


def test_writing_beside_a_running_console(library: Machine, playing: Console) -> None:
    """DB-24 and decisions: an import and a removal go through to the process that holds the world, which shows them."""
    library.write("new/gate.md", GATE)
    with playing:
        library.ok("knowledge", "import", "new")
        assert library.ask("when is the iron gate closed")["sources"][0]["document"] == "gate.md"
        assert "closed at night" in playing.say("/question when is the iron gate closed", "gate.md")
        library.ok("knowledge", "remove", "gate.md")
        assert "closed at night" not in playing.say("/question when is the iron gate closed", "nothing on this")
        assert playing.leave() == 0


def test_preferences_beside_a_running_console(library: Machine, playing: Console) -> None:
    """Decisions, world lock: `say` writes through the holder, too; the holder's own player is not touched."""
    with playing:
        library.ok("say", "/system language zh_cn", "--player", "Alex")
        assert any("a" <= letter <= "z" for letter in playing.say("/help", "/question TEXT"))
    assert "提问 问题" in library.ok("say", "/help", "--player", "Alex", lang="").out


def test_a_database_import_beside_a_running_console(library: Machine, playing: Console) -> None:
    """DB-24: an export taken while the world is held goes back in, and the holder sees it."""
    with playing:
        library.ok("db", "export", "all.json")
        library.ok("knowledge", "remove", "claims.md")
        playing.say("/question " + QUESTION, "nothing on this")
        library.ok("db", "import", "all.json")
        playing.say("/question " + QUESTION, "golden shovel")


def test_reading_beside_a_running_console(library: Machine, playing: Console) -> None:
    """Decisions, world lock: reading commands take no lock and answer while the world is held."""
    with playing:
        commands = (
            ("ask", QUESTION),
            ("knowledge", "list"),
            ("knowledge", "search", "claim land"),
            ("db", "list"),
            ("db", "verify"),
            ("db", "export"),
        )
        started = [library.start(*words) for words in commands]
        assert [finish(process).code for process in started] == [0] * len(commands)


def test_a_second_console_is_told_who_holds_the_world(library: Machine, playing: Console) -> None:
    """DB-24: a second holder is refused with one sentence that names the process, in both languages."""
    with playing:
        english, chinese = library.start("play"), library.start("play", lang="zh_cn")
        for result, words in ((finish(english), "in use by process"), (finish(chinese), "使用")):
            assert (result.code, result.out, len(result.err.splitlines())) == (1, "", 1)
            assert words in result.err
            assert str(playing.process.pid) in result.err
        assert "golden shovel" in playing.say("/question " + QUESTION, "golden shovel")


def test_a_dead_holder_is_no_holder(library: Machine, playing: Console) -> None:
    """DB-24: the lock of a process that was killed is taken over at once."""
    library.write("new/gate.md", GATE)
    with playing:
        playing.die()
    library.ok("knowledge", "import", "new")
    with Console(library) as again:
        again.say("/question when is the iron gate closed", "closed at night")


def test_two_imports_at_once_both_go_in(library: Machine) -> None:
    """DB-24: of two short commands the second waits; nothing of either is lost."""
    for name in ("north", "south", "west"):
        library.write(f"{name}/{name}.md", f"# {name} gate\n\nThe {name} gate is closed at night.\n")
    started = [library.start("knowledge", "import", name) for name in ("north", "south", "west")]
    assert [finish(process).code for process in started] == [0, 0, 0]
    names = {row["document"] for row in library.ok("knowledge", "list", "--json").array()}
    assert {"north.md", "south.md", "west.md", "claims.md"} <= names


def test_an_import_killed_half_way_changes_nothing(library: Machine) -> None:
    """DB-20: a process killed at any moment leaves the old file or the new one, and the next command works."""
    for n in range(300):
        library.write(f"many/{n}.md", f"# Lantern {n}\n\nLantern number {n} hangs over gate number {n}.\n" * 20)
    for delay in (0.5, 0.8):
        process = library.start("knowledge", "import", "many")
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            process.kill()
        finish(process)
        assert len(library.ok("knowledge", "list", "--json").array()) in {3, 303}
    assert library.run("db", "verify").code == 0


@pytest.mark.skipif(not MOUNTS, reason="a read-only mount needs root and mount namespaces")
def test_a_world_on_a_read_only_disk(library: Machine) -> None:
    """Issue 2, bad input: reading works, writing is one sentence with what to do, the files stay."""
    library.write("new/gate.md", GATE)
    before = library.shared.read_bytes()
    library.read_only = library.world
    assert library.ask(QUESTION)["sources"][0]["document"] == "claims.md"
    for words in (("knowledge", "import", "new"), ("knowledge", "remove", "claims.md"), ("db", "verify")):
        result = library.run(*words)
        assert result.code == (0 if words[0] == "db" else 1), result
        if result.code:
            assert (result.out, len(result.err.splitlines())) == ("", 1), result
            assert "read-only" in result.err
    assert library.shared.read_bytes() == before
    chinese = library.run("knowledge", "import", "new", lang="zh_cn")
    assert (chinese.code, "不能写入" in chinese.err) == (1, True)


@pytest.mark.skipif(not MOUNTS, reason="a read-only mount needs root and mount namespaces")
def test_a_whole_server_on_a_read_only_disk(library: Machine) -> None:
    """CFG-01 and issue 2: when not even the settings can be written, questions are answered with the defaults."""
    library.read_only = library.world.parent
    assert PASSAGE in library.ask(QUESTION)["text"]
    result = library.run("doctor", "--offline", "--json")
    assert result.code == 1
    world = next(row for row in result.array() if row["name"] == "world")
    assert world["level"] == "error"
    assert world["fix"]


@pytest.mark.skipif(not MOUNTS, reason="a read-only mount needs root and mount namespaces")
def test_no_call_without_a_ledger(connected: Machine, service: Loopback) -> None:
    """USE-02: on a read-only disk calls cannot be counted, so none is made; the passages stay."""
    connected.read_only = connected.world
    card = connected.ask(QUESTION)
    assert PASSAGE in card["text"]
    assert card["calls"]["model"] == 0
    assert service.connections == 0
    assert connected.environ[KEY_NAME] not in str(card)


@pytest.mark.skipif(not MOUNTS, reason="a read-only mount needs root and mount namespaces")
def test_playing_on_a_read_only_disk(library: Machine) -> None:
    """Issue 2, bad input: the console of a world that cannot be written answers, or says why in one sentence."""
    library.read_only = library.world
    result = library.run("play", typed=f"/question {QUESTION}\n")
    assert "golden shovel" in result.out or (result.code == 1 and "read-only" in result.err)
