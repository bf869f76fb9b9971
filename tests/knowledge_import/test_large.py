"""Large folders: bounded memory, one write, and the limit of a scope said before anything is written."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.knowledge import KNOWLEDGE, Document
from mcsystem.knowledge_import import import_folder
from mcsystem.resources import Texts
from mcsystem.storage import Database

SOAK = bool(os.environ.get("MCSYSTEM_SOAK"))
MEGABYTES = 50 if SOAK else 3
GREATEST_RSS = 900 if SOAK else 250  # MB of the whole process; measured 390 and 130

# Runs in a process of its own, so that its greatest memory is that of the import and the search alone.
PROGRAM = """
import resource, sys
from pathlib import Path
from mcsystem.knowledge import KNOWLEDGE, Knowledge
from mcsystem.knowledge_import import import_folder
from mcsystem.storage import Databases

databases = Databases.open(Path(sys.argv[1]), write=True)
report = import_folder(databases.shared(), Path(sys.argv[2]), language="en_us")
assert not report.problems, report.problems[:3]
knowledge = Knowledge(databases)
found = knowledge.search(databases.shared(), KNOWLEDGE, "en_us", sys.argv[3])
databases.close()
print(found[0].document, report.added, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000)
"""


def words(rng: random.Random) -> list[str]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(30_000)]


def fill(folder: Path, megabytes: int) -> int:
    """Markdown of random words with a long tail, as real texts have; every file has one word of its own."""
    rng = random.Random(5)
    vocabulary = words(rng)
    count, size = 0, 0
    while size < megabytes * 1_000_000:
        parts = [f"# Topic {count}\n", f"The lonely word here is quokka{count}q.\n"]
        for part in range(30):
            drawn = [vocabulary[int(len(vocabulary) * rng.random() ** 3)] for _ in range(90)]
            parts.append(f"## Part {part}\n\n{' '.join(drawn)}.\n")
        text = "\n".join(parts)
        place = folder / f"d{count % 40}" / f"doc-{count}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        size += len(text)
        count += 1
    return count


@pytest.mark.soak
@pytest.mark.timeout(900 if SOAK else 120)
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has other units elsewhere")
def test_a_large_folder_goes_in_within_bounded_memory(tmp_path: Path) -> None:
    """A folder of 50 MB (3 without MCSYSTEM_SOAK) goes in and is searched in less than 900 MB (250)."""
    count = fill(tmp_path / "docs", MEGABYTES)
    asked = f"quokka{count // 2}q"
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "world"), str(tmp_path / "docs"), asked]
    document, added, rss = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert document.endswith(f"/doc-{count // 2}.md")
    assert int(added) == count
    assert int(rss) < GREATEST_RSS


@pytest.mark.parametrize("files", [6, 12])
def test_an_import_over_the_limit_writes_nothing(
    shared: Database, folder: Path, monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    """What does not fit beside the rest, or not at all, is refused before anything is written, with the limit."""
    monkeypatch.setattr("mcsystem.storage.rows.MAX_BYTES", 1_000_000)
    monkeypatch.setattr(type(shared), "limit", 1_000_000)
    KNOWLEDGE.put(shared, Document("note.md", "zh_cn", "other", "words " * 90_000))
    (folder / "a.md").write_text("small", encoding="utf-8")
    import_folder(shared, folder, language="en_us")
    revision = shared.revision
    (folder / "a.md").write_text("changed", encoding="utf-8")
    for number in range(files):
        (folder / f"big-{number}.md").write_text("Some words.\n\n" * 7_000, encoding="utf-8")
    with pytest.raises(AssistantError) as raised:
        import_folder(shared, folder, language="en_us")
    assert raised.value.code is ErrorCode.STORAGE_TOO_LARGE
    assert raised.value.details["limit"] == 1_000_000
    assert "${" not in Texts.packaged().error("en_us", raised.value)
    assert shared.revision == revision
    assert [one.text for one in KNOWLEDGE.list(shared, "en_us")] == ["small"]


def test_an_import_is_one_write(shared: Database, folder: Path) -> None:
    """However many files there are, the file of the scope is replaced once."""
    for number in range(200):
        (folder / f"{number}.md").write_text(f"text {number}", encoding="utf-8")
    before = shared.revision
    import_folder(shared, folder, language="en_us")
    assert shared.revision == before + 1
