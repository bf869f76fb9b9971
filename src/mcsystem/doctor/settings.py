"""The config files as they are, without writing the missing ones."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from mcsystem.config import AGENT_FILE, KNOWLEDGE_FILE, Problem, read_struct
from mcsystem.doctor.findings import Check, Level
from mcsystem.errors import AssistantError
from mcsystem.resources import read_texts
from mcsystem.settings import AgentSettings, KnowledgeSettings, Settings

S = TypeVar("S", bound=msgspec.Struct)


def read_settings(folder: Path) -> tuple[Settings, list[Problem]]:
    """The settings that a start would use now, and what is wrong in the files."""
    problems: list[Problem] = []
    agent = _read(folder / AGENT_FILE, AgentSettings, problems)
    knowledge = _read(folder / KNOWLEDGE_FILE, KnowledgeSettings, problems)
    try:
        read_texts(folder / "lang")
    except AssistantError as error:
        file, where, expected = (str(error.details.get(name, "")) for name in ("file", "field", "expected"))
        problems.append(Problem(f"lang/{file}", where, expected))
    return Settings(agent=agent, knowledge=knowledge), problems


def _read(path: Path, kind: type[S], problems: list[Problem]) -> S:
    return read_struct(path, kind, problems) if path.exists() else kind()


def check_config(folder: Path, problems: Sequence[Problem]) -> Iterator[Check]:
    """One line for each thing wrong, or one that all is well."""
    for one in problems:
        key = "settings.field" if one.field else "settings.file"
        details = {"file": str(folder / one.file), "field": one.field, "expected": one.expected}
        yield Check("settings", Level.ERROR, key, details)
    if not problems:
        yield Check("settings", Level.OK, "settings")
