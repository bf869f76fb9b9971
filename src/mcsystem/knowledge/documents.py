"""What knowledge is made of: a document with its language and audience, and where it comes from."""

import hashlib
import re
from dataclasses import dataclass, field
from typing import Final, Literal

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.ids import check_language
from mcsystem.knowledge.audience import Audience

Kind = Literal["document", "answer"]

_ENTRY: Final = re.compile(r"(.+)#([0-9a-f]{8,32}(?:-[0-9]+)?)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    """A key taken apart; see `Document.key`."""

    language: str
    collection: str
    path: str
    entry: str


def split_key(key: str) -> Place:
    """The parts of a document's key."""
    language, _, rest = key.partition("/")
    collection, _, path = rest.partition("/")
    found = _ENTRY.fullmatch(path)
    return Place(language, collection, found[1], found[2]) if found else Place(language, collection, path, "")


@dataclass(frozen=True, slots=True)
class Document:
    """One document, or one question with its answer.

    Attributes:
        path: where it stands below the imported folder, with `/`; its name when code put it there.
        language: the only language in whose searches it is found, such as `en_us`.
        title: first part of the title path; for an answer the question.
        text: the body without front matter.
        audience: who may see it.
        collection: ID of the imported folder; empty when code put it there.
        url: where to read on, else None.
        kind: `document`, or `answer` for one pair of a table of questions.
        entry: which pair of its file an answer is, 8 to 32 hexadecimal digits; empty for documents.
    """

    path: str
    language: str
    title: str
    text: str
    audience: Audience = field(default_factory=Audience.everyone)
    collection: str = ""
    url: str | None = None
    kind: Kind = "document"
    entry: str = ""

    @property
    def key(self) -> str:
        """Its key in a document table: `<language>/<collection>/<path>`, and `#<entry>` for one pair of a file.

        Errors: LANGUAGE_UNKNOWN; KNOWLEDGE_FILE_INVALID when path or collection cannot be part of a key.
        """
        if check_language(self.language) != self.language:
            raise AssistantError(ErrorCode.LANGUAGE_UNKNOWN, language=self.language[:20])
        whole = f"{self.language}/{self.collection}/{self.path}" + (f"#{self.entry}" if self.entry else "")
        sound = self.path and "/" not in self.collection and _plain(self.path + self.collection)
        if not sound or split_key(whole) != Place(self.language, self.collection, self.path, self.entry):
            raise AssistantError(ErrorCode.KNOWLEDGE_FILE_INVALID, file=shown_path(self.path), line=0, reason="path")
        return whole

    @property
    def markdown(self) -> bool:
        """Whether headings and code fences in the text mean something."""
        return self.kind == "document" and not self.path.casefold().endswith(".txt")


def digest(document: Document) -> bytes:
    """16 bytes that differ whenever anything that is shown, searched or allowed differs."""
    made = hashlib.blake2b(digest_size=16)
    fields = (document.path, document.title, document.audience.text, document.url or "", document.kind, document.entry)
    for value in (*fields, document.text):
        raw = value.encode("utf-8", "surrogatepass")
        made.update(len(raw).to_bytes(8, "big"))
        made.update(raw)
    return made.digest()


def fingerprint(title: str, text: str, audience: Audience) -> str:
    """Names one passage: another title path, text or audience is another fingerprint."""
    made = hashlib.blake2b(digest_size=16)
    for value in (title, text, audience.text):
        raw = value.encode("utf-8", "surrogatepass")
        made.update(len(raw).to_bytes(8, "big"))
        made.update(raw)
    return made.hexdigest()


def _plain(text: str) -> bool:
    return text.isprintable() and not any("\ud800" <= letter <= "\udfff" for letter in text)


def shown_path(path: str) -> str:
    """A path as a message may show it: at most 200 characters, what is not text escaped."""
    return path.encode("utf-8", "backslashreplace").decode()[:200]
