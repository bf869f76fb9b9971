"""The interactive console: a coloured prompt with history and completion, while answers come in above it."""

import asyncio
import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory
from prompt_toolkit.input.base import Input
from prompt_toolkit.output.base import Output
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.styles import Style

from mcsystem.engine.assistant import Assistant
from mcsystem.hosts.console import QUIT, Console, completions
from mcsystem.render.safe import safe_text

HISTORY: Final = Path("system", "console_history.txt")
HISTORY_BYTES: Final = 512 * 1024
LOOK: Final = Style.from_dict(
    {
        "name": "ansicyan bold",
        "arrow": "ansibrightblack",
        "bottom-toolbar": "noreverse ansibrightblack",
        "completion-menu": "bg:ansiblack ansiwhite",
        "completion-menu.completion.current": "bg:ansicyan ansiblack",
        "completion-menu.meta": "bg:ansiblack ansibrightblack",
        "completion-menu.meta.completion.current": "bg:ansiblack ansiwhite",
    }
)


class CommandCompleter(Completer):
    """Offers whole commands with what they do."""

    def __init__(self, console: Console, assistant: Assistant) -> None:
        self._console = console
        self._assistant = assistant

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002  # the library's signature
        """The commands that begin with the text before the cursor."""
        typed = document.text_before_cursor.lstrip()
        player = self._console.player
        commands = self._assistant.commands(player)
        for one in completions(typed, commands, self._assistant.texts, player.language):
            yield Completion(one.name, -len(typed), display=one.usage, display_meta=one.summary)


async def interact(
    console: Console, assistant: Assistant, world: Path, *, source: Input | None = None, sink: Output | None = None
) -> None:
    """Lines from a terminal until Ctrl-D; Ctrl-C stops the request that runs.

    Args:
        console: shows the cards.
        assistant: answers.
        world: holds the history of what was typed.
        source: seam for tests.
        sink: seam for tests.
    """
    base = console.player.language
    session: PromptSession[str] = PromptSession(
        history=FileHistory(await asyncio.to_thread(_history, world / HISTORY)),
        completer=CommandCompleter(console, assistant),
        complete_while_typing=True,
        style=LOOK,
        bottom_toolbar=lambda: FormattedText(
            [("class:bottom-toolbar", f" {console.texts.tr(console.player.language, 'console.bar')} ")]
        ),
        reserve_space_for_menu=6,
        input=source,
        output=sink,
    )
    with patch_stdout(raw=True):
        while (line := await _ask(session, console, assistant)) is not None:
            text = line.strip()
            if text.casefold() in QUIT:
                return
            if text and not console.local(text):
                assistant.submit(console.request(text, base))


async def _ask(session: PromptSession[str], console: Console, assistant: Assistant) -> str | None:
    """The next line, empty after Ctrl-C; None when the player leaves."""
    prompt = FormattedText([("class:name", safe_text(console.player.name)), ("class:arrow", " › ")])
    try:
        return await session.prompt_async(prompt)
    except KeyboardInterrupt:
        if not assistant.cancel(console.player.uuid) and not session.default_buffer.text:
            console.say(console.texts.tr(console.player.language, "console.leave"), "muted")
        return ""
    except EOFError:
        return None


def _history(path: Path) -> Path:
    """The history's file, for this account alone and of bounded size."""
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        content = path.read_bytes()
        if len(content) > HISTORY_BYTES:
            path.write_bytes(content[-HISTORY_BYTES // 2 :].partition(b"\n\n")[2])
    return path
