"""A session through `submit`: looking lines, cancelling, busy, pages, and nothing leaving without consent."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from mcsystem.api import Card, Line, Module, NoArgs, Registry, Routing, RunContext, Status, no_args
from mcsystem.app import open_assistant
from mcsystem.engine.assistant import Assistant
from mcsystem.ids import Player, Request, offline_uuid
from mcsystem.testing import Play, RecordingHost, ScriptedModel

CLAIM = "# Land claims\n\nHold a golden shovel and right-click two corners to claim land.\n"
ANSWER = json.dumps({"answered": True, "claims": [{"text": "Golden shovel.", "sources": [1]}]})
QUESTION = "/question how do I claim land"

Scene = Callable[[Assistant, RecordingHost], Awaitable[None]]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    made = Play(tmp_path)
    made.learn("claims.md", CLAIM, title="Land claims")
    return made


def perform(play: Play, scene: Scene, *, owner_present: bool = True) -> RecordingHost:
    async def main() -> RecordingHost:
        host = RecordingHost(owner_present=owner_present)
        async with open_assistant(play.plan(), host) as assistant:
            if play.model is not None:
                assistant.services.gateway.use(play.model)
            await scene(assistant, host)
        return host

    return asyncio.run(main())


async def until(ready: Callable[[], bool], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, "it never came"
        await asyncio.sleep(0.01)


def texts(host: RecordingHost) -> list[str]:
    return [card.text for _, card in host.delivered]


def test_looking_appears_at_once_and_before_the_answer(play: Play) -> None:
    """QA-18: while a model thinks the player sees that something happens, then the answer."""
    play.model = ScriptedModel([ANSWER], delay=0.6)

    async def scene(assistant: Assistant, host: RecordingHost) -> None:
        began = time.monotonic()
        assistant.submit(Request(play.who, QUESTION))
        await until(lambda: len(host.delivered) == 1)
        assert time.monotonic() - began < 0.5
        await until(lambda: len(host.delivered) == 2)

    looking, answer = texts(perform(play, scene))
    assert looking.startswith("Looking")
    assert answer == "Golden shovel. [1]"


def test_a_quick_answer_needs_no_looking_line(play: Play) -> None:
    """QA-18's twin: a local answer comes alone."""

    async def scene(assistant: Assistant, host: RecordingHost) -> None:
        assistant.submit(Request(play.who, QUESTION))
        await until(lambda: len(host.delivered) == 1)
        await asyncio.sleep(0.3)

    assert len(perform(play, scene).delivered) == 1


@pytest.mark.parametrize("word", ["/cancel", "/system cancel", "/取消", "/CANCEL"])
def test_cancel_stops_the_request(play: Play, word: str) -> None:
    """QA-18: a running request can be stopped; its answer never comes, the player may ask again at once."""
    play.model = ScriptedModel([ANSWER, ANSWER], delay=1.0)

    async def scene(assistant: Assistant, host: RecordingHost) -> None:
        assistant.submit(Request(play.who, QUESTION))
        await until(lambda: len(host.delivered) == 1)
        assistant.submit(Request(play.who, word))
        await until(lambda: len(host.delivered) == 2)
        assistant.submit(Request(play.who, "/help"))
        await until(lambda: len(host.delivered) == 3)
        await asyncio.sleep(1.2)

    host = perform(play, scene)
    statuses = [card.status for _, card in host.delivered]
    assert statuses == [Status.NOTICE, Status.CANCELLED, Status.ANSWERED]


def test_cancel_with_nothing_running_says_so(play: Play) -> None:
    """QA-18: cancelling nothing is answered, not ignored."""

    async def scene(assistant: Assistant, host: RecordingHost) -> None:
        assistant.submit(Request(play.who, "/cancel"))
        await until(lambda: len(host.delivered) == 1)

    assert texts(perform(play, scene)) == ["Nothing is running, so there was nothing to stop."]


def test_one_request_at_a_time_per_player(play: Play) -> None:
    """A second request while one runs is told so; another player is not touched."""
    play.model = ScriptedModel([ANSWER, ANSWER], delay=0.5)
    ben = Player(offline_uuid("Ben"), "Ben", "en_us")

    async def scene(assistant: Assistant, host: RecordingHost) -> None:
        assistant.submit(Request(play.who, QUESTION))
        assistant.submit(Request(play.who, QUESTION))
        assistant.submit(Request(ben, QUESTION))
        await until(lambda: sum(card.status is Status.ANSWERED for _, card in host.delivered) == 2)

    host = perform(play, scene)
    assert [card.code for name, card in host.delivered if name == "Alex"].count("ENGINE_PLAYER_BUSY") == 1
    assert [card.code for name, card in host.delivered if name == "Ben"].count("ENGINE_PLAYER_BUSY") == 0


def test_a_flood_from_many_threads_is_answered_or_told_busy(play: Play) -> None:
    """The queue is bounded: every player hears something, nobody waits for ever, the loop stays alive."""
    play.config.mkdir(parents=True)
    limits = {"limits": {"queue": 16, "workers": 2}}
    (play.config / "system-agent.json").write_text(json.dumps(limits), encoding="utf-8")
    players = [Player(offline_uuid(f"P{n}"), f"P{n}", "en_us") for n in range(60)]

    async def scene(assistant: Assistant, host: RecordingHost) -> None:
        threads = [threading.Thread(target=assistant.submit, args=(Request(one, QUESTION),)) for one in players]
        for thread in threads:
            thread.start()
        await until(lambda: len({name for name, _ in host.delivered}) >= 16)
        await asyncio.sleep(0.5)
        assistant.submit(Request(play.who, "/help"))
        await until(lambda: any(name == "Alex" for name, _ in host.delivered))

    host = perform(play, scene)
    assert {card.status for _, card in host.delivered} <= {Status.MATERIAL, Status.BUSY, Status.ANSWERED}


def test_a_real_server_needs_the_players_own_word(play: Play) -> None:
    """Consent: a key alone sends nothing for a player of a real server; `/system ai on` does."""
    play.model = ScriptedModel([ANSWER])

    async def scene(assistant: Assistant, host: RecordingHost) -> None:
        for line in (QUESTION, "/system ai on", QUESTION):
            seen = len(host.delivered)
            assistant.submit(Request(play.who, line))
            await until(lambda seen=seen: len(host.delivered) > seen)

    host = perform(play, scene, owner_present=False)
    first, _, last = (card for _, card in host.delivered)
    assert (first.status, first.code, first.calls.model) == (Status.MATERIAL, "EXTERNAL_AI_OFF", 0)
    assert (last.status, last.calls.model) == (Status.ANSWERED, 1)


async def long_card(run: RunContext, args: NoArgs) -> Card:  # noqa: ARG001  # a module's signature
    return Card(run.language, tuple(Line(f"line {number} " + "x" * 90) for number in range(40)), status=Status.ANSWERED)


def long_module(registry: Registry) -> None:
    registry.add(Module("t:long", long_card, (), Routing(no_args, commands=("long",), direct=False)))


def test_long_answers_come_in_pages(play: Play) -> None:
    """QA-18: a long answer is paged; `/more` and the button show the rest, each line once."""
    play.extensions = (long_module,)

    async def scene(assistant: Assistant, host: RecordingHost) -> None:
        for line in ("/long", "/more", "1", "/more", "/more"):
            seen = len(host.delivered)
            assistant.submit(Request(play.who, line))
            await until(lambda seen=seen: len(host.delivered) > seen)

    host = perform(play, scene)
    pages = [card for _, card in host.delivered]
    lines = [line for card in pages for line in card.text.splitlines() if line.startswith("line")]
    assert [line.split()[1] for line in lines] == [str(number) for number in range(40)]
    assert pages[0].buttons[0].command == "/more"
    assert pages[-1].text == "There are no more pages."


def test_a_failing_module_is_our_bug_and_says_so(play: Play, caplog: pytest.LogCaptureFixture) -> None:
    """A foreign exception is a traceback in the log and one sentence for the player."""

    async def broken(run: RunContext, args: NoArgs) -> Card:
        raise ZeroDivisionError(run.language, args)

    play.extensions = (lambda registry: registry.add(Module("t:b", broken, (), Routing(no_args, commands=("b",)))),)
    card = play.say("/b")
    assert (card.status, card.code) == (Status.ERROR, "INTERNAL")
    assert "ZeroDivisionError" in caplog.text


def test_a_module_that_hangs_is_stopped_at_its_time_limit(play: Play) -> None:
    """USE-01: `ttlMillis` ends a request whatever it waits for."""
    play.config.mkdir(parents=True)
    policies = {"policies": {"t:slow": {"ttlMillis": 200}}}
    (play.config / "system-agent.json").write_text(json.dumps(policies), encoding="utf-8")

    async def slow(run: RunContext, args: NoArgs) -> Card:
        await asyncio.sleep(30)
        return Card(f"{run.language}{args}")

    play.extensions = (lambda registry: registry.add(Module("t:slow", slow, (), Routing(no_args, commands=("slow",)))),)
    began = time.monotonic()
    assert play.say("/slow").code == "ENGINE_TIMEOUT"
    assert time.monotonic() - began < 5


GUARDED = """
import sys
from pathlib import Path

opened = []
sys.addaudithook(lambda name, args: opened.append((name, args[1:])) if name in ("socket.connect", "socket.getaddrinfo",
                 "socket.bind", "socket.sendto") else None)

from mcsystem.testing import Play

play = Play(Path(sys.argv[1]), environ={"SYSTEM_DEEPSEEK_API_KEY": "sk-real-looking"} if sys.argv[2] == "off" else {})
play.learn("claims.md", "# Land claims\\n\\nHold a golden shovel to claim land.", title="Land claims")
lines = ["/system ai off"] if sys.argv[2] == "off" else []
cards = play.talk(*lines, "/question how do I claim land", "/help", "nothing at all")
assert cards[-3].status.value == "material", cards[-3]
assert opened == [], opened
"""


@pytest.mark.parametrize("mode", ["off", "nokey"])
def test_without_consent_no_socket_is_opened(tmp_path: Path, mode: str) -> None:
    """With external AI off, or without a key, a whole session opens no connection: an audit hook watches."""
    done = subprocess.run(
        [sys.executable, "-c", GUARDED, str(tmp_path), mode], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
