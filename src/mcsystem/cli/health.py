"""`mcsystem doctor` and `mcsystem config`: what is well, what is not, and what to do."""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from mcsystem.app import LEDGER_FILE, Plan, register_all
from mcsystem.cli.localized import Group
from mcsystem.cli.options import json_option, places
from mcsystem.cli.shell import Shell
from mcsystem.config import AGENT_FILE, KNOWLEDGE_FILE, Config
from mcsystem.doctor import Check, Level, Subject, examine, worst
from mcsystem.engine.registry import ModuleContext, Registry
from mcsystem.errors import AssistantError
from mcsystem.hosts.control_client import connect
from mcsystem.hosts.places import Place
from mcsystem.hosts.screen import Screen
from mcsystem.render.rows import Row, RowStyle, Span
from mcsystem.render.safe import safe_text
from mcsystem.settings import Policy
from mcsystem.storage import Databases

STYLES: Final[dict[Level, RowStyle]] = {Level.OK: "good", Level.WARNING: "warning", Level.ERROR: "error"}
MARKS: Final = {Level.OK: "✔", Level.WARNING: "!", Level.ERROR: "✘"}


@click.command("doctor", help="cli.doctor", short_help="cli.doctor.short")
@click.option("--offline", is_flag=True, help="cli.option.offline")
@json_option
@places
@click.pass_obj
def doctor_command(shell: Shell, *, offline: bool) -> None:
    """One line a check, each with its fix; exit code 1 when one is an error."""
    place = shell.place
    workflows, problems = _workflows(shell, place)
    with connect(place.world) as holder:
        reachable = holder is not None
    subject = Subject(
        world=place.world,
        config=place.config,
        demo=place.demo,
        ledger=place.world / LEDGER_FILE,
        environ=shell.environ,
        workflows=workflows,
        extensions=problems,
        takes_orders=reachable,
        network=not offline,
    )
    checks = asyncio.run(examine(subject))
    if shell.json:
        shell.data([_row(shell, check) for check in checks])
    else:
        _show(shell, checks)
    raise click.exceptions.Exit(1 if worst(checks) is Level.ERROR else 0)


def _workflows(shell: Shell, place: Place) -> tuple[dict[str, Policy], list[AssistantError]]:
    """Every module that a start would register, with what went wrong with extensions; opens nothing of the world."""
    with tempfile.TemporaryDirectory() as empty:
        databases = Databases.open(Path(empty), write=False)
        registry = Registry(ModuleContext(databases, _no_job, lambda _, __: False))
        problems = register_all(registry, Plan(place.world, place.config, write=False, environ=shell.environ))
        databases.close()
    return {name: module.policy for name, module in registry.modules.items()}, problems


def _no_job(job: object) -> None:
    """Background work has no place in an examination."""


def _texts(shell: Shell, check: Check) -> tuple[str, str]:
    """What is so, and what to do about it; the sentence of an error says both."""
    if check.error is not None:
        fix = "" if check.level is Level.OK else shell.texts.find(shell.language, f"doctor_error.{check.name}")
        return safe_text(shell.texts.error(shell.language, check.error)), safe_text(fix or "")
    said = shell.tr(f"doctor.{check.key}", **check.details)
    fix = "" if check.level is Level.OK else shell.tr(f"doctor.{check.key}.fix", **check.details)
    return safe_text(said), safe_text(fix)


def _row(shell: Shell, check: Check) -> dict[str, Any]:
    text, fix = _texts(shell, check)
    code = check.error.code.value if check.error is not None else None
    return {"name": check.name, "level": check.level.value, "text": text, "fix": fix or None, "code": code}


def _show(shell: Shell, checks: list[Check]) -> None:
    screen = Screen.of(sys.stdout)
    rows: list[Row] = []
    for check in checks:
        text, fix = _texts(shell, check)
        label = f"{MARKS[check.level]} {shell.tr(f'doctor.level.{check.level.value}')}  "
        rows.append(Row((Span(label, STYLES[check.level]), Span(f"{check.name}: ", "muted"), Span(text)), hang=4))
        if fix:
            rows.append(Row((Span(f"→ {fix}", "accent"),), indent=4, hang=6))
    counts = {f"{level.value}s": sum(check.level is level for check in checks) for level in Level}
    rows.append(Row((Span(shell.tr("doctor.summary", **counts), STYLES[worst(checks)]),)))
    screen.show(screen.fit(rows))


@click.group("config", cls=Group, help="cli.config", short_help="cli.config.short")
def config() -> None:
    """Everything about settings."""


@config.command("show", help="cli.config.show", short_help="cli.config.show.short")
@places
@click.pass_obj
def show_command(shell: Shell) -> None:
    """The settings in force as JSON; what is wrong goes to standard error."""
    loaded = Config(shell.place.config)
    for problem in loaded.load():
        slots = {"file": problem.file, "field": problem.field, "expected": problem.expected}
        shell.tell(shell.tr("error.CONFIG_INVALID", **slots))
    settings = loaded.settings
    whole = {AGENT_FILE: settings.agent, KNOWLEDGE_FILE: settings.knowledge}
    shell.data({"folder": str(loaded.folder), **{name: msgspec.to_builtins(one) for name, one in whole.items()}})
    raise click.exceptions.Exit(1 if loaded.problems else 0)
