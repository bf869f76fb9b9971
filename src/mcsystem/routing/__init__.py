"""Routing: which module a line of text means, decided without calling a model."""

from mcsystem.routing.declare import Command, Routing, no_args
from mcsystem.routing.router import Chosen, Decision, Denied, Misused, Plain, Router, Unknown

__all__ = [
    "Chosen",
    "Command",
    "Decision",
    "Denied",
    "Misused",
    "Plain",
    "Router",
    "Routing",
    "Unknown",
    "no_args",
]
