"""What an import did, file by file where something was wrong."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcsystem.errors import Detail, ErrorCode


@dataclass(frozen=True, slots=True)
class FileProblem:
    """Something an admin should know about one file.

    Attributes:
        file: path below the imported folder; empty when the folder itself is meant.
        line: line in the file, from 1; None when there is none to name.
        code: KNOWLEDGE_FILE_INVALID, LANGUAGE_UNKNOWN, or what made the whole import fail.
        details: slots of the sentence, such as the value that was not understood.
        reason: the kind of problem; its sentence is the text `knowledge.problem.<reason>`.
        skipped: whether the file, or the pair on that line, was left out; False for a warning.
    """

    file: str
    line: int | None
    code: ErrorCode
    details: Mapping[str, Detail] = field(default_factory=dict[str, Detail])
    reason: str = ""
    skipped: bool = True

    @property
    def key(self) -> str:
        """Key of the sentence that says what is wrong and what to do; its slots are the details."""
        return f"knowledge.problem.{self.reason}" if self.reason else f"error.{self.code.value}"

    @property
    def place(self) -> str:
        """`file:line`, or the file alone."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an import has come.

    Attributes:
        files: files that are done.
        total_files: files there are.
        read_bytes: bytes of the files that are done.
        total_bytes: bytes of all files.
        file: the one done last, below the imported folder.
    """

    files: int
    total_files: int
    read_bytes: int
    total_bytes: int
    file: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did; counts are documents, each pair of a table of questions being one.

    Attributes:
        folder: the folder as it was resolved.
        collection: ID under which its documents are kept.
        language: the language of files that name none.
        files: files that were read.
        ignored: files of other kinds that were passed over.
        added: documents that are new.
        changed: documents that had other content before.
        removed: documents whose file or pair is gone.
        unchanged: documents that were not touched.
        passages: passages of the added and changed documents.
        problems: in the order of the files.
        stopped: whether the caller stopped it; then nothing was written.
    """

    folder: str
    collection: str
    language: str
    files: int = 0
    ignored: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    passages: int = 0
    problems: tuple[FileProblem, ...] = ()
    stopped: bool = False

    @property
    def documents(self) -> int:
        """Documents of this folder that are in the knowledge now."""
        return self.added + self.changed + self.unchanged


class Trouble(Exception):  # noqa: N818  # never leaves this package: it becomes a FileProblem
    """Why a file, or what stands on one of its lines, cannot be taken.

    Args:
        reason: see `FileProblem.reason`.
        line: line in the text that was being read.
        code: the problem's code.
        details: slots of its sentence.
    """

    def __init__(
        self,
        reason: str,
        *,
        line: int | None = None,
        code: ErrorCode = ErrorCode.KNOWLEDGE_FILE_INVALID,
        **details: Detail,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.code = code
        self.details = details

    def problem(self, file: str, *, skipped: bool = True) -> FileProblem:
        """The problem it makes of `file`."""
        return FileProblem(file, self.line, self.code, self.details, self.reason, skipped)
