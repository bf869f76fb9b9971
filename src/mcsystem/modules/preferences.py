"""`system:preferences`: what a player chose, and the erasing of what is kept about them."""

from dataclasses import dataclass
from typing import Final, Literal

from mcsystem.api import (
    Button,
    Card,
    Command,
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

ON: Final = frozenset({"on", "yes", "开", "开启", "打开"})
OFF: Final = frozenset({"off", "no", "关", "关闭", "关掉"})
CONFIRM: Final = frozenset({"confirm", "确认"})

What = Literal["ai", "history", "language", "forget", "revoke", "reset"]


@dataclass(frozen=True, slots=True)
class Choice:
    """One change.

    Attributes:
        what: which preference, or which erasing.
        value: `on`, `off`, a language code, or `confirm`; empty asks how it stands.
    """

    what: What
    value: str = ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The preferences after the change."""

    external_ai: str
    history: bool
    language: str


@tool("preferences.read")
def read(ctx: ToolContext, args: Choice) -> Chosen:  # noqa: ARG001  # a tool's signature
    """The preferences as they stand."""
    now = ctx.own.preferences
    return Chosen(now.external_ai, now.history, now.language)


@tool("preferences.change", write=True)
def change(ctx: ToolContext, args: Choice) -> Chosen:
    """Change one preference, forget the talk, or erase this player's data.

    Errors: STORAGE_*, LANGUAGE_UNKNOWN.
    """
    match args.what:
        case "ai":
            ctx.own.choose(external_ai=args.value == "on")
        case "history":
            ctx.own.choose(history=args.value == "on")
        case "language":
            ctx.own.choose(language=check_language(args.value))
        case "forget":
            ctx.own.forget()
        case "revoke":
            ctx.own.erase("revoked")
        case "reset":
            ctx.own.erase("reset")
    now = ctx.own.preferences
    return Chosen(now.external_ai, now.history, now.language)


async def run_choice(run: RunContext, choice: Choice) -> Card:
    """Do what was asked; erasing is confirmed first by a button."""
    erasing = choice.what in {"revoke", "reset"}
    if erasing and choice.value != "confirm":
        button = Button(run.tr("preferences.erase.button"), f"/system {choice.what} confirm")
        return Card("", (Line(run.tr("preferences.erase.ask"), "warning"), button), status=Status.OPTIONS)
    if choice.what in {"ai", "history", "language"} and not choice.value:
        now = await run.call(read, choice)
        return Card.rows("", [state_line(run, choice.what, now)], status=Status.ANSWERED)
    now = await run.call(change, choice)
    if choice.what in {"forget", "revoke", "reset"}:
        return Card("", (Line(run.tr(f"preferences.{choice.what}.done"), "good"),), status=Status.ANSWERED)
    return Card("", (Line(state_line(run, choice.what, now), "good"),), status=Status.ANSWERED)


def state_line(run: RunContext, what: str, now: Chosen) -> str:
    """How one preference stands, as a sentence."""
    if what == "language":
        return run.tr("preferences.language.is", language=now.language or run.player.language)
    if what == "history":
        return run.tr("preferences.history.on" if now.history else "preferences.history.off")
    return run.tr(f"preferences.ai.{now.external_ai or 'default'}")


def switch(what: Literal["ai", "history"], text: str) -> Choice | None:
    """`on` or `off` in either language; empty asks how it stands."""
    word = text.strip().casefold()
    if not word:
        return Choice(what)
    if word in ON | OFF:
        return Choice(what, "on" if word in ON else "off")
    return None


def ai(text: str) -> Choice | None:
    """Arguments of `/system ai`."""
    return switch("ai", text)


def history(text: str) -> Choice | None:
    """Arguments of `/system history`."""
    return switch("history", text)


def language(text: str) -> Choice | None:
    """Arguments of `/system language`.

    Errors: LANGUAGE_UNKNOWN.
    """
    return Choice("language", check_language(text) if text.strip() else "")


def forget(text: str) -> Choice | None:
    """Arguments of `/system forget`: none."""
    return None if text.strip() else Choice("forget")


def revoke(text: str) -> Choice | None:
    """Arguments of `/system revoke`: none, or `confirm`."""
    return erasing("revoke", text)


def reset(text: str) -> Choice | None:
    """Arguments of `/system reset`: none, or `confirm`."""
    return erasing("reset", text)


def erasing(what: Literal["revoke", "reset"], text: str) -> Choice | None:
    """None, or `confirm` in either language."""
    word = text.strip().casefold()
    if word and word not in CONFIRM:
        return None
    return Choice(what, "confirm" if word else "")


def setup(registry: Registry) -> None:
    """Register the module: commands only, never chosen by words or a model."""
    commands = (
        Command("system ai", ai, usage="/system ai on|off", summary="preferences.ai.summary"),
        Command("system history", history, usage="/system history on|off", summary="preferences.history.summary"),
        Command("system language", language, usage="/system language zh_cn", summary="preferences.language.summary"),
        Command("system forget", forget, usage="/system forget", summary="preferences.forget.summary"),
        Command("system revoke", revoke, usage="/system revoke", summary="preferences.revoke.summary"),
        Command("system reset", reset, usage="/system reset", summary="preferences.reset.summary", listed=False),
    )
    routing = Routing(ai, commands=commands, direct=False, exposure="structured_only")
    registry.add(
        Module(
            "system:preferences",
            run_choice,
            (read, change),
            routing,
            policy=Policy(model_calls=0, write_steps=1, ttl_millis=20_000),
            summary="preferences.ai.summary",
        )
    )
