"""The door to text models: a metered gateway over a provider over a thin transport; it knows no card and no module."""

from mcsystem.gateways.attempts import Attempt, AttemptState, DayUse, Usage
from mcsystem.gateways.ledger import Ledger
from mcsystem.gateways.model import ModelGateway
from mcsystem.gateways.provider import Completion, Connection, ModelCall, ModelReply, Provider, Refused
from mcsystem.gateways.scripted import ScriptedModel
from mcsystem.gateways.secret import MaskingFilter, Secret

__all__ = [
    "Attempt",
    "AttemptState",
    "Completion",
    "Connection",
    "DayUse",
    "Ledger",
    "MaskingFilter",
    "ModelCall",
    "ModelGateway",
    "ModelReply",
    "Provider",
    "Refused",
    "ScriptedModel",
    "Secret",
    "Usage",
]
