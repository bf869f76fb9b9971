"""Rows on a terminal in colour, or as plain text anywhere else."""

import io
import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from typing import Final, TextIO

from rich.console import Console
from rich.style import Style
from rich.text import Text

from mcsystem.render.rows import Row, RowStyle, Span, wrap

WIDEST: Final = 100
NARROWEST: Final = 24
STYLES: Final[Mapping[RowStyle, Style]] = {
    "plain": Style(),
    "title": Style(bold=True, color="cyan"),
    "muted": Style(color="bright_black"),
    "accent": Style(color="cyan"),
    "good": Style(color="green"),
    "warning": Style(color="yellow"),
    "error": Style(color="red"),
    "source": Style(color="blue"),
    "preview": Style(),
    "button": Style(),
    "number": Style(bold=True, color="yellow"),
    "badge": Style(color="bright_black"),
}


class Screen:
    """Where rows are shown.

    Args:
        stream: text is written here; None is standard output as it stands at that moment.
        colour: whether codes for colour and links are written.
        terminal: whether rows are broken to the width of a terminal.
        wide: cells of a row where the terminal does not say.
    """

    def __init__(
        self, stream: TextIO | None = None, *, colour: bool, terminal: bool = False, wide: int = WIDEST
    ) -> None:
        self._stream = stream
        self.colour = colour
        self.terminal = terminal or colour
        self._wide = wide

    @classmethod
    def of(cls, stream: TextIO) -> "Screen":
        """A screen with colour where `stream` is a terminal that wants it."""
        wanted = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        return cls(stream, colour=wanted, terminal=stream.isatty())

    @property
    def width(self) -> int:
        """Cells of a row now."""
        if not self.terminal:
            return self._wide
        return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((self._wide, 24)).columns - 1))

    def fit(self, rows: Iterable[Row]) -> list[Row]:
        """The rows broken to the width, on a terminal."""
        return [piece for row in rows for piece in (wrap(row, self.width) if self.terminal else [row])]

    def show(self, rows: Iterable[Row]) -> None:
        """Write the rows."""
        stream = self._stream or sys.stdout
        text = self.painted(rows) if self.colour else "".join(f"{row.text.rstrip()}\n" for row in rows)
        stream.write(text)
        stream.flush()

    def painted(self, rows: Iterable[Row]) -> str:
        """The rows with codes for colour and links; their text is data and never read as markup."""
        buffer = io.StringIO()
        console = Console(
            file=buffer,
            force_terminal=True,
            color_system="standard",
            width=4 * WIDEST,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )
        for row in rows:
            line = Text(" " * row.indent, no_wrap=True, overflow="ignore", end="\n")
            for span in row.spans:
                line.append(span.text, style_of(span))
            console.print(line, soft_wrap=True)
        return buffer.getvalue()


def style_of(span: Span) -> Style:
    """How a span looks on a terminal."""
    style = STYLES[span.style]
    return style + Style(link=span.url) if span.url else style
