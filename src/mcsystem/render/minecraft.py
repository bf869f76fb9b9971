"""A card as JSON text components for a Minecraft chat: one component a chat line, built as data, never as markup."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from mcsystem.cards import Button, Card, Details, Line, Link, Node, Source
from mcsystem.render.rows import CLOSED, PREVIEW_LINES, RowStyle, badge, shown_title
from mcsystem.render.safe import safe_text, safe_url
from mcsystem.render.width import first_lines
from mcsystem.resources import Texts

HOVER_WIDTH: Final = 60
TRIGGER: Final = "system"
COLOURS: Final[dict[RowStyle, str]] = {
    "title": "aqua",
    "muted": "gray",
    "accent": "aqua",
    "good": "green",
    "warning": "yellow",
    "error": "red",
    "source": "blue",
    "preview": "gray",
    "button": "white",
    "number": "gold",
    "badge": "dark_gray",
}


class _Click(msgspec.Struct, frozen=True, omit_defaults=True):
    action: str
    url: str = ""
    command: str = ""
    value: str = ""


class _Component(msgspec.Struct, frozen=True, omit_defaults=True):
    text: str
    color: str = ""
    underlined: bool = False
    extra: tuple["_Component", ...] = ()
    click_event: _Click | None = None
    hover_event: "_Hover | None" = None
    old_click: _Click | None = msgspec.field(default=None, name="clickEvent")
    old_hover: "_OldHover | None" = msgspec.field(default=None, name="hoverEvent")


class _Hover(msgspec.Struct, frozen=True):
    action: str
    value: _Component


class _OldHover(msgspec.Struct, frozen=True):
    action: str
    contents: _Component


@dataclass(frozen=True, slots=True)
class ChatForm:
    """What the server's version understands.

    Attributes:
        modern: 1.21.5 and later write `click_event` and `hover_event`, earlier ones `clickEvent` and `hoverEvent`.
        clickable: whether the reader can click; Bedrock players type the number.
        trigger: objective whose `/trigger` presses a button.
    """

    modern: bool = True
    clickable: bool = True
    trigger: str = TRIGGER


def chat_lines(card: Card, texts: Texts, language: str, form: ChatForm) -> list[str]:
    """The card as one JSON component a chat line; sources are closed, their preview is the hover text."""
    shown = [*_title(card), *_nodes(card, form), *(_source(source, form) for source in card.sources)]
    if card.trace:
        shown.append(_text(badge(card, texts, language), "badge"))
    return [msgspec.json.encode(component).decode() for component in shown]


def _text(text: str, style: RowStyle = "plain") -> _Component:
    return _Component(safe_text(text), COLOURS.get(style, ""))


def _row(*parts: _Component) -> _Component:
    return _Component("", extra=parts)


def _title(card: Card) -> Iterator[_Component]:
    if card.title:
        yield _text(shown_title(card.title), "title")


def _nodes(card: Card, form: ChatForm) -> Iterator[_Component]:
    numbers = {id(button): number for number, button in enumerate(card.buttons, 1)}
    for node in card.body:
        yield from _node(node, numbers, form)


def _node(node: Node, numbers: dict[int, int], form: ChatForm) -> Iterator[_Component]:
    match node:
        case Line(text, style):
            yield _text(text, style)
        case Link(text, url):
            yield _linked(_text(text, "accent"), safe_url(url), form)
        case Button(label, _, token):
            number, words = _Component(f"{numbers[id(node)]}. ", COLOURS["number"]), _text(label, "button")
            yield _row(number, _pressed(words, token, form))
        case Details(summary, body):
            inner = "\n".join(safe_text(one.text) for one in body if isinstance(one, Line | Link))
            yield _hover(_text(f"{CLOSED} {summary}", "source"), inner, form)
            for one in body:
                if isinstance(one, Button):
                    yield from _node(one, numbers, form)


def _source(source: Source, form: ChatForm) -> _Component:
    title = shown_title(source.title) or source.document
    head = _linked(_text(f"{CLOSED} [{source.n}] {title}", "source"), safe_url(source.url), form)
    return _hover(head, "\n".join(first_lines(safe_text(source.preview), HOVER_WIDTH, PREVIEW_LINES)), form)


def _linked(component: _Component, url: str | None, form: ChatForm) -> _Component:
    if url is None or not form.clickable:
        return component
    if form.modern:
        return msgspec.structs.replace(component, underlined=True, click_event=_Click("open_url", url=url))
    return msgspec.structs.replace(component, underlined=True, old_click=_Click("open_url", value=url))


def _pressed(component: _Component, token: int, form: ChatForm) -> _Component:
    if not token or not form.clickable:
        return component
    command = f"/trigger {form.trigger} set {int(token)}"
    if form.modern:
        return msgspec.structs.replace(component, click_event=_Click("run_command", command=command))
    return msgspec.structs.replace(component, old_click=_Click("run_command", value=command))


def _hover(component: _Component, text: str, form: ChatForm) -> _Component:
    if not text or not form.clickable:
        return component
    inner = _Component(text, COLOURS["preview"])
    if form.modern:
        return msgspec.structs.replace(component, hover_event=_Hover("show_text", inner))
    return msgspec.structs.replace(component, old_hover=_OldHover("show_text", inner))
