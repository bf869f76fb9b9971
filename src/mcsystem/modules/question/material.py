"""Local material for one question: what `database.query` finds, and how it is shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

from mcsystem.api import KNOWLEDGE, Found, Material, Source, ToolContext, tool
from mcsystem.modules.question.excerpt import plain

PREVIEW: Final = 240
GUIDES: Final = "ftb.guide"

Scope = Literal["player", "shared", "guide"]


@dataclass(frozen=True, slots=True)
class Question:
    """What a player asks, in their own words."""

    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage that counts as a hit, and whose knowledge it comes from."""

    scope: Scope
    found: Found

    @property
    def identity(self) -> tuple[str, str, str]:
        """What must be the same when the sources are looked up again: place, text and audience."""
        return (self.scope, self.found.document, self.found.fingerprint)


@tool("database.query")
def query_local(ctx: ToolContext, args: Question) -> tuple[Passage, ...]:
    """Passages that answer, best first: at most 5 of the player's own, 5 shared ones, 5 visible guides.

    Only the documents of the player's language are searched. Empty when nothing counts as a hit.

    Errors: STORAGE_*.
    """
    limit = ctx.settings.knowledge.passages
    own = ctx.knowledge.search(ctx.player_db, KNOWLEDGE, ctx.language, args.text, viewer=ctx.viewer, limit=limit)
    shared = ctx.knowledge.search(ctx.shared_db, KNOWLEDGE, ctx.language, args.text, viewer=ctx.viewer, limit=limit)
    guides = cast("Sequence[Found]", ctx.exported(GUIDES, args) or ())
    scopes: tuple[tuple[Scope, Sequence[Found]], ...] = (("player", own), ("shared", shared), ("guide", guides))
    return merged([[Passage(scope, one) for one in found[:limit] if one.hit] for scope, found in scopes])


def merged(lists: list[list[Passage]]) -> tuple[Passage, ...]:
    """Several rankings as one: each keeps its order, the surer head comes first.

    Scores of different collections cannot be compared; how sure a match is can.
    """
    left: list[list[Passage]] = [one[::-1] for one in lists if one]
    joined: list[Passage] = []
    while left:
        best = max(left, key=lambda one: one[-1].found.evidence.confidence)
        joined.append(best.pop())
        left = [one for one in left if one]
    return tuple(joined)


@dataclass(frozen=True, slots=True)
class Everything:
    """The arguments of a look at all shared documents: none."""


@tool("database.languages")
def languages(ctx: ToolContext, args: Everything) -> tuple[str, ...]:  # noqa: ARG001  # a tool's signature
    """The languages that have shared documents.

    Errors: STORAGE_*.
    """
    return tuple(KNOWLEDGE.languages(ctx.shared_db))


def sources(passages: Sequence[Passage]) -> tuple[Source, ...]:
    """The passages as numbered sources for a card."""
    return tuple(
        Source(
            n=number,
            scope=one.scope,
            document=one.found.document,
            title=fold(one.found.title, 200),
            preview=fold(plain(one.found.text), PREVIEW),
            url=one.found.url,
            score=round(one.found.score, 4),
        )
        for number, one in enumerate(passages, 1)
    )


def material(passages: Sequence[Passage]) -> tuple[Material, ...]:
    """The passages as the model gets them, with the same numbers."""
    return tuple(Material(number, one.found.title, one.found.text) for number, one in enumerate(passages, 1))


def fold(text: str, limit: int) -> str:
    """`text` with white space folded, cut at `limit` code points with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
