"""Walks over a folder: which files are material, and which names, links and kinds cannot be taken."""

import os
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.knowledge import shown_path
from mcsystem.knowledge_import.report import FileProblem, Trouble

MATERIAL: Final = frozenset({".md", ".markdown", ".txt", ".csv", ".json"})
DEPTH: Final = 32
PATH_BYTES: Final = 1_024


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of the folder.

    Attributes:
        path: below the folder, with `/`, in composed Unicode.
        place: where it is read.
        size: bytes when the folder was walked over.
    """

    path: str
    place: Path
    size: int

    @property
    def kind(self) -> str:
        """Its ending in lower case, with the dot."""
        return self.place.suffix.lower()


@dataclass(slots=True)
class Listing:
    """What a folder holds.

    Attributes:
        files: sorted by path.
        problems: what could not be taken.
        kept: paths, or folders ending in `/`, that could not be looked at now; their documents stay.
        ignored: files of other kinds.
    """

    files: list[SourceFile] = field(default_factory=list[SourceFile])
    problems: list[FileProblem] = field(default_factory=list[FileProblem])
    kept: list[str] = field(default_factory=list[str])
    ignored: int = 0


def resolve_folder(folder: Path) -> Path:
    """The real place of a folder that can be read.

    Errors: KNOWLEDGE_FOLDER_INVALID.
    """
    try:
        root = folder.expanduser().resolve(strict=True)
        with os.scandir(root) as entries:
            next(entries, None)
    except (OSError, RuntimeError, ValueError) as error:
        reason = "missing" if isinstance(error, FileNotFoundError) else "unreadable"
        reason = "not_a_folder" if isinstance(error, NotADirectoryError) else reason
        raise AssistantError(
            ErrorCode.KNOWLEDGE_FOLDER_INVALID, folder=shown_path(str(folder)), reason=reason
        ) from error
    return root


def list_files(root: Path) -> Listing:
    """Every file below `root` that may hold material.

    Hidden files and folders are passed over. A link is followed when it leads to a file inside the folder; one that
    leads out of it is a problem, one to a folder inside is passed over, since that folder is read at its own place.
    """
    listing = Listing()
    seen: dict[str, str] = {}
    for name, entry in _walk(root, listing):
        path = unicodedata.normalize("NFC", name)
        if Path(entry.name).suffix.lower() not in MATERIAL:
            listing.ignored += 1
            continue
        try:
            found = _source(root, path, entry)
        except Trouble as trouble:
            listing.problems.append(trouble.problem(shown_path(path)))
        except OSError:
            listing.problems.append(Trouble("unreadable").problem(shown_path(path)))
            listing.kept.append(path)
        else:
            if path in seen:
                listing.problems.append(Trouble("duplicate").problem(path))
                continue
            seen[path] = name
            listing.files.append(found)
    listing.files.sort(key=lambda file: file.path)
    return listing


def _walk(root: Path, listing: Listing) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    pending = [("", root, 0)]
    while pending:
        above, folder, depth = pending.pop()
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            listing.problems.append(Trouble("unreadable").problem(shown_path(above)))
            listing.kept.append(above)
            continue
        for entry in entries:
            if entry.name.startswith("."):
                continue
            name = above + entry.name
            if not _is_folder(entry):
                yield name, entry
            elif _leaves(root, Path(entry.path)):
                listing.problems.append(Trouble("link").problem(shown_path(name)))
            elif depth >= DEPTH:
                listing.problems.append(Trouble("deep", limit=DEPTH).problem(shown_path(name)))
            elif not entry.is_symlink() and os.path.realpath(entry.path) == str(folder / entry.name):
                pending.append((name + "/", folder / entry.name, depth + 1))


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _leaves(root: Path, place: Path) -> bool:
    return not Path(os.path.realpath(place)).is_relative_to(root)


def _source(root: Path, path: str, entry: "os.DirEntry[str]") -> SourceFile:
    """The file behind an entry.

    Raises:
        Trouble: `link` when it lies outside, `kind` when it is no ordinary file, `path` for a name no key can hold.
    """
    place = Path(entry.path)
    if entry.is_symlink() and _leaves(root, place):
        raise Trouble("link")
    if entry.is_symlink() and not place.exists():
        raise Trouble("unreadable")
    if not entry.is_file():
        raise Trouble("kind")
    if not path.isprintable() or len(path.encode("utf-8", "replace")) > PATH_BYTES:
        raise Trouble("path", limit=PATH_BYTES)
    return SourceFile(path, place, entry.stat().st_size)
