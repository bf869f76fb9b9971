"""Cuts a document into passages at headings and paragraphs, keeping the title path of each."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

PASSAGE_SIZE: Final = 600  # width units: a Latin letter is 1, a Chinese, Japanese or Korean character is 3
_WIDE: Final = 3
_TITLE_SEPARATOR: Final = " > "
_HEADING_LENGTH: Final = 200  # a longer "heading" line is text
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_WIDE_CHARACTERS: Final = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$")
_SETEXT: Final = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_NOT_SETEXT_TITLE: Final = re.compile(r"\s*(?:[-*+>|]|\d+[.)])(?:\s|$)|\s*\|")
_SENTENCE: Final = re.compile(r"(?:[^.!?\u3002\uff01\uff1f\uff1b]|[.!?](?!\s))*[.!?\u3002\uff01\uff1f\uff1b]*\s*")
_WORD: Final = re.compile(r"\S+\s*|\s+")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document.

    Attributes:
        title: the title path, such as `Rules > Land claims`.
        text: the piece itself; always `document[start:end]`, never empty, without blank ends.
        start: offset of the first character in the document's body.
        end: offset behind the last character.
    """

    title: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Section:
    """What stands below one heading: the path, the heading's own line, and the blocks (paragraphs, tables, code)."""

    path: tuple[str, ...]
    heading: Span | None
    blocks: tuple[Span, ...]


def cut_passages(title: str, text: str, *, markdown: bool = True, size: int = PASSAGE_SIZE) -> list[Passage]:
    """Cut a body into passages of at most `size` width units, at headings first, then paragraphs, lines, sentences.

    Every visible character is in exactly one passage or in a heading of a passage's title path; a heading with nothing
    below it becomes a passage of its own. Neighbouring small paragraphs of one section share a passage.

    Args:
        title: the document's title, the first part of every title path; may be empty.
        text: the document's body without front matter.
        markdown: whether `#` and underlined headings and fenced code are understood; otherwise only paragraphs are.
        size: greatest width of a passage; a Latin letter counts 1, a Chinese character 3; at least 3.

    Returns:
        The passages in the order of the text; empty when the body is blank.
    """
    sections = list(_sections(title.strip(), text, markdown=markdown))
    passages: list[Passage] = []
    for section, following in zip(sections, (*sections[1:], None), strict=True):
        name = _TITLE_SEPARATOR.join(section.path)
        blocks = section.blocks
        if not blocks and section.heading is not None and not _holds(section, following):
            blocks = (section.heading,)
        for start, end in _pack(text, blocks, max(size, _WIDE)):
            passages.append(Passage(name, text[start:end], start, end))
    return passages


def _holds(section: _Section, following: _Section | None) -> bool:
    """Whether the following section stands below this one's heading."""
    return following is not None and following.path[: len(section.path)] == section.path != following.path


def width(text: str) -> int:
    """The width of a text: a Latin letter is 1, a Chinese, Japanese or Korean character 3."""
    return len(text) if text.isascii() else len(text) + (_WIDE - 1) * len(_WIDE_CHARACTERS.findall(text))


def _trim(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    return start + left, start + left + len(piece.strip())


class _Reader:
    """Walks over the lines of one document and collects its sections."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._headings: list[tuple[int, str]] = []
        self._heading_line: Span | None = None
        self._blocks: list[Span] = []
        self.open: Span | None = None  # the block that grows

    def grow(self, start: int, end: int) -> None:
        """Add a line to the open block."""
        self.open = (start if self.open is None else self.open[0], end)

    def close_block(self) -> None:
        """End the open block, as a blank line does."""
        if self.open is not None:
            self._blocks.append(self.open)
            self.open = None

    def section(self) -> _Section:
        """The section read so far; the next one starts empty."""
        self.close_block()
        path = tuple(part for part in (self._title, *(name for _, name in self._headings)) if part)
        section = _Section(path, self._heading_line, tuple(self._blocks))
        self._blocks = []
        return section

    def enter(self, level: int, name: str, line: Span) -> None:
        """Go below a heading of this level."""
        self._headings = [entry for entry in self._headings if entry[0] < level]
        if name and not (not self._headings and name.casefold() == self._title.casefold()):
            self._headings.append((level, name))
        self._heading_line = line


def _sections(title: str, text: str, *, markdown: bool) -> Iterator[_Section]:
    reader = _Reader(title)
    fence = ""
    for match in _LINE.finditer(text):
        line, start, end = match.group().rstrip(), match.start(), match.end()
        if markdown and fence:
            reader.grow(start, end)
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
                reader.close_block()
            continue
        if not line.strip():
            reader.close_block()
            continue
        if markdown and (opening := _FENCE.match(line)):
            fence = opening.group(1)
        heading = _heading(text, line, (start, end), reader) if markdown and not fence else None
        if heading is None:
            reader.grow(start, end)
            continue
        level, name, span = heading
        reader.open = None if span[0] < start else reader.open  # an underlined heading was the open block
        yield reader.section()
        reader.enter(level, name, span)
    yield reader.section()


def _heading(text: str, line: str, span: Span, reader: _Reader) -> tuple[int, str, Span] | None:
    """Level, name and place of the heading that this line makes, alone or as the underline of the open block."""
    if len(line) > _HEADING_LENGTH:
        return None
    if (match := _HEADING.match(line)) and (match.group(2) or not line.strip("# ")):
        return len(match.group(1)), (match.group(2) or "").strip(), span
    if (match := _SETEXT.match(line)) and reader.open is not None:
        above = text[reader.open[0] : reader.open[1]].strip()
        if "\n" not in above and len(above) <= _HEADING_LENGTH and not _NOT_SETEXT_TITLE.match(above):
            return (1 if match.group(1)[0] == "=" else 2), above, (reader.open[0], span[1])
    return None


def _pack(text: str, blocks: Iterable[Span], size: int) -> Iterator[Span]:
    """Join neighbouring blocks up to the size and cut those above it."""
    current: Span | None = None
    for block in blocks:
        for piece in _fit(text, block, size):
            if current is not None and width(text[current[0] : piece[1]]) <= size:
                current = (current[0], piece[1])
                continue
            if current is not None:
                yield current
            current = piece
    if current is not None:
        yield current


def _fit(text: str, span: Span, size: int) -> Iterator[Span]:
    """The span itself when it fits, else its lines, sentences, words or bare slices, joined up to the size."""
    start, end = _trim(text, *span)
    if start == end:
        return
    if width(text[start:end]) <= size:
        yield start, end
        return
    for pattern in (_LINE, _SENTENCE, _WORD):
        parts = [match.span() for match in pattern.finditer(text, start, end) if match.end() > match.start()]
        if len(parts) > 1:
            yield from _pack(text, parts, size)
            return
    step = max(1, size // _WIDE)
    for left in range(start, end, step):
        yield left, min(left + step, end)
