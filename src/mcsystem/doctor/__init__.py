"""Looks at everything a server needs and says of each thing whether it is well, and if not what to do."""

from mcsystem.doctor.checks import Subject, examine
from mcsystem.doctor.findings import Check, Level, worst
from mcsystem.doctor.world import LEDGER_NAME

__all__ = ["LEDGER_NAME", "Check", "Level", "Subject", "examine", "worst"]
