"""One request of a script and its card: read only where that does, by the world's holder where there is one."""

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from mcsystem.app import Plan, open_assistant
from mcsystem.cards import Card, Line, Status
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.hosts.control_client import connect, share
from mcsystem.hosts.orders import Ask
from mcsystem.ids import Player, Request

# The world cannot be written now: what only reads still works.
WRITELESS: Final = frozenset(
    {ErrorCode.STORAGE_WORLD_LOCKED, ErrorCode.STORAGE_READ_ONLY, ErrorCode.STORAGE_WRITE_FAILED}
)

# How long a question waits for others that hold the world while their model answers.
PATIENCE: Final = 60.0


@dataclass(slots=True)
class ScriptHost:
    """A host without a screen: the card is the return value. Whoever can read the world's files runs it themselves."""

    name: str = "cli"
    owner_present: bool = True

    async def deliver(self, player: Player, card: Card) -> None:
        """Nobody is looking; notices are dropped."""


def answer(plan: Plan, request: Request, *, reads: bool) -> Card:
    """The final card of one request.

    The world's holder is asked where there is one: it has the indexes in memory. Else the request runs here, without
    a lock when it only reads.

    Args:
        plan: the world; it must be there.
        request: what is asked.
        reads: whether it only reads unless a model is asked; then no lock is taken.

    Errors: WORLD_NOT_FOUND, STORAGE_*.
    """
    if not plan.world.is_dir():
        raise AssistantError(ErrorCode.WORLD_NOT_FOUND, path=str(plan.world))
    player = request.player
    order = Ask(request.text, player.uuid, player.name, player.language, player.permission, request.language)
    reading = replace(plan, write=False)
    if reads:
        card = _by_holder(plan, order) or asyncio.run(_answer(reading, request, metered=False))
        if card is not None:
            return card
    try:
        here = partial(_whole, replace(plan, write=True), request)
        return share(plan.world, order, Card, here=here, patience=PATIENCE)
    except AssistantError as error:
        if error.code not in WRITELESS:
            raise
        return _whole(replace(reading, environ={}), request, why=error)


def _by_holder(plan: Plan, order: Ask) -> Card | None:
    """The holder's card, None when there is none or it is about to end."""
    with connect(plan.world) as connection:
        try:
            return connection.order(order, Card) if connection is not None else None
        except AssistantError as error:
            if error.code is not ErrorCode.ENGINE_CLOSED:
                raise
            return None


def _whole(plan: Plan, request: Request, *, why: AssistantError | None = None) -> Card:
    card = asyncio.run(_answer(plan, request, metered=True, why=why))
    if card is None:  # pragma: no cover - `metered` always answers
        raise AssistantError(ErrorCode.INTERNAL)
    return card


async def _answer(plan: Plan, request: Request, *, metered: bool, why: AssistantError | None = None) -> Card | None:
    """The card; None when a model could be asked, which must be written down, and `metered` says that it is not.

    `why` is told beside passages: it kept a model from being asked.
    """
    async with open_assistant(plan, ScriptHost()) as assistant:
        if not metered and assistant.services.gateway.unavailable() is None:
            return None
        card = await assistant.ask(request)
        if why is None or card.status is not Status.MATERIAL:
            return card
        told = Line(assistant.texts.error(request.player.language, why), "warning")
        return replace(card, body=(*card.body, told), code=why.code.value)
