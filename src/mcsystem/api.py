"""Everything an extension may import. What is not listed here may change without notice."""

from mcsystem.cards import Button, Calls, Card, Details, Line, Link, Source, Status
from mcsystem.config import Problem
from mcsystem.engine.context import ToolContext
from mcsystem.engine.registry import API_VERSION, Module, ModuleContext, Registry
from mcsystem.engine.run import CommandHelp, Material, RunContext
from mcsystem.engine.tool import Tool, tool
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.ids import AnsweredBy, Origin, Player, check_language
from mcsystem.knowledge import KNOWLEDGE, Document, Found
from mcsystem.routing import Command, Routing, no_args
from mcsystem.routing.declare import NoArgs
from mcsystem.settings import Policy
from mcsystem.storage import Database, Databases, Put, Remove, Replace, Table

__all__ = [
    "API_VERSION",
    "KNOWLEDGE",
    "AnsweredBy",
    "AssistantError",
    "Button",
    "Calls",
    "Card",
    "Command",
    "CommandHelp",
    "Database",
    "Databases",
    "Details",
    "Document",
    "ErrorCode",
    "Found",
    "Line",
    "Link",
    "Material",
    "Module",
    "ModuleContext",
    "NoArgs",
    "Origin",
    "Player",
    "Policy",
    "Problem",
    "Put",
    "Registry",
    "Remove",
    "Replace",
    "Routing",
    "RunContext",
    "Source",
    "Status",
    "Table",
    "Tool",
    "ToolContext",
    "check_language",
    "no_args",
    "tool",
]
