"""Players while the server runs: preferences, generations, their running request, and the hooks of their lifecycle."""

import asyncio
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, Literal
from uuid import UUID

from mcsystem.cards import Card
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.ids import Player
from mcsystem.knowledge import Knowledge
from mcsystem.storage import Databases, Table

LOG: Final = logging.getLogger(__name__)
SELF: Final = "self"

Event = Literal["bound", "revoked", "reset", "forgotten", "preferences", "disconnected"]
Hook = Callable[[UUID], None]


@dataclass(frozen=True, slots=True)
class Preferences:
    """What a player chose.

    Attributes:
        external_ai: `on`, `off`, or empty for the server's default.
        history: whether the talk may be kept to understand the next request.
        language: a language code, or empty for the client's.
    """

    external_ai: Literal["on", "off", ""] = ""
    history: bool = False
    language: str = ""


PREFERENCES: Final = Table("system:preferences", Preferences)


@dataclass(slots=True)
class PlayerState:
    """One player in memory.

    Attributes:
        player: as the host last named them.
        generation: moves when their data is revoked or reset; a result of an older one is dropped.
        preferences: None until read.
        task: their running request.
        pages: what `/more` shows next.
    """

    player: Player
    generation: int = 0
    preferences: Preferences | None = None
    task: "asyncio.Task[None] | None" = None
    pages: list[Card] = field(default_factory=list[Card])


class Players:
    """All players seen since the start."""

    def __init__(self, databases: Databases, knowledge: Knowledge) -> None:
        self._databases = databases
        self._knowledge = knowledge
        self._states: dict[UUID, PlayerState] = {}
        self._hooks: dict[Event, list[Hook]] = {}
        self._lock = threading.RLock()

    def on(self, event: Event, hook: Hook) -> None:
        """Run `hook` with the player's UUID, on a worker, after `event`; hooks run in the order they were added."""
        self._hooks.setdefault(event, []).append(hook)

    def state(self, player: Player) -> PlayerState:
        """This player's state, made when first seen; the host's newest word about them is kept."""
        with self._lock:
            found = self._states.setdefault(player.uuid, PlayerState(player))
            found.player = player
            return found

    def find(self, uuid: UUID) -> PlayerState | None:
        """The state of somebody seen before."""
        return self._states.get(uuid)

    def load(self, state: PlayerState) -> Preferences:
        """Read the preferences once; where the file is unreadable the careful choice stands until it is repaired."""
        if state.preferences is None:
            try:
                found = self._databases.player(state.player.uuid).get(PREFERENCES, SELF)
            except AssistantError as error:
                LOG.warning("preferences unreadable: %s", error.code.value)
                return Preferences(external_ai="off")
            state.preferences = found or Preferences()
        return state.preferences

    def save(self, state: PlayerState, preferences: Preferences) -> None:
        """Write the preferences, then run the hooks; the first choice of a player also binds them to System.

        Errors: STORAGE_*.
        """
        database = self._databases.player(state.player.uuid)
        first = database.get(PREFERENCES, SELF) is None
        database.put(PREFERENCES, SELF, preferences)
        state.preferences = preferences
        if first:
            self._fire("bound", state.player.uuid)
        self._fire("preferences", state.player.uuid)

    def erase(self, state: PlayerState, event: Literal["revoked", "reset"]) -> None:
        """Delete the player's database, drop everything of theirs that still runs, then run the hooks.

        Needs no decoding, so it works on a damaged file. Shared data and usage totals stay.

        Errors: STORAGE_*.
        """
        with self._lock:
            state.generation += 1
        self._knowledge.forget(self._databases.player(state.player.uuid))
        self._databases.delete_player(state.player.uuid)
        state.preferences = None
        self._fire(event, state.player.uuid)

    def forget(self, state: PlayerState) -> None:
        """Drop what was remembered of the talk, then run the hooks."""
        self._fire("forgotten", state.player.uuid)

    def disconnect(self, uuid: UUID) -> None:
        """The player left: drop their state, then run the hooks."""
        with self._lock:
            self._states.pop(uuid, None)
        self._knowledge.forget(self._databases.player(uuid))
        self._fire("disconnected", uuid)

    def _fire(self, event: Event, uuid: UUID) -> None:
        for hook in self._hooks.get(event, []):
            try:
                hook(uuid)
            except Exception:  # a failing hook must not stop the others
                LOG.exception("a hook for %s failed", event)


@dataclass(frozen=True, slots=True)
class OwnData:
    """What a tool may do with the data of this request's player, and of nobody else."""

    players: Players
    state: PlayerState
    moved: Callable[[], None]

    @property
    def preferences(self) -> Preferences:
        """The preferences now."""
        return self.players.load(self.state)

    def choose(
        self, *, external_ai: bool | None = None, history: bool | None = None, language: str | None = None
    ) -> None:
        """Change preferences; what is None stays.

        Errors: STORAGE_*.
        """
        changed = self.preferences
        if external_ai is not None:
            changed = replace(changed, external_ai="on" if external_ai else "off")
        if history is not None:
            changed = replace(changed, history=history)
        if language is not None:
            changed = replace(changed, language=language)
        self.players.save(self.state, changed)

    def forget(self) -> None:
        """Drop what was remembered of the talk."""
        self.players.forget(self.state)

    def erase(self, event: Literal["revoked", "reset"]) -> None:
        """Delete everything private of this player.

        Errors: STORAGE_*.
        """
        self.players.erase(self.state, event)
        self.moved()


def check_generation(state: PlayerState, generation: int) -> None:
    """Stop a run whose player's data was erased meanwhile.

    Errors: ENGINE_REVOKED.
    """
    if state.generation != generation:
        raise AssistantError(ErrorCode.ENGINE_REVOKED)
