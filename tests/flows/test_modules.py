"""What modules declare: how long hosts wait for them, what their parsers see, what is never offered."""

import asyncio
import json
from pathlib import Path

from mcsystem.api import Card, Module, Registry, Routing, RunContext, Status, no_args
from mcsystem.app import open_assistant
from mcsystem.ids import Player, offline_uuid
from mcsystem.testing import Play, RecordingHost


def patience(play: Play, permission: int) -> float:
    async def main() -> float:
        async with open_assistant(play.plan(), RecordingHost()) as assistant:
            return assistant.patience(Player(offline_uuid("Alex"), "Alex", "en_us", permission))

    play.world.mkdir(parents=True, exist_ok=True)
    return asyncio.run(main())


def test_hosts_wait_as_long_as_the_longest_workflow_a_player_can_use(tmp_path: Path) -> None:
    """USE-03: the longest time limit of the workflows this player may start, and a margin; an admin's may be longer."""
    play = Play(tmp_path)
    assert 90 < patience(play, 0) < 120
    assert patience(play, 4) > 600
    policies = {"policies": {"system:question": {"ttlMillis": 240_000}}}
    (play.config / "system-agent.json").write_text(json.dumps(policies), encoding="utf-8")
    assert 240 < patience(play, 0) < 270


def test_a_parser_sees_the_present_text_alone(tmp_path: Path) -> None:
    """MOD-03: nothing said before reaches a parser; what it does not understand is a misuse, not a guess."""
    seen: list[str] = []

    def parse(text: str) -> str | None:
        seen.append(text)
        return text or None

    async def run(context: RunContext, words: str) -> Card:
        return Card(f"{context.language} {words}", status=Status.ANSWERED)

    def setup(registry: Registry) -> None:
        registry.add(Module("t:echo", run, (), Routing(parse, commands=("echo",), direct=False)))

    cards = Play(tmp_path, extensions=(setup,)).talk("/echo first", "/echo", "/echo third")
    assert seen == ["first", "", "third"]
    assert [card.code for card in cards] == [None, "REQUEST_ARGUMENTS_INVALID", None]


def test_what_is_structured_only_is_never_offered_for_words(tmp_path: Path) -> None:
    """MOD-02: plain words are offered what may be chosen by words; commands that change something are not among it."""

    async def run(context: RunContext, args: object) -> Card:
        return Card(f"{context.language}{args}")

    def setup(registry: Registry) -> None:
        hidden = Routing(no_args, commands=("pay",), direct=False, exposure="structured_only")
        shown = Routing(no_args, commands=("places",), shortcut="help.shortcut")
        registry.add(Module("t:pay", run, (), hidden))
        registry.add(Module("t:places", run, (), shown))

    card = Play(tmp_path, extensions=(setup,)).say("pay for my places please")
    commands = [button.command for button in card.buttons]
    assert "/places" in commands
    assert not any(command.startswith(("/pay", "/system")) for command in commands)
