"""`mcsystem knowledge import`: a folder goes in, with progress, what was wrong file by file, and a summary."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import click
import watchfiles
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from mcsystem.cli.options import json_option, owner_option, places
from mcsystem.cli.shell import Shell
from mcsystem.errors import AssistantError
from mcsystem.hosts.control_client import fulfil
from mcsystem.hosts.orders import ImportKnowledge
from mcsystem.ids import check_language
from mcsystem.knowledge_import import FileProblem, ImportReport
from mcsystem.knowledge_import import Progress as Step
from mcsystem.render.safe import safe_text

DEBOUNCE_MILLIS: Final = 600
TICK_MILLIS: Final = 500
COUNTS: Final = ("added", "changed", "removed", "unchanged", "passages")


@click.command("import", help="cli.knowledge.import", short_help="cli.knowledge.import.short")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@owner_option
@click.option("--watch", is_flag=True, help="cli.option.watch")
@json_option
@places
@click.pass_obj
def import_command(shell: Shell, folder: Path, player: str | None, *, watch: bool) -> None:
    """A folder of Markdown, text, CSV or JSON."""
    if not shell.asked:
        raise click.UsageError(shell.tr("cli.knowledge.import.language"))
    language = check_language(shell.asked)
    place = shell.writable()
    if place.demo:
        shell.existing()
    owner = None if player is None else shell.player(player, place).uuid
    order = ImportKnowledge(str((shell.folder / folder.expanduser()).absolute()), language, owner)
    report = _once(shell, place.world, order)
    _told(shell, report, place.world)
    if watch:
        _watch(shell, place.world, order, report)
    failed = not report.documents and any(problem.skipped for problem in report.problems)
    raise click.exceptions.Exit(1 if failed else 0)


def _once(shell: Shell, world: Path, order: ImportKnowledge) -> ImportReport:
    with _bar(shell) as tell:
        return fulfil(world, order, ImportReport, tell=tell)


@contextmanager
def _bar(shell: Shell) -> Generator[Callable[[Step], None]]:
    """A progress bar on a terminal, nothing elsewhere."""
    console = Console(stderr=True, highlight=False, markup=False)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(shell.tr("cli.knowledge.import.reading"), total=None)

        def tell(step: Step) -> None:
            progress.update(task, completed=step.files, total=step.total_files)

        yield tell


def _watch(shell: Shell, world: Path, order: ImportKnowledge, report: ImportReport) -> None:
    """Import again after each change until Ctrl-C; in between the world is free for others."""
    shell.tell(shell.tr("cli.knowledge.import.watching", folder=order.folder))
    last, looked = report, False
    for changes in watchfiles.watch(
        order.folder,
        debounce=DEBOUNCE_MILLIS,
        rust_timeout=TICK_MILLIS,
        yield_on_timeout=True,
        raise_interrupt=False,
        watch_filter=_visible,
    ):
        if looked and not changes:
            continue
        looked = True  # the first look comes once the watcher stands: no change after the import is missed
        try:
            found = _once(shell, world, order)
        except AssistantError as error:
            shell.tell(shell.texts.error(shell.language, error))
            continue
        if found.added or found.changed or found.removed or found.problems != last.problems:
            _told(shell, found, world)
        last = found


def _visible(_: watchfiles.Change, path: str) -> bool:
    return not Path(path).name.startswith(".")


def _told(shell: Shell, report: ImportReport, world: Path) -> None:
    for problem in report.problems:
        shell.tell(f"{safe_text(problem.place) or report.folder}: {sentence(shell, problem)}")
    if shell.json:
        shell.data(_data(shell, report))
        return
    slots: dict[str, Any] = {name: getattr(report, name) for name in COUNTS}
    shell.out(shell.tr("cli.knowledge.import.done", **slots, files=report.files, world=world))
    if report.ignored:
        shell.out(shell.tr("cli.knowledge.import.ignored", count=report.ignored))
    skipped = sum(problem.skipped for problem in report.problems)
    if report.problems:
        shell.out(shell.tr("cli.knowledge.import.problems", skipped=skipped, warnings=len(report.problems) - skipped))


def sentence(shell: Shell, problem: FileProblem) -> str:
    """What is wrong with a file and what to do."""
    return shell.tr(problem.key, **{"file": problem.file, **problem.details})


def _data(shell: Shell, report: ImportReport) -> dict[str, Any]:
    counts: dict[str, Any] = {name: getattr(report, name) for name in (*COUNTS, "files", "ignored", "collection")}
    problems = [
        {
            "file": one.file,
            "line": one.line,
            "code": one.code.value,
            "reason": one.reason,
            "skipped": one.skipped,
            "text": sentence(shell, one),
        }
        for one in report.problems
    ]
    return {**counts, "problems": problems}


def player_uuid(shell: Shell, name: str | None) -> UUID | None:
    """The account whose own knowledge is meant, None for the shared one.

    Errors: PLAYER_UNKNOWN.
    """
    return None if name is None else shell.player(name, shell.place).uuid
