"""Cards that the engine itself makes: errors, notices, options, pages."""

from dataclasses import replace
from typing import Final

from mcsystem.cards import Button, Card, Line, Node, Status
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.ids import Origin
from mcsystem.resources import Texts

PAGE_CHARACTERS: Final = 1_200
PAGE_LINES: Final = 12

_NOTICES: Final = frozenset(
    {
        ErrorCode.REQUEST_EMPTY,
        ErrorCode.REQUEST_TOO_LONG,
        ErrorCode.REQUEST_UNKNOWN_COMMAND,
        ErrorCode.REQUEST_ARGUMENTS_INVALID,
        ErrorCode.BUTTON_STALE,
        ErrorCode.PERMISSION_DENIED,
        ErrorCode.EXTERNAL_AI_OFF,
        ErrorCode.KNOWLEDGE_CHANGED,
        ErrorCode.TOOL_WRITE_REFUSED,
    }
)
_BUSY: Final = frozenset({ErrorCode.ENGINE_BUSY, ErrorCode.ENGINE_PLAYER_BUSY})
_CANCELLED: Final = frozenset({ErrorCode.ENGINE_CANCELLED, ErrorCode.ENGINE_REVOKED})


def error_card(texts: Texts, language: str, error: AssistantError) -> Card:
    """The card for something that went wrong or is not possible now."""
    style = "warning"
    if error.code in _BUSY:
        status = Status.BUSY
    elif error.code in _CANCELLED:
        status = Status.CANCELLED
    elif error.code in _NOTICES:
        status = Status.NOTICE
    else:
        status, style = Status.ERROR, "error"
    sentence = texts.error(language, error)
    return Card("", (Line(sentence, style),), status=status, code=error.code.value)


def options_card(texts: Texts, language: str, buttons: tuple[Button, ...]) -> Card:
    """The card for words that name no command: what could be meant, to be pressed; nothing is chosen by itself."""
    lines: tuple[Node, ...] = (Line(texts.tr(language, "engine.options.what"), "muted"), *buttons)
    return Card(texts.tr(language, "engine.options.title"), lines, status=Status.OPTIONS, origin=Origin.EXPLICIT)


def pages(card: Card, texts: Texts, language: str) -> list[Card]:
    """A long card as several, each but the last with a button for the next; a short one alone."""
    groups: list[list[Node]] = [[]]
    room, lines = PAGE_CHARACTERS, PAGE_LINES
    for node in (piece for whole in card.body for piece in _pieces(whole)):
        size = len(node.text) if isinstance(node, Line) else 0
        if groups[-1] and (size > room or lines == 0):
            groups.append([])
            room, lines = PAGE_CHARACTERS, PAGE_LINES
        groups[-1].append(node)
        room, lines = room - size, lines - 1
    if len(groups) == 1:
        return [card]
    made: list[Card] = []
    for number, group in enumerate(groups, 1):
        if number < len(groups):
            label = texts.tr(language, "engine.more", page=number + 1, pages=len(groups))
            group.append(Button(label, "/more"))
        made.append(replace(card, body=tuple(group), sources=card.sources if number == 1 else ()))
    return made


def _pieces(node: Node) -> list[Node]:
    if not isinstance(node, Line) or len(node.text) <= PAGE_CHARACTERS:
        return [node]
    text = node.text
    return [Line(text[at : at + PAGE_CHARACTERS], node.style) for at in range(0, len(text), PAGE_CHARACTERS)]
