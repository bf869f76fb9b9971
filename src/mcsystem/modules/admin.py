"""`system:admin`: reload, traces and knowledge for admins, from inside the game."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from mcsystem.api import (
    AssistantError,
    Card,
    Command,
    ErrorCode,
    Line,
    Module,
    Policy,
    Registry,
    Routing,
    RunContext,
    Status,
    ToolContext,
    check_language,
    tool,
)

LEVEL: Final = 2
SHOWN: Final = 40
NUMBER: Final = re.compile(r"[0-9]{1,9}")

What = Literal["reload", "trace", "knowledge.list", "knowledge.search", "knowledge.reload", "knowledge.add"]


Said = tuple[str, Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Order:
    """One thing an admin asks for.

    Attributes:
        what: which.
        text: words to search, a title, a language or a trace number.
        body: text of a note.
    """

    what: What
    text: str = ""
    body: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Lines as (language key, slots), or ready text where the key is empty; problems are told as warnings."""

    lines: tuple[Said, ...]
    problems: tuple[Said, ...] = ()


@tool("admin.look")
def look(ctx: ToolContext, args: Order) -> Outcome:
    """Traces, documents and searches with scores; changes nothing.

    Errors: PERMISSION_DENIED, STORAGE_*.
    """
    if args.what == "trace":
        trace = ctx.admin.trace(int(args.text) if args.text else None)
        return Outcome((("admin.trace.none", {}),) if trace is None else ready(trace.lines()))
    if args.what == "knowledge.search":
        found = ctx.admin.search(ctx.language, args.text)
        marks = ((("✔" if one.hit else "·"), one) for one in found)
        rows = [f"{mark} {one.score:.3f}  {one.document}  {one.title}" for mark, one in marks]
        return Outcome(ready(rows) or (("admin.knowledge.none", {"language": ctx.language}),))
    language = check_language(args.text) if args.text else ctx.language
    documents = ctx.admin.documents(language)
    rows = [f"{one.path}  {one.title}" for one in documents[:SHOWN]]
    head = ("admin.knowledge.count", {"count": len(documents), "language": language})
    return Outcome((head, *ready(rows)))


@tool("admin.change", write=True)
def change(ctx: ToolContext, args: Order) -> Outcome:
    """Reload the config folder or the imported knowledge, or add a note.

    Errors: PERMISSION_DENIED, STORAGE_*, KNOWLEDGE_*.
    """
    if args.what == "reload":
        wrong = ctx.admin.reload_config()
        told = tuple(
            (
                f"error.{ErrorCode.CONFIG_INVALID.value}",
                {"file": one.file, "field": one.field, "expected": one.expected},
            )
            for one in wrong
        )
        return Outcome((("admin.reload.done", {}),), told)
    if args.what == "knowledge.add":
        path = ctx.admin.add_note(ctx.language, args.text, args.body)
        return Outcome((("admin.knowledge.added", {"path": path, "language": ctx.language}),))
    reports = ctx.admin.reload_knowledge()
    counts = ("added", "changed", "removed", "unchanged")
    totals = {name: sum(int(getattr(one, name)) for one in reports) for name in counts}
    slots: dict[str, object] = {**totals, "problems": sum(len(one.problems) for one in reports)}
    return Outcome((("admin.knowledge.reloaded", slots),))


def ready(lines: list[str]) -> tuple[Said, ...]:
    """Lines that are text already."""
    return tuple(("", {"text": line}) for line in lines)


async def run_order(run: RunContext, order: Order) -> Card:
    """Do what the admin asked and tell it line by line."""
    reads = order.what in {"trace", "knowledge.list", "knowledge.search"}
    outcome = await run.call(look if reads else change, order)
    body = [Line(said(run, key, slots)) for key, slots in outcome.lines]
    body += [Line(said(run, key, slots), "warning") for key, slots in outcome.problems]
    return Card("", tuple(body), status=Status.ANSWERED)


def said(run: RunContext, key: str, slots: Mapping[str, object]) -> str:
    """One line of an outcome as text."""
    return run.tr(key, **slots) if key else str(slots["text"])


def reload(text: str) -> Order | None:
    """Arguments of `/system reload`: none."""
    return None if text.strip() else Order("reload")


def trace(text: str) -> Order | None:
    """Arguments of `/system trace`: none, or a number."""
    number = text.strip().removeprefix("#")
    return Order("trace", number) if not number or NUMBER.fullmatch(number) else None


def knowledge(text: str) -> Order | None:
    """Arguments of `/system knowledge`: list [LANGUAGE] | search WORDS | reload | add TITLE | TEXT.

    Errors: REQUEST_EMPTY.
    """
    verb, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    match verb.casefold():
        case "" | "list":
            return Order("knowledge.list", rest)
        case "search" if rest:
            return Order("knowledge.search", rest)
        case "reload" if not rest:
            return Order("knowledge.reload")
        case "add":
            title, bar, body = (part.strip() for part in rest.partition("|"))
            if bar and not (title and body):
                raise AssistantError(ErrorCode.REQUEST_EMPTY)
            return Order("knowledge.add", title, body) if bar else None
        case _:
            return None


def setup(registry: Registry) -> None:
    """Register the module: commands only."""
    commands = (
        Command("system reload", reload, usage="/system reload", summary="admin.reload.summary", permission=LEVEL),
        Command("system trace", trace, usage="/system trace [N]", summary="admin.trace.summary", permission=LEVEL),
        Command(
            "system knowledge",
            knowledge,
            usage="admin.knowledge.usage",
            summary="admin.knowledge.summary",
            permission=LEVEL,
        ),
    )
    routing = Routing(reload, commands=commands, direct=False, exposure="structured_only")
    policy = Policy(model_calls=0, write_steps=1, ttl_millis=600_000)
    registry.add(Module("system:admin", run_order, (look, change), routing, policy=policy))
