"""Reads one file as documents: text with front matter, or a table of questions."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.ids import check_language
from mcsystem.knowledge import Audience, Document, read_audience
from mcsystem.knowledge_import.answers import Pair, Value, read_csv, read_json
from mcsystem.knowledge_import.decoding import clean, decode
from mcsystem.knowledge_import.folder import SourceFile
from mcsystem.knowledge_import.front_matter import Field, read_front_matter
from mcsystem.knowledge_import.languages import MINECRAFT_LANGUAGES
from mcsystem.knowledge_import.report import FileProblem, Trouble

MEBIBYTE: Final = 1024 * 1024
FILE_BYTES: Final = 8 * MEBIBYTE
TITLE: Final = 200
URL: Final = 2_048
_HEADING: Final = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)(?:[ \t]+#+)?[ \t]*$", re.MULTILINE)
_HEADING_WITHIN: Final = 4_096
_SHOWN: Final = 60


@dataclass(slots=True)
class Reading:
    """What one file gave.

    Attributes:
        documents: in the order of the file.
        problems: what was wrong, by line.
        kept: whether the file could not be read now, so that what is known of it stays.
    """

    documents: list[Document] = field(default_factory=list[Document])
    problems: list[FileProblem] = field(default_factory=list[FileProblem])
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Setting:
    """What holds for every file of one import."""

    language: str
    collection: str


def read_file(file: SourceFile, setting: Setting) -> Reading:
    """The documents of one file; what is wrong with it is in the problems, nothing is raised."""
    reading = Reading()
    try:
        text = decode(_bytes(file))
        if file.kind in {".csv", ".json"}:
            pairs = read_csv(text) if file.kind == ".csv" else read_json(text)
            _answers(file.path, pairs, setting, reading)
        else:
            reading.documents.append(_document(file, text, setting, reading))
    except Trouble as trouble:
        reading.documents.clear()
        reading.problems.append(trouble.problem(file.path))
    except OSError:
        reading.documents.clear()
        reading.problems.append(Trouble("unreadable").problem(file.path))
        reading.kept = True
    return reading


@dataclass(frozen=True, slots=True)
class Given:
    """One text as a document.

    Attributes:
        document: what it says, None when it cannot be one.
        fields: names of what its front matter says.
        problems: what is wrong with it.
    """

    document: Document | None
    fields: frozenset[str]
    problems: tuple[FileProblem, ...]


def read_document(path: str, text: str, *, language: str) -> Given:
    """One text, front matter included, as the document `path`; nothing is raised."""
    reading = Reading()
    try:
        cleaned = decode(text.encode("utf-8", "replace"))
        fields = frozenset(read_front_matter(cleaned).fields)
        file = SourceFile(path, Path(path), len(cleaned))
        document = _document(file, cleaned, Setting(language, ""), reading)
    except Trouble as trouble:
        return Given(None, frozenset(), (trouble.problem(path),))
    return Given(document, fields, tuple(reading.problems))


def _bytes(file: SourceFile) -> bytes:
    with file.place.open("rb") as opened:
        data = opened.read(FILE_BYTES + 1)
    if len(data) > FILE_BYTES:
        raise Trouble("large", limit=FILE_BYTES // MEBIBYTE, size=round(file.size / MEBIBYTE, 1))
    return data


def _document(file: SourceFile, text: str, setting: Setting, reading: Reading) -> Document:
    front = read_front_matter(text)
    if not front.body.strip():
        raise Trouble("empty", line=front.line if front.fields else None)
    marks = _Marks(file.path, front.fields, reading.problems)
    return Document(
        path=file.path,
        language=marks.language(setting.language),
        title=marks.title() or _heading(file, front.body) or _name(file.path),
        text=front.body,
        audience=marks.audience(),
        collection=setting.collection,
        url=marks.url(),
    )


def _heading(file: SourceFile, body: str) -> str:
    """The first heading when the text begins with one; a heading further down names a part only."""
    if file.kind == ".txt":
        return ""
    found = _HEADING.search(body[:_HEADING_WITHIN])
    return fold(found[1])[:TITLE] if found and not body[: found.start()].strip() else ""


def _name(path: str) -> str:
    """The file's name as words."""
    name = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return fold(name.replace("-", " ").replace("_", " "))[:TITLE] or path[:TITLE]


def _answers(path: str, pairs: Iterator[Pair], setting: Setting, reading: Reading) -> None:
    seen: dict[tuple[str, str], int] = {}
    for pair in pairs:
        try:
            reading.documents.append(_answer(path, pair, setting, seen, reading.problems))
        except Trouble as trouble:
            reading.problems.append(trouble.problem(path))
    if not reading.documents and not reading.problems:
        raise Trouble("empty")


def _answer(
    path: str, pair: Pair, setting: Setting, seen: dict[tuple[str, str], int], problems: list[FileProblem]
) -> Document:
    if pair.trouble is not None:
        raise pair.trouble
    question, text = fold(clean(_one(pair.fields["question"]))), clean(_one(pair.fields["answer"]))
    if not question or not text.strip():
        raise Trouble("pair_incomplete", line=pair.line, missing="answer" if question else "question")
    marks = _Marks(path, {name: Field(value, pair.line) for name, value in pair.fields.items()}, problems)
    language = marks.language(setting.language)
    entry = hashlib.blake2b(question.casefold().encode("utf-8", "replace"), digest_size=6).hexdigest()
    count = seen[language, entry] = seen.get((language, entry), 0) + 1
    return Document(
        path=path,
        language=language,
        title=question[: 5 * TITLE],
        text=text,
        audience=marks.audience(),
        collection=setting.collection,
        url=marks.url(),
        kind="answer",
        entry=entry if count == 1 else f"{entry}-{count}",
    )


@dataclass(frozen=True, slots=True)
class _Marks:
    """Title, language, audience and address that a file or a pair gives itself."""

    path: str
    fields: Mapping[str, Field]
    problems: list[FileProblem]

    def title(self) -> str:
        """The title; empty when there is none.

        Raises:
            Trouble: `front_matter_line` for a list.
        """
        found = self.fields.get("title")
        if found is None:
            return ""
        if not isinstance(found.value, str):
            raise Trouble("front_matter_line", line=found.line)
        return fold(found.value)[:TITLE]

    def language(self, default: str) -> str:
        """The language, which wins over the import's.

        Raises:
            Trouble: `language` when it is none.
        """
        found = self.fields.get("language")
        if found is None:
            return default
        raw = _one(found.value)
        try:
            language = check_language(raw)
        except AssistantError as error:
            details = {"language": fold(raw)[:20]}
            raise Trouble("language", line=found.line, code=ErrorCode.LANGUAGE_UNKNOWN, **details) from error
        if language not in MINECRAFT_LANGUAGES:
            self._warn("language_rare", found.line, ErrorCode.LANGUAGE_UNKNOWN, language=language)
        return language

    def audience(self) -> Audience:
        """Who may see it: everyone when nothing is said, nobody when what is said is not understood."""
        found = self.fields.get("audience")
        if found is None:
            return Audience.everyone()
        reading = read_audience(found.value)
        if not reading.known:
            self._warn("audience", found.line, value=fold(_shown(found.value))[:_SHOWN])
        elif reading.guessed:
            self._warn("audience_name", found.line, value=fold(_shown(found.value))[:_SHOWN])
        return reading.audience

    def url(self) -> str | None:
        """Where to read on; None when there is none or it is no web address."""
        found = self.fields.get("url")
        raw = _one(found.value).strip() if found else ""
        if found is None or not raw:
            return None
        try:
            parts = urlsplit(raw)
            sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and raw.isprintable() and " " not in raw
        except ValueError:
            sound = False
        if not sound or len(raw) > URL:
            self._warn("url", found.line, value=fold(raw)[:_SHOWN])
            return None
        return raw

    def _warn(self, reason: str, line: int, code: ErrorCode = ErrorCode.KNOWLEDGE_FILE_INVALID, **details: str) -> None:
        self.problems.append(FileProblem(self.path, line, code, details, reason, skipped=False))


def _one(value: Value) -> str:
    return value if isinstance(value, str) else " ".join(value)


def _shown(value: Value | Sequence[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value)


def fold(text: str) -> str:
    """`text` in one line, white space folded."""
    return " ".join(text.split())
