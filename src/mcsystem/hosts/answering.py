"""One request of a script and its card: read only where that does, by the world's holder where there is one."""

import asyncio
from dataclasses import dataclass, replace
from typing import Final

from mcsystem.app import Plan, open_assistant
from mcsystem.cards import Card
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.hosts.control_client import share
from mcsystem.hosts.orders import Ask
from mcsystem.ids import Player, Request

# The world cannot be written now: what only reads still works.
WRITELESS: Final = frozenset(
    {ErrorCode.STORAGE_WORLD_LOCKED, ErrorCode.STORAGE_READ_ONLY, ErrorCode.STORAGE_WRITE_FAILED}
)


@dataclass(slots=True)
class ScriptHost:
    """A host without a screen: the card is the return value. Whoever can read the world's files runs it themselves."""

    name: str = "cli"
    owner_present: bool = True

    async def deliver(self, player: Player, card: Card) -> None:
        """Nobody is looking; notices are dropped."""


def answer(plan: Plan, request: Request, *, reads: bool) -> Card:
    """The final card of one request.

    Args:
        plan: the world; it must be there.
        request: what is asked.
        reads: whether it only reads unless a model is asked; then no lock is taken.

    Errors: WORLD_NOT_FOUND, STORAGE_*.
    """
    if not plan.world.is_dir():
        raise AssistantError(ErrorCode.WORLD_NOT_FOUND, path=str(plan.world))
    reading = replace(plan, write=False)
    if reads:
        card = asyncio.run(_answer(reading, request, metered=False))
        if card is not None:
            return card
    player = request.player
    order = Ask(request.text, player.uuid, player.name, player.language, player.permission)
    try:
        return share(plan.world, order, Card, here=lambda: _whole(replace(plan, write=True), request))
    except AssistantError as error:
        if error.code not in WRITELESS:
            raise
        return _whole(reading, request)


def _whole(plan: Plan, request: Request) -> Card:
    card = asyncio.run(_answer(plan, request, metered=True))
    if card is None:  # pragma: no cover - `metered` always answers
        raise AssistantError(ErrorCode.INTERNAL)
    return card


async def _answer(plan: Plan, request: Request, *, metered: bool) -> Card | None:
    """The card; None when a model could be asked, which must be written down, and `metered` says that it is not."""
    async with open_assistant(plan, ScriptHost()) as assistant:
        if not metered and assistant.services.gateway.unavailable() is None:
            return None
        return await assistant.ask(request)
