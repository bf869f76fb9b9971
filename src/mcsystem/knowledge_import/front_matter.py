"""Reads the front matter of a text file: `title`, `language`, `audience` and `url` between two `---` lines."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from mcsystem.knowledge_import.report import Trouble

LINES: Final = 200  # front matter is not longer
_KEY: Final = re.compile(r"([^\W\d][\w .-]{0,40}?)\s*(?::(?=\s|$)|:)\s*(.*)")
_ITEM: Final = re.compile(r"\s*-\s+(.*)|\s*-$")
_COMMENT: Final = re.compile(r"(?:^|\s)#.*$")
_NAMES: Final[Mapping[str, str]] = {
    "title": "title", "标题": "title",
    "language": "language", "lang": "language", "语言": "language",
    "audience": "audience", "受众": "audience", "可见": "audience",
    "url": "url", "link": "url", "链接": "url",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Field:
    """One value of the front matter.

    Attributes:
        value: text, or a list of texts.
        line: the line of its key, from 1.
    """

    value: str | Sequence[str]
    line: int


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands before the body.

    Attributes:
        fields: by name: `title`, `language`, `audience`, `url`; other keys are passed over.
        body: the rest of the text.
        line: the body's first line, from 1.
    """

    fields: Mapping[str, Field]
    body: str
    line: int = 1


@dataclass(slots=True)
class _Open:
    """The key that is being read; a list may follow below it."""

    name: str | None = None
    value: str = ""
    line: int = 0
    items: list[str] = field(default_factory=list[str])


def read_front_matter(text: str) -> FrontMatter:
    """Take the front matter off a text; a text without one is all body.

    Raises:
        Trouble: `front_matter_open` when it does not end, `front_matter_line` for a line that is not `key: value`,
            `front_matter_twice` for a key that stands there twice, `front_matter_toml` for the `+++` form.
    """
    if text.startswith("+++\n"):
        raise Trouble("front_matter_toml", line=1)
    if not text.startswith("---") or text.split("\n", 1)[0].rstrip() != "---":
        return FrontMatter({}, text)
    lines = text.split("\n", LINES + 1)[1 : LINES + 1]
    end = next((number for number, line in enumerate(lines) if line.rstrip() in {"---", "..."}), None)
    if not _opens(lines[:end], closed=end is not None):
        return FrontMatter({}, text)
    if end is None:
        raise Trouble("front_matter_open", line=1)
    body_line = end + 3
    return FrontMatter(_fields(lines[:end]), text.split("\n", end + 2)[-1] if _has_body(text, end) else "", body_line)


def _has_body(text: str, end: int) -> bool:
    return text.count("\n") >= end + 2


def _opens(lines: Sequence[str], *, closed: bool) -> bool:
    """Whether this is front matter, perhaps a broken one, and not a text that begins with a line across the page."""
    content = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not content:
        return closed
    if closed and lines[0].strip() and not lines[0].startswith("#"):
        return True
    return _KEY.fullmatch(content[0]) is not None


def _fields(lines: Sequence[str]) -> dict[str, Field]:
    fields: dict[str, Field] = {}
    current = _Open()
    for number, line in enumerate(lines, 2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if item := _ITEM.fullmatch(line):
            if current.line == 0 or (current.name and current.value):
                raise Trouble("front_matter_line", line=number)
            current.items.append(_scalar(item[1] or ""))
            continue
        if line[0] in " \t" and current.line and current.name is None:
            continue  # below a key of somebody else's
        found = _KEY.fullmatch(line)
        if found is None:
            raise Trouble("front_matter_line", line=number)
        _close(current, fields)
        current = _Open(_NAMES.get(found[1].casefold()), found[2].strip(), number)
        if current.name in fields:
            raise Trouble("front_matter_twice", line=number, key=found[1])
    _close(current, fields)
    return fields


def _close(current: _Open, fields: dict[str, Field]) -> None:
    if current.name is not None:
        fields[current.name] = Field(current.items or _value(current), current.line)


def _value(current: _Open) -> str | list[str]:
    raw = current.value
    if raw[:1] in {"{", "|", ">", "&", "*", "!"}:
        raise Trouble("front_matter_line", line=current.line)
    if raw.startswith("["):
        inner = _COMMENT.sub("", raw).strip()
        if not inner.endswith("]"):
            raise Trouble("front_matter_line", line=current.line)
        return [_scalar(part) for part in re.split("[,,]", inner[1:-1]) if part.strip()]
    return _scalar(raw)


def _scalar(raw: str) -> str:
    raw = raw.strip()
    if raw[:1] in {'"', "'"}:
        closing = raw.find(raw[0], 1)
        if closing > 0 and (not raw[closing + 1 :].strip() or _COMMENT.match(raw[closing + 1 :])):
            return raw[1:closing]
    return _COMMENT.sub("", raw).strip()
