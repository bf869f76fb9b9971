"""Watching a folder: changes go in by themselves, until it is stopped."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.knowledge import KNOWLEDGE
from mcsystem.knowledge_import import ImportReport, watch_folder
from mcsystem.storage import Database

WAIT = 30.0  # seconds; a change is usually seen within one


class Watch:
    """A watch that runs in a thread of its own."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.reports: list[ImportReport] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(database, folder))
        self._thread.start()

    def _run(self, database: Database, folder: Path) -> None:
        self.reports.extend(watch_folder(database, folder, language="en_us", stop=self._stop.is_set))

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(WAIT)
        assert not self._thread.is_alive()


@pytest.fixture
def watch(shared: Database, folder: Path) -> Iterator[Watch]:
    """A watch over a folder with one file."""
    (folder / "a.md").write_text("first", encoding="utf-8")
    running = Watch(shared, folder)
    yield running
    running.stop()


def until(seen: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT
    while not seen():
        assert time.monotonic() < end
        time.sleep(0.05)


def texts(database: Database) -> dict[str, str]:
    return {one.path: one.text for one in KNOWLEDGE.list(database, "en_us")}


def test_changes_go_in_by_themselves(shared: Database, folder: Path, watch: Watch) -> None:
    """A new, a changed and a deleted file are each seen soon; every report found something."""
    until(lambda: texts(shared) == {"a.md": "first"})
    (folder / "sub").mkdir()
    (folder / "sub" / "b.md").write_text("second", encoding="utf-8")
    until(lambda: texts(shared) == {"a.md": "first", "sub/b.md": "second"})
    (folder / "a.md").write_text("changed", encoding="utf-8")
    until(lambda: texts(shared)["a.md"] == "changed")
    (folder / "sub" / "b.md").unlink()
    until(lambda: texts(shared) == {"a.md": "changed"})
    watch.stop()
    assert sum(report.added for report in watch.reports) == 2
    assert all(report.added or report.changed or report.removed for report in watch.reports)


def test_a_folder_that_vanishes_keeps_its_documents(shared: Database, folder: Path, watch: Watch) -> None:
    """Deleting the whole folder is reported, and is not taken for deleting every document."""
    until(lambda: texts(shared) == {"a.md": "first"})
    shutil.move(folder, folder.with_name("elsewhere"))
    until(lambda: any(report.problems for report in watch.reports))
    assert watch.reports[-1].problems[0].code is ErrorCode.KNOWLEDGE_FOLDER_INVALID
    assert texts(shared) == {"a.md": "first"}


def test_a_missing_folder_is_said_at_once(shared: Database, folder: Path) -> None:
    """Watching what is not there is an error at the beginning."""
    with pytest.raises(AssistantError) as raised:
        next(watch_folder(shared, folder / "missing", language="en_us"))
    assert raised.value.code is ErrorCode.KNOWLEDGE_FOLDER_INVALID
