"""The card: a structured answer as plain data, rendered by every host."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal, Self

from mcsystem.ids import AnsweredBy, Origin

Style = Literal["plain", "muted", "accent", "good", "warning", "error"]
Scope = Literal["player", "shared", "guide", "web"]


class Status(StrEnum):
    """How a request ended, for scripts and exit codes."""

    ANSWERED = "answered"
    MATERIAL = "material"
    NOTHING = "nothing"
    NOTICE = "notice"
    OPTIONS = "options"
    ERROR = "error"
    BUSY = "busy"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Line:
    """One paragraph of text in one style. Text is data: hosts escape it, white space was folded by the maker."""

    text: str
    style: Style = "plain"


@dataclass(frozen=True, slots=True)
class Link:
    """A titled web link; the client's own confirmation applies. `url` is http or https."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class Button:
    """Something to press: runs `command` as a new explicit request of the one who got the card.

    `token` is given by the engine when the card is delivered: the typed short number or `/trigger` value.
    """

    label: str
    command: str
    token: int = 0


@dataclass(frozen=True, slots=True)
class Details:
    """A closed block: `summary` is seen at once, `body` after opening. Opening is local to the host."""

    summary: str
    body: "tuple[Node, ...]"


Node = Line | Link | Button | Details


@dataclass(frozen=True, slots=True)
class Source:
    """Where an answer comes from.

    Attributes:
        n: the number the answer cites, from 1.
        scope: whose knowledge it is.
        document: path below the imported folder, or the page's address.
        title: title path of the passage.
        preview: at most three lines of it, white space folded.
        url: where to read on, else None.
        score: the ranking's score; larger is better.
    """

    n: int
    scope: Scope
    document: str
    title: str
    preview: str
    url: str | None
    score: float


@dataclass(frozen=True, slots=True)
class Calls:
    """Billable calls made for one card, and the tokens that the model's service counted for them (0: it told none)."""

    model: int = 0
    search: int = 0
    fetch: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Card:
    """One answer.

    Attributes:
        title: one line, may be empty.
        body: nodes from top to bottom.
        status: how the request ended.
        code: the error code behind the answer, else None.
        module: the module that answered.
        origin: how that module was chosen.
        answered_by: what made the answer.
        sources: numbered from 1, in order; hosts show each as a closed block.
        calls: billable calls made.
        cost: decimal string in `currency`.
        trace: number of the request in the trace, 0 when there is none.
    """

    title: str
    body: tuple[Node, ...] = ()
    status: Status = Status.NOTICE
    code: str | None = None
    module: str = ""
    origin: Origin = Origin.EXPLICIT
    answered_by: AnsweredBy = AnsweredBy.COMMAND
    sources: tuple[Source, ...] = ()
    calls: Calls = field(default_factory=Calls)
    cost: str = "0"
    currency: str = "CNY"
    trace: int = 0

    @classmethod
    def rows(cls, title: str, rows: "list[str] | tuple[str, ...]", *, status: Status = Status.ANSWERED) -> Self:
        """A card of plain lines."""
        return cls(title, tuple(Line(row) for row in rows), status=status)

    def adding(self, *nodes: Node) -> Self:
        """The same card with `nodes` at its end."""
        return replace(self, body=(*self.body, *nodes))

    @property
    def buttons(self) -> tuple[Button, ...]:
        """Every button, in the order shown."""
        return tuple(_buttons(self.body))

    @property
    def text(self) -> str:
        """The answer as plain text: lines only, without title, buttons and sources."""
        return "\n".join(node.text for node in self.body if isinstance(node, Line))


def _buttons(nodes: tuple[Node, ...]) -> list[Button]:
    found: list[Button] = []
    for node in nodes:
        if isinstance(node, Button):
            found.append(node)
        elif isinstance(node, Details):
            found.extend(_buttons(node.body))
    return found
