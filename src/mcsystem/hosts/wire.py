"""Cards and reports as JSON between two of our own processes, and back, checked against their types."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast

import msgspec

from mcsystem.cards import Button, Calls, Card, Details, Line, Link, Node, Source, Status
from mcsystem.ids import AnsweredBy, Origin

T = TypeVar("T")
NODES: Final[Mapping[str, type[Line] | type[Link] | type[Button]]] = {"line": Line, "link": Link, "button": Button}
DEPTH: Final = 8


class WireCard(msgspec.Struct, frozen=True):
    """A card whose nodes are pairs `[kind, content]`."""

    title: str
    body: tuple[tuple[str, Any], ...]  # Any: checked node by node in `_node`
    status: Status
    code: str | None
    module: str
    origin: Origin
    answered_by: AnsweredBy
    sources: tuple[Source, ...]
    calls: Calls
    cost: str
    currency: str
    trace: int


def pack(value: object) -> Any:  # noqa: ANN401  # what JSON can hold
    """`value` as plain JSON data."""
    return msgspec.to_builtins(_wire(value) if isinstance(value, Card) else value, enc_hook=_plain)


def unpack(data: object, kind: type[T]) -> T:
    """The value of `kind` in plain JSON data.

    Raises:
        msgspec.ValidationError: when it is not one.
    """
    if kind is Card:
        return cast("T", _card(msgspec.convert(data, WireCard)))
    return msgspec.convert(data, kind)


def _plain(value: object) -> object:
    if isinstance(value, MappingProxyType):
        return dict(cast("Mapping[str, object]", value))
    raise NotImplementedError


def _wire(card: Card) -> WireCard:
    return WireCard(
        title=card.title,
        body=tuple(_pair(node) for node in card.body),
        status=card.status,
        code=card.code,
        module=card.module,
        origin=card.origin,
        answered_by=card.answered_by,
        sources=card.sources,
        calls=card.calls,
        cost=card.cost,
        currency=card.currency,
        trace=card.trace,
    )


def _pair(node: Node) -> tuple[str, Any]:
    if isinstance(node, Details):
        return "details", {"summary": node.summary, "body": [_pair(inner) for inner in node.body]}
    return type(node).__name__.lower(), msgspec.to_builtins(node)


class _WireDetails(msgspec.Struct, frozen=True):
    summary: str
    body: tuple[tuple[str, Any], ...]  # Any: as in WireCard


def _node(pair: tuple[str, Any], depth: int = 0) -> Node:
    kind, content = pair
    if kind == "details" and depth < DEPTH:
        closed = msgspec.convert(content, _WireDetails)
        return Details(closed.summary, tuple(_node(inner, depth + 1) for inner in closed.body))
    if kind not in NODES:
        raise msgspec.ValidationError(f"unknown node {kind[:20]!r}")
    return msgspec.convert(content, NODES[kind])


def _card(wire: WireCard) -> Card:
    return Card(
        title=wire.title,
        body=tuple(_node(pair) for pair in wire.body),
        status=wire.status,
        code=wire.code,
        module=wire.module,
        origin=wire.origin,
        answered_by=wire.answered_by,
        sources=wire.sources,
        calls=wire.calls,
        cost=wire.cost,
        currency=wire.currency,
        trace=wire.trace,
    )
