"""Typed tables in files that are replaced whole: one file for a world, one for each player."""

from mcsystem.storage.backend import Finding
from mcsystem.storage.codec import Codec
from mcsystem.storage.database import Database
from mcsystem.storage.databases import Databases
from mcsystem.storage.lock import WorldLock
from mcsystem.storage.table import Change, Put, Remove, Replace, Table
from mcsystem.storage.tags import Tree

__all__ = [
    "Change",
    "Codec",
    "Database",
    "Databases",
    "Finding",
    "Put",
    "Remove",
    "Replace",
    "Table",
    "Tree",
    "WorldLock",
]
