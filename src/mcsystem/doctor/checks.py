"""The whole examination, in the order in which a person would look."""

import asyncio
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mcsystem.config import Problem
from mcsystem.doctor.findings import Check, Level, failed
from mcsystem.doctor.model import check_external, check_model
from mcsystem.doctor.policies import check_policies
from mcsystem.doctor.settings import check_config, read_settings
from mcsystem.doctor.world import check_databases, check_disk, check_folders, check_lock
from mcsystem.errors import AssistantError
from mcsystem.settings import Policy, Settings

OLDEST_PYTHON: Final = (3, 11)
BITS: Final = 2**32


@dataclass(frozen=True, slots=True)
class Subject:
    """What is examined.

    Attributes:
        world: the world's folder.
        config: the config folder.
        demo: whether it is the user's demo world, which is made at its first use.
        ledger: the usage ledger's file.
        environ: where keys are looked up.
        workflows: every module's ID and own budget.
        extensions: what went wrong with extensions.
        takes_orders: whether a process that holds the world takes orders from commands.
        network: whether the model's service may be asked if it is there.
    """

    world: Path
    config: Path
    demo: bool
    ledger: Path
    environ: Mapping[str, str]
    workflows: Mapping[str, Policy]
    extensions: Sequence[AssistantError] = ()
    takes_orders: bool = False
    network: bool = True


async def examine(subject: Subject) -> list[Check]:
    """Every check, also when one of them fails; reads only, and asks the model's service for nothing that is billed."""
    settings, problems = await asyncio.to_thread(read_settings, subject.config)
    checks = await asyncio.to_thread(_local, subject, settings, problems)
    return [*checks, *await check_model(settings.agent, subject.environ, network=subject.network)]


def _local(subject: Subject, settings: Settings, problems: Sequence[Problem]) -> list[Check]:
    return [
        *check_python(),
        *check_folders(subject.world, subject.config, demo=subject.demo),
        *check_disk(subject.world),
        *check_lock(subject.world, takes_orders=subject.takes_orders),
        *check_databases(subject.world, subject.ledger),
        *check_config(subject.config, problems),
        *(failed("extensions", error) for error in subject.extensions),
        *check_policies(settings.agent.policies, subject.workflows),
        *check_external(settings.agent),
    ]


def check_python() -> Iterator[Check]:
    """The interpreter."""
    details = {"version": platform.python_version(), "system": f"{platform.system()} {platform.machine()}"}
    if sys.version_info < OLDEST_PYTHON:  # pragma: no cover - the package does not install there
        yield Check("python", Level.ERROR, "python.old", details)
    elif sys.maxsize < BITS:
        yield Check("python", Level.WARNING, "python.narrow", details)
    else:
        yield Check("python", Level.OK, "python", details)
