"""A card as the one JSON object that scripts read; fields are added, never changed."""

from typing import Any

import msgspec

from mcsystem.cards import Card


class _Source(msgspec.Struct, frozen=True):
    n: int
    scope: str
    document: str
    title: str
    preview: str
    url: str | None
    score: float


class _Calls(msgspec.Struct, frozen=True):
    model: int
    search: int
    fetch: int


class _Option(msgspec.Struct, frozen=True):
    n: int
    label: str
    command: str


class _Answer(msgspec.Struct, frozen=True):
    status: str
    code: str | None
    module: str
    origin: str
    answered_by: str
    title: str
    text: str
    sources: tuple[_Source, ...]
    options: tuple[_Option, ...]
    calls: _Calls
    cost: str
    currency: str
    tokens: int


def script(card: Card) -> dict[str, Any]:
    """The card for scripts, ready for JSON; each of the `options` is a command that `mcsystem say` takes.

    Keys: `status`, `code`, `module`, `origin`, `answered_by`, `title`, `text`, `sources`, `options`, `calls`, `cost`,
    `currency`, `tokens`.
    """
    answer = _Answer(
        status=card.status.value,
        code=card.code,
        module=card.module,
        origin=card.origin.value,
        answered_by=card.answered_by.value,
        title=card.title,
        text=card.text,
        sources=tuple(
            _Source(one.n, one.scope, one.document, one.title, one.preview, one.url, one.score) for one in card.sources
        ),
        options=tuple(_Option(number, one.label, one.command) for number, one in enumerate(card.buttons, 1)),
        calls=_Calls(card.calls.model, card.calls.search, card.calls.fetch),
        cost=card.cost,
        currency=card.currency,
        tokens=card.calls.tokens,
    )
    built: dict[str, Any] = msgspec.to_builtins(answer)
    return built
