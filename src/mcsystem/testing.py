"""For extension authors and our own tests: play in a temporary world, with scripted models."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mcsystem.app import Plan, Setup, open_assistant
from mcsystem.cards import Card
from mcsystem.gateways import ScriptedModel
from mcsystem.ids import Player, Proof, Request, offline_uuid
from mcsystem.knowledge import KNOWLEDGE, Audience, Document
from mcsystem.storage import Databases

__all__ = ["Play", "RecordingHost", "ScriptedModel"]

MODEL_KEY: Final = "SYSTEM_DEEPSEEK_API_KEY"


@dataclass(slots=True)
class RecordingHost:
    """A host that keeps every card it was given, in order, with the player's name."""

    name: str = "test"
    owner_present: bool = True
    delivered: list[tuple[str, Card]] = field(default_factory=list[tuple[str, Card]])

    async def deliver(self, player: Player, card: Card) -> None:
        """Keep the card."""
        self.delivered.append((player.name, card))


@dataclass(slots=True)
class Play:
    """A player in a temporary world: `Play(tmp_path, extensions=(setup,)).say("/waypoints")` is the final card.

    Attributes:
        folder: holds the world and its config; use pytest's `tmp_path`.
        extensions: setup functions to register beside the built-in modules.
        model: answers instead of a paid service; None means no key is set and nothing is ever sent.
        player: the player's name.
        language: the language their client reports.
        permission: their permission level.
    """

    folder: Path
    extensions: Sequence[Setup] = ()
    model: ScriptedModel | None = None
    player: str = "Alex"
    language: str = "en_us"
    permission: int = 0
    proof: Proof = Proof.PROVEN
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    live: Databases | None = field(default=None, init=False)  # the world's databases while somebody talks

    @property
    def world(self) -> Path:
        """The world folder."""
        return self.folder / "world"

    @property
    def config(self) -> Path:
        """The config folder."""
        return self.folder / "config" / "system"

    @property
    def who(self) -> Player:
        """The player as the host knows them."""
        return Player(offline_uuid(self.player), self.player, self.language, self.permission)

    def say(self, *lines: str) -> Card:
        """Type the lines one after the other in one session; the last one's final card."""
        return asyncio.run(self._say(lines))[-1]

    def talk(self, *lines: str) -> list[Card]:
        """As `say`, every line's final card."""
        return asyncio.run(self._say(lines))

    def learn(self, name: str, text: str, *, title: str = "", private: bool = False, audience: str = "all") -> None:
        """Put one document into the shared knowledge, or this player's own."""
        databases = Databases.open(self.world, write=True)
        try:
            database = databases.player(self.who.uuid) if private else databases.shared()
            KNOWLEDGE.put(
                database,
                Document(
                    path=name,
                    language=self.language,
                    title=title or name,
                    text=text,
                    audience=Audience.parse(audience),
                    collection="test",
                ),
            )
        finally:
            databases.close()

    async def _say(self, lines: Sequence[str]) -> list[Card]:
        self.world.mkdir(parents=True, exist_ok=True)
        host = RecordingHost()
        async with open_assistant(self.plan(), host) as assistant:
            if self.model is not None:
                assistant.services.gateway.use(self.model)
            self.live = assistant.services.databases
            return [await assistant.ask(Request(self.who, line, self.proof)) for line in lines]

    def plan(self) -> Plan:
        """How the assistant is built."""
        environ = {MODEL_KEY: "sk-scripted", **self.environ} if self.model is not None else dict(self.environ)
        return Plan(self.world, self.config, extensions=tuple(self.extensions), discover=False, environ=environ)
