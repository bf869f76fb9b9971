"""What a console says first, and what it knows by itself: opening sources, help, leaving."""

from typing import Final

from mcsystem.render.rows import Row, Span
from mcsystem.render.safe import safe_text
from mcsystem.resources import Texts

TRIES: Final = ("console.try.1", "console.try.2", "console.try.3")
LOCAL_HELP: Final = (
    "console.help.open",
    "console.help.close",
    "console.help.number",
    "console.help.keys",
    "console.help.quit",
)


def greeting(
    texts: Texts, language: str, *, player: str, world: str, demo: bool, languages: tuple[str, ...]
) -> list[Row]:
    """The first rows.

    Args:
        texts: every sentence.
        language: the reader's.
        player: as whom they play.
        world: the world's folder.
        demo: whether it is filled with the demo's documents.
        languages: the languages that have shared documents.
    """
    key = "console.hello.demo" if demo else "console.hello.world"
    rows = [
        Row((Span("System", "title"), Span(f" · {safe_text(player)}", "muted"))),
        Row((Span(safe_text(texts.tr(language, key, world=world)), "muted"),)),
    ]
    if not languages:
        rows.append(Row((Span(safe_text(texts.tr(language, "console.hello.empty", world=world)), "warning"),)))
    rows.append(Row((Span(texts.tr(language, "console.try"), "plain"),)))
    rows += [Row((Span("· ", "muted"), Span(texts.tr(language, one), "accent")), indent=2) for one in TRIES]
    return rows


def local_help(texts: Texts, language: str) -> list[Row]:
    """What this console does by itself, one row each."""
    return [Row((Span(texts.tr(language, key), "muted"),)) for key in LOCAL_HELP]
