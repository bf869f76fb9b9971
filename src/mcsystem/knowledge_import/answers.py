"""Reads question/answer pairs from CSV and JSON, each with the line it stands on."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from mcsystem.knowledge_import.report import Trouble

SAMPLE: Final = 8_192  # characters looked at to find the delimiter
PAIRS: Final = 50_000
_DELIMITERS: Final = ",;\t|"
_NAMES: Final[Mapping[str, str]] = {
    "question": "question", "questions": "question", "q": "question",
    "问题": "question", "问": "question", "提问": "question",
    "answer": "answer", "answers": "answer", "a": "answer", "答案": "answer", "回答": "answer", "答": "answer",
    "language": "language", "lang": "language", "语言": "language",
    "audience": "audience", "受众": "audience", "可见": "audience",
    "url": "url", "link": "url", "链接": "url",
}  # fmt: skip
_BLANK: Final = " \t\n"
_TWO: Final = 2

Value = str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Pair:
    """One row of a table of questions.

    Attributes:
        line: where it begins, from 1.
        fields: by name: `question`, `answer`, perhaps `language`, `audience`, `url`; empty ones are left out.
        trouble: why it cannot be taken, else None.
    """

    line: int
    fields: Mapping[str, Value]
    trouble: Trouble | None = None


def read_csv(text: str) -> Iterator[Pair]:
    """The pairs of a CSV text: columns by the names in its first row, or question and answer in the first two columns.

    The delimiter is a comma, semicolon, tab or bar, whichever fits the first rows best.

    Raises:
        Trouble: `pairs` when there are too many of them.
    """
    columns: list[str | None] | None = None
    for number, (line, row) in enumerate(_rows(text, _delimiter(text[:SAMPLE]))):
        if number > PAIRS:
            raise Trouble("pairs", line=line, limit=PAIRS)
        if isinstance(row, Trouble):
            yield Pair(line, {}, row)
            continue
        if not any(cell.strip() for cell in row):
            continue
        if columns is None:
            names = [_NAMES.get(cell.strip().casefold()) for cell in row]
            if {"question", "answer"} <= set(names):
                columns = names
                continue
            columns = ["question", "answer"]
        fields = {name: cell.strip() for name, cell in zip(columns, row, strict=False) if name and cell.strip()}
        yield _checked(line, fields)


def _rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str] | Trouble]]:
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True, skipinitialspace=True)
    while True:
        line = reader.line_num + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield line, Trouble("csv_quote", line=line)


def _delimiter(sample: str) -> str:
    """The delimiter under which most of the first rows have the same number of cells, at least two."""

    def fitness(delimiter: str) -> tuple[int, int]:
        widths = [len(row) for _, row in _rows(sample, delimiter) if not isinstance(row, Trouble) and row]
        wide = [width for width in widths if width >= _TWO]
        return (max((wide.count(width) for width in set(wide)), default=0), -_DELIMITERS.index(delimiter))

    return max(_DELIMITERS, key=fitness)


def read_json(text: str) -> Iterator[Pair]:
    """The pairs of a JSON text: a list of objects with `question` and `answer`, or one object `question: answer`.

    Raises:
        Trouble: `json_syntax` with the line, `json_shape` when it is neither form, `pairs` when there are too many.
    """
    try:
        entries = [*_entries(text)]
    except (json.JSONDecodeError, RecursionError, ValueError) as error:
        position = error.pos if isinstance(error, json.JSONDecodeError) else 0
        raise Trouble("json_syntax", line=text.count("\n", 0, position) + 1) from error
    if len(entries) > PAIRS:
        raise Trouble("pairs", line=None, limit=PAIRS)
    names = [_NAMES.get(str(value[0]).casefold()) for _, value in entries if isinstance(value, _Member)]
    if len(names) == len(entries) and {"question", "answer"} <= set(names):
        members = [cast("_Member", value) for _, value in entries]
        yield _pair(1, dict(members))
        return
    line, position = 1, 0
    for start, value in entries:
        line, position = line + text.count("\n", position, start), start
        yield _pair(line, value)


class _Member(tuple[str, object]):
    """Name and value of a member of the outer object."""

    __slots__ = ()


def _entries(text: str) -> Iterator[tuple[int, object]]:
    """Offset and value of each item of the outer list, or of each member of the outer object."""
    decoder = json.JSONDecoder()
    position = _skip(text, 0)
    opening = text[position : position + 1]
    if opening not in {"[", "{"}:
        decoder.raw_decode(text, position)  # broken JSON is said to be broken
        raise Trouble("json_shape", line=1)
    closing = "]" if opening == "[" else "}"
    position = _skip(text, position + 1)
    while text[position : position + 1] != closing:
        start = position
        value, position = cast("tuple[object, int]", decoder.raw_decode(text, position))
        position = _skip(text, position)
        if opening == "{":
            if not isinstance(value, str) or text[position : position + 1] != ":":
                raise json.JSONDecodeError("expected name and colon", text, position)
            member, position = cast("tuple[object, int]", decoder.raw_decode(text, _skip(text, position + 1)))
            value, position = _Member((value, member)), _skip(text, position)
        yield start, value
        if text[position : position + 1] == ",":
            position = _skip(text, position + 1)
        elif text[position : position + 1] != closing:
            raise json.JSONDecodeError("expected a comma or the end", text, position)
    if text[position + 1 :].strip():
        raise json.JSONDecodeError("expected nothing more", text, position + 1)


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BLANK:
        position += 1
    return position


def _pair(line: int, value: object) -> Pair:
    fields: dict[str, Value] = {}
    if isinstance(value, _Member):
        raw: Mapping[object, object] = {"question": value[0], "answer": value[1]}
    elif isinstance(value, dict):
        raw = cast("Mapping[object, object]", value)
    else:
        return Pair(line, {}, Trouble("json_pair", line=line))
    for key, content in raw.items():
        name = _NAMES.get(str(key).strip().casefold())
        if name is None or content is None:
            continue
        text = _text(content, several=name == "audience")
        if text is None:
            return Pair(line, {}, Trouble("json_pair", line=line))
        if text:
            fields[name] = text
    return _checked(line, fields)


def _text(content: object, *, several: bool) -> Value | None:
    if isinstance(content, str):
        return content.strip()
    if several and isinstance(content, int) and not isinstance(content, bool):
        return str(content)
    if several and isinstance(content, list):
        return [str(entry) for entry in cast("list[object]", content)]
    return None


def _checked(line: int, fields: Mapping[str, Value]) -> Pair:
    missing = [name for name in ("question", "answer") if name not in fields]
    return Pair(line, fields, Trouble("pair_incomplete", line=line, missing=", ".join(missing)) if missing else None)
