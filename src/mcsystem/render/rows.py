"""A card as rows of styled text, the form that consoles share; sources and details are closed until they are opened."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from mcsystem.cards import Button, Card, Details, Line, Link, Node, Source, Style
from mcsystem.ids import Origin
from mcsystem.render.safe import safe_text, safe_url
from mcsystem.render.width import break_lines, first_lines
from mcsystem.resources import Texts

RowStyle = Style | Literal["title", "source", "preview", "button", "number", "badge"]

CLOSED: Final = "▸"
OPEN: Final = "▾"
PREVIEW_LINES: Final = 3
PATH_MARK: Final = " › "
INDENT: Final = 4


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of one row in one style; `url` makes it a link where the screen knows links."""

    text: str
    style: RowStyle = "plain"
    url: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row. `indent` cells stand before it, `hang` before what is broken off it."""

    spans: tuple[Span, ...]
    indent: int = 0
    hang: int = 0

    @property
    def text(self) -> str:
        """The row as plain text, indented."""
        return " " * self.indent + "".join(span.text for span in self.spans)


@dataclass(frozen=True, slots=True)
class View:
    """How a card is looked at.

    Attributes:
        texts: every sentence.
        language: the reader's.
        width: cells of a row.
        opened: numbers of the blocks that are open.
        wrapped: whether rows are broken to the width; what goes to a pipe is not.
    """

    texts: Texts
    language: str
    width: int = 100
    opened: Collection[int] = ()
    wrapped: bool = True


def card_rows(card: Card, view: View) -> list[Row]:
    """The whole card, broken to the view's width."""
    whole = [*_head(card), *_body(card, view), *_sources(card, view), *_badge(card, view)]
    return [piece for row in whole for piece in _fitted(row, view)]


def blocks(card: Card) -> tuple[Source | Details, ...]:
    """What can be opened on this card: the sources, then the closed blocks; see `block_number`."""
    return (*card.sources, *_details(card.body))


def block_number(card: Card, block: Source | Details) -> int:
    """The number that opens a block: a source's own, for closed blocks the ones after the last source."""
    if isinstance(block, Source):
        return block.n
    last = max((source.n for source in card.sources), default=0)
    return last + 1 + [*_details(card.body)].index(block)


def wrap(row: Row, width: int) -> list[Row]:
    """The row broken so that no line is wider than `width`."""
    text = "".join(span.text for span in row.spans)
    room = max(8, width - max(row.indent, row.hang))
    lines = break_lines(text, room)
    if len(lines) == 1:
        return [row]
    return [
        Row(tuple(_cut(row.spans, start, end)), row.indent if at == 0 else max(row.indent, row.hang))
        for at, (start, end) in enumerate(lines)
    ]


def _fitted(row: Row, view: View) -> list[Row]:
    return wrap(row, view.width) if view.wrapped else [row]


def shown_title(title: str) -> str:
    """A title path as people read it."""
    return safe_text(title.replace(" > ", PATH_MARK))


def _cut(spans: tuple[Span, ...], start: int, end: int) -> Iterator[Span]:
    at = 0
    for span in spans:
        piece = span.text[max(0, start - at) : max(0, end - at)]
        at += len(span.text)
        if piece:
            yield replace(span, text=piece)


def _head(card: Card) -> Iterator[Row]:
    title = shown_title(card.title)
    if title:
        yield Row((Span(title, "title"),))


def _body(card: Card, view: View) -> Iterator[Row]:
    numbers = {id(button): number for number, button in enumerate(card.buttons, 1)}
    for node in card.body:
        yield from _node(node, card, view, numbers)


def _node(node: Node, card: Card, view: View, numbers: dict[int, int]) -> Iterator[Row]:
    match node:
        case Line(text, style):
            yield Row((Span(safe_text(text), style),))
        case Link(text, url):
            yield from _link(safe_text(text), safe_url(url))
        case Button(label):
            number = f"{numbers[id(node)]}. "
            yield Row((Span(number, "number"), Span(safe_text(label), "button")), indent=2, hang=2 + len(number))
        case Details(summary, body):
            number = block_number(card, node)
            is_open = number in view.opened
            yield _block_head(number, Span(safe_text(summary), "source"), "", is_open=is_open)
            if is_open:
                for inner in body:
                    for row in _node(inner, card, view, numbers):
                        yield replace(row, indent=row.indent + INDENT, hang=row.hang + INDENT)


def _link(text: str, url: str | None) -> Iterator[Row]:
    if url is None:
        yield Row((Span(text),))
    else:
        yield Row((Span(text, "accent", url), Span(f" {url}", "muted", url)))


def _sources(card: Card, view: View) -> Iterator[Row]:
    for source in card.sources:
        is_open = source.n in view.opened
        url = safe_url(source.url)
        title = Span(shown_title(source.title) or safe_text(source.document), "source", url or "")
        yield _block_head(source.n, title, safe_text(source.document), is_open=is_open)
        if is_open:
            for line in first_lines(safe_text(source.preview), max(8, view.width - INDENT), PREVIEW_LINES):
                yield Row((Span(line, "preview"),), INDENT, INDENT)
            if url:
                yield Row((Span(url, "muted", url),), INDENT, INDENT)


def _block_head(number: int, title: Span, place: str, *, is_open: bool) -> Row:
    mark = f"{OPEN if is_open else CLOSED} [{number}] "
    spans = [Span(mark, "source"), title]
    if place:
        spans.append(Span(f" ({place})", "muted"))
    return Row(tuple(spans), hang=len(mark))


def _badge(card: Card, view: View) -> Iterator[Row]:
    if card.trace:
        yield Row((Span(badge(card, view.texts, view.language), "badge"),))


def badge(card: Card, texts: Texts, language: str) -> str:
    """Why this answer, in a few words: what made it, billable calls, and what they cost.

    Where calls have no price their tokens are told instead, and when these are not known either, that the cost is not.
    """
    kind = "cache" if card.origin is Origin.CACHE else card.answered_by.value
    calls = card.calls.model + card.calls.search + card.calls.fetch
    if card.cost.strip("0."):
        cost = texts.tr(language, "card.cost", cost=f"{safe_text(card.cost)} {safe_text(card.currency)}")
    elif not calls:
        cost = texts.tr(language, "card.cost", cost="0")
    else:
        key = "card.cost.tokens" if card.calls.tokens else "card.cost.unknown"
        cost = texts.tr(language, key, tokens=card.calls.tokens)
    key = "card.badge.one" if calls == 1 else "card.badge"
    return texts.tr(language, key, kind=texts.tr(language, f"card.kind.{kind}"), calls=calls, cost=cost)


def _details(nodes: tuple[Node, ...]) -> Iterator[Details]:
    for node in nodes:
        if isinstance(node, Details):
            yield node
            yield from _details(node.body)


def block_numbers(card: Card) -> tuple[int, ...]:
    """The numbers that can be opened on this card, in order."""
    return tuple(block_number(card, block) for block in blocks(card))


def block_rows(card: Card, number: int, view: View) -> list[Row]:
    """One block alone, open or closed as the view says; empty when the card has none of that number."""
    found = next((block for block in blocks(card) if block_number(card, block) == number), None)
    if isinstance(found, Source):
        rows = _sources(replace(card, sources=(found,)), view)
    elif found is not None:
        rows = _node(found, card, view, {id(button): at for at, button in enumerate(card.buttons, 1)})
    else:
        return []
    return [piece for row in rows for piece in _fitted(row, view)]
