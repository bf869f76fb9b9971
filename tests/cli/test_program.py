"""The program as a whole: help in two languages, usage mistakes, pipes, signals, and never a traceback."""

import json
import logging
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from machine import Commands

from mcsystem.cli import asking
from mcsystem.cli.localized import localized
from mcsystem.cli.logs import WorldLog
from mcsystem.cli.program import program
from mcsystem.cli.shell import Shell, environment_language
from mcsystem.resources import Texts, packaged_texts

ROOT = Path(__file__).parent.parent.parent
CHINESE = re.compile("[\u4e00-\u9fff]")


def commands(group: click.Command, path: str = "mcsystem") -> Iterator[tuple[str, click.Command]]:
    yield path, group
    if isinstance(group, click.Group):
        for name, one in group.commands.items():
            yield from commands(one, f"{path} {name}")


ALL = dict(commands(program))


@pytest.mark.parametrize("path", list(ALL))
def test_every_command_explains_itself_in_both_languages(mcsystem: Commands, path: str) -> None:
    """Help of each command and option is a sentence, never a key, in English and in Chinese."""
    arguments = [*path.split()[1:], "--help"]
    english, chinese = mcsystem(*arguments), mcsystem(*arguments, LANG="zh_CN.UTF-8")
    assert (english.code, chinese.code) == (0, 0)
    assert "cli." not in english.out + chinese.out
    assert not CHINESE.search(english.out)
    assert chinese.out.startswith("用法：")
    assert len(CHINESE.findall(chinese.out)) > 20
    assert "$" + "{" not in english.out + chinese.out
    assert "?" not in english.out


def test_each_help_key_is_a_text() -> None:
    """No command or option without its key in the language files."""
    texts = packaged_texts()["en_us"]
    for path, command in ALL.items():
        assert command.help in texts, path
        for one in command.params:
            assert not isinstance(one, click.Option) or one.help in texts, (path, one.name)


def test_localizing_leaves_the_tree_as_it_was() -> None:
    """Two languages in one process do not mix."""
    before = [command.help for _, command in commands(program)]
    localized(program, Texts.packaged(), "zh_cn")
    assert [command.help for _, command in commands(program)] == before


@pytest.mark.parametrize("language", ["", ".zh"])
def test_every_command_is_documented_with_an_example(language: str) -> None:
    """docs/commands.md and its Chinese page show each command with all its options, and no other."""
    page = (ROOT / "docs" / f"commands{language}.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^### `(mcsystem[^`]*)`$", page, re.MULTILINE))
    leaves = {path for path, command in ALL.items() if not isinstance(command, click.Group)}
    assert shown == leaves
    for path in leaves:
        section = page.split(f"### `{path}`", 1)[1].split("\n### ", 1)[0]
        assert re.search(rf"```sh\n(?:.*\n)*?{re.escape(path)}", section), path
        for one in ALL[path].params:
            if isinstance(one, click.Option) and one.expose_value:
                assert one.opts[0] in section, (path, one.opts)
            elif isinstance(one, click.Argument):
                assert one.make_metavar(click.Context(ALL[path])).strip("[].").rstrip(".") in section, (path, one.name)


@pytest.mark.parametrize(
    ("arguments", "said", "translated"),
    [
        (("askk", "x"), "did you mean ask?", "是不是想用 ask"),
        (("qqqqqq",), 'no command "qqqqqq"', "没有命令"),
        (("ask",), "Something is missing: TEXT", "缺少 TEXT"),
        (("ask", "x", "--nope"), "no option --nope", "没有选项 --nope"),
        (("ask", "x", "--permission", "9"), "--permission", "--permission"),
        (("knowledge", "serch", "x"), "did you mean search?", "是不是想用 search"),
        (("db", "export", "a", "b"), "mcsystem db export --help", "mcsystem db export --help"),
    ],
)
def test_usage_mistakes_are_one_sentence_and_exit_code_2(
    mcsystem: Commands, arguments: tuple[str, ...], said: str, translated: str
) -> None:
    """What was wrong, the nearest right one, and where help stands, in both languages."""
    done, chinese = mcsystem(*arguments), mcsystem(*arguments, MCSYSTEM_LANG="zh_cn")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert said in done.err
    assert translated in chinese.err


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en_us"),
        ({"LANG": "zh_CN.UTF-8"}, "zh_cn"),
        ({"LANG": "zh_TW"}, "zh_cn"),
        ({"LANG": "de_DE.UTF-8"}, "en_us"),
        ({"LANG": "C.UTF-8"}, "en_us"),
        ({"LANG": "zh_CN", "LC_ALL": "en_US.UTF-8"}, "en_us"),
        ({"LANG": "zh_CN", "MCSYSTEM_LANG": "fr_fr"}, "fr_fr"),
        ({"MCSYSTEM_LANG": "nonsense"}, "en_us"),
    ],
)
def test_the_language_follows_the_environment(environ: dict[str, str], language: str) -> None:
    """MCSYSTEM_LANG, LC_ALL, LC_MESSAGES, LANG: the first that says something."""
    assert environment_language(environ) == language


def test_a_bug_of_ours_is_one_sentence_and_a_log(lighthouse: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unexpected exception reaches nobody's screen."""

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(asking, "answer", broken)
    done = lighthouse("ask", "x")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("Something went wrong inside System.")
    assert "Traceback" not in done.err


def test_the_log_lies_in_the_world_and_in_no_other_place(
    lighthouse: Commands, capsys: pytest.CaptureFixture[str]
) -> None:
    """The traceback goes to the world's log, with --debug to standard error; no world is made for it; it is bounded."""
    shell = Shell({"HOME": str(lighthouse.folder)}, lighthouse.folder, Texts.packaged(), world=lighthouse.world)
    log, path = WorldLog(shell), lighthouse.world / "system" / "logs" / "mcsystem.log"
    record = logging.LogRecord("x", logging.ERROR, __file__, 1, "went wrong", None, None)
    log.emit(record)
    assert path.read_text(encoding="utf-8").endswith("ERROR x: went wrong\n")
    path.write_text("x" * 1_000_001)
    log.emit(record)
    assert path.stat().st_size < 100
    shell.debug = True
    log.emit(record)
    assert "went wrong" in capsys.readouterr().err
    shell.debug, shell.world = False, lighthouse.folder / "nowhere"
    log.emit(record)
    assert not shell.world.exists()


def test_the_real_program_works_from_a_pipe(mcsystem: Commands) -> None:
    """A fresh home, no world, lines from a pipe in two languages: answers in UTF-8, plain, exit code 0."""
    said = "/question how do I claim land\n提问 怎么领地\n\n/open 1\n"
    done = mcsystem.program("play", text=said, environ={"LANG": "C", "LC_ALL": "C"})
    assert (done.code, done.err) == (0, "")
    assert "local · 0 calls · 0" in done.out
    assert "本地 · 调用 0 次 · 花费 0" in done.out
    assert "▾ [1]" in done.out
    assert "\x1b" not in done.out


def test_bytes_that_are_no_text_and_endless_lines_end_nothing(mcsystem: Commands) -> None:
    """Whatever comes through the pipe, the next line is answered."""
    raw = b"\xff\xfe\x00\n" + b"x" * 1_000_000 + b"\n/help"
    done = mcsystem.program("play", text=raw)
    assert (done.code, "Traceback" in done.err) == (0, False)
    assert "characters long" in done.out
    assert "/question TEXT" in done.out


@pytest.mark.skipif(sys.platform == "win32", reason="signals are other ones there")
def test_a_waiting_pipe_does_not_hold_up_the_end(mcsystem: Commands) -> None:
    """SIGTERM while no line comes ends the console at once and in good order."""
    environ = {"HOME": str(mcsystem.folder), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-m", "mcsystem", "play", "--world", "world"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=mcsystem.folder, env=environ
    ) as play:
        assert play.stdin is not None
        assert play.stdout is not None
        assert play.stderr is not None
        play.stdin.write(b"/help\n")
        play.stdin.flush()
        assert play.stdout.readline()
        play.send_signal(signal.SIGTERM)
        assert play.wait(20) == 130
        assert b"a new demo world is made there" in play.stderr.read()
    assert not (mcsystem.world / "system" / "control.json").exists()


def test_a_closed_output_ends_the_console(mcsystem: Commands) -> None:
    """When nobody reads the answers any more, no more lines are taken."""
    command = f"(echo /help; sleep 1; yes /help | head -200) | '{sys.executable}' -m mcsystem play | head -1"
    environ = {"HOME": str(mcsystem.folder), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        cwd=mcsystem.folder,
        env=environ,
        timeout=50,
    )
    assert (done.stdout.count("\n"), done.stderr) == (1, "")


def test_a_reader_that_leaves_is_no_error_of_ours(lighthouse: Commands) -> None:
    """`mcsystem ... | head -1` prints no traceback."""
    command = f"'{sys.executable}' -m mcsystem db export | head -c 1"
    environ = {"HOME": str(lighthouse.folder), "PATH": "/usr/bin:/bin", **lighthouse.environ}
    lighthouse.learn("long.md", "# Long\n\n" + "word " * 60_000)
    done = subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, text=True, check=False, cwd=lighthouse.folder, env=environ
    )
    assert (done.stdout, done.stderr) == ("{", "")


@pytest.mark.parametrize("arguments", [(), ("knowledge",), ("db",), ("config",)])
def test_nothing_asked_for_shows_what_there_is(mcsystem: Commands, arguments: tuple[str, ...]) -> None:
    """A group alone prints its help."""
    done = mcsystem(*arguments)
    assert (done.code, done.err) == (0, "")
    assert done.out == mcsystem(*arguments, "--help").out


def test_the_version_is_told(mcsystem: Commands) -> None:
    """Name and version on one line."""
    assert re.fullmatch(r"mcsystem \d+\.\d+\.\d+\n", mcsystem("--version").out)


def test_the_settings_in_force_are_shown(lighthouse: Commands) -> None:
    """As JSON; a wrong field is told on standard error and makes the exit code 1."""
    done = lighthouse("config", "show")
    assert done.code == 0
    assert json.loads(done.out)["system-agent.json"]["limits"]["queue"] == 512
    config = lighthouse.folder / "config" / "system" / "system-agent.json"
    config.write_text('{"limits": {"queue": "many", "workers": 2}}')
    done = lighthouse("config", "show")
    assert done.code == 1
    assert "limits.queue" in done.err
    assert json.loads(done.out)["system-agent.json"]["limits"]["workers"] == 2
