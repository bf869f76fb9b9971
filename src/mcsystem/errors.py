"""The one error class of System and its stable codes."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

Detail = str | int | float | bool | None


class ErrorCode(StrEnum):
    """Stable codes `<AREA>_<WHAT>`: they only grow and never change meaning; people read `error.<CODE>`."""

    # storage
    STORAGE_CORRUPT = "STORAGE_CORRUPT"
    STORAGE_READ_FAILED = "STORAGE_READ_FAILED"
    STORAGE_WRITE_FAILED = "STORAGE_WRITE_FAILED"
    STORAGE_READ_ONLY = "STORAGE_READ_ONLY"
    STORAGE_CLOSED = "STORAGE_CLOSED"
    STORAGE_REVOKED = "STORAGE_REVOKED"
    STORAGE_CONFLICT = "STORAGE_CONFLICT"
    STORAGE_VALUE_INVALID = "STORAGE_VALUE_INVALID"
    STORAGE_TOO_LARGE = "STORAGE_TOO_LARGE"
    STORAGE_TABLE_MISMATCH = "STORAGE_TABLE_MISMATCH"
    STORAGE_ID_INVALID = "STORAGE_ID_INVALID"
    STORAGE_NEWER_FORMAT = "STORAGE_NEWER_FORMAT"
    STORAGE_EXPORT_INVALID = "STORAGE_EXPORT_INVALID"
    STORAGE_ON_LOOP = "STORAGE_ON_LOOP"
    STORAGE_WORLD_LOCKED = "STORAGE_WORLD_LOCKED"
    # worlds and players
    WORLD_NOT_FOUND = "WORLD_NOT_FOUND"
    PLAYER_UNKNOWN = "PLAYER_UNKNOWN"
    # knowledge
    KNOWLEDGE_FOLDER_INVALID = "KNOWLEDGE_FOLDER_INVALID"
    KNOWLEDGE_FILE_INVALID = "KNOWLEDGE_FILE_INVALID"
    KNOWLEDGE_NOT_FOUND = "KNOWLEDGE_NOT_FOUND"
    KNOWLEDGE_CHANGED = "KNOWLEDGE_CHANGED"
    LANGUAGE_UNKNOWN = "LANGUAGE_UNKNOWN"
    # configuration
    CONFIG_INVALID = "CONFIG_INVALID"
    CONFIG_UNREADABLE = "CONFIG_UNREADABLE"
    # requests
    REQUEST_EMPTY = "REQUEST_EMPTY"
    REQUEST_TOO_LONG = "REQUEST_TOO_LONG"
    REQUEST_UNKNOWN_COMMAND = "REQUEST_UNKNOWN_COMMAND"
    REQUEST_ARGUMENTS_INVALID = "REQUEST_ARGUMENTS_INVALID"
    BUTTON_STALE = "BUTTON_STALE"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    # engine
    ENGINE_BUSY = "ENGINE_BUSY"
    ENGINE_PLAYER_BUSY = "ENGINE_PLAYER_BUSY"
    ENGINE_CANCELLED = "ENGINE_CANCELLED"
    ENGINE_REVOKED = "ENGINE_REVOKED"
    ENGINE_CLOSED = "ENGINE_CLOSED"
    ENGINE_TIMEOUT = "ENGINE_TIMEOUT"
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"
    TOOL_NOT_GRANTED = "TOOL_NOT_GRANTED"
    TOOL_WRITE_REFUSED = "TOOL_WRITE_REFUSED"
    TOOL_ARGUMENTS_INVALID = "TOOL_ARGUMENTS_INVALID"
    EXTENSION_INVALID = "EXTENSION_INVALID"
    # models
    EXTERNAL_AI_OFF = "EXTERNAL_AI_OFF"
    MODEL_NOT_CONFIGURED = "MODEL_NOT_CONFIGURED"
    MODEL_KEY_REJECTED = "MODEL_KEY_REJECTED"
    MODEL_NO_CREDIT = "MODEL_NO_CREDIT"
    MODEL_RATE_LIMITED = "MODEL_RATE_LIMITED"
    MODEL_BUSY = "MODEL_BUSY"
    MODEL_TIMEOUT = "MODEL_TIMEOUT"
    MODEL_UNAVAILABLE = "MODEL_UNAVAILABLE"
    MODEL_HTTP_ERROR = "MODEL_HTTP_ERROR"
    MODEL_INVALID_REQUEST = "MODEL_INVALID_REQUEST"
    MODEL_INVALID_RESPONSE = "MODEL_INVALID_RESPONSE"
    MODEL_CITATION_INVALID = "MODEL_CITATION_INVALID"
    QUOTA_DAILY_CALLS = "QUOTA_DAILY_CALLS"
    LEDGER_UNAVAILABLE = "LEDGER_UNAVAILABLE"
    # anything else is a bug of ours
    INTERNAL = "INTERNAL"


# After one of these a workflow may go on with what it already has (show the passages without a model's answer).
RECOVERABLE: Final = frozenset(
    {
        ErrorCode.BUDGET_EXHAUSTED,
        ErrorCode.EXTERNAL_AI_OFF,
        ErrorCode.MODEL_NOT_CONFIGURED,
        ErrorCode.MODEL_KEY_REJECTED,
        ErrorCode.MODEL_NO_CREDIT,
        ErrorCode.MODEL_RATE_LIMITED,
        ErrorCode.MODEL_BUSY,
        ErrorCode.MODEL_TIMEOUT,
        ErrorCode.MODEL_UNAVAILABLE,
        ErrorCode.MODEL_HTTP_ERROR,
        ErrorCode.MODEL_INVALID_REQUEST,
        ErrorCode.MODEL_INVALID_RESPONSE,
        ErrorCode.MODEL_CITATION_INVALID,
        ErrorCode.QUOTA_DAILY_CALLS,
        ErrorCode.LEDGER_UNAVAILABLE,
    }
)


class AssistantError(Exception):
    """Everything System can say went wrong: a stable code and log-safe details (no players' text, no keys).

    Args:
        code: what happened; the sentence for people is `error.<code>` in the language files.
        details: named scalars that the sentence may show, such as `file` or `limit`.
    """

    def __init__(self, code: ErrorCode, /, **details: Detail) -> None:
        super().__init__(code)
        self.code: Final = code
        self.details: Final[Mapping[str, Detail]] = MappingProxyType(details)

    @property
    def recoverable(self) -> bool:
        """Whether a workflow may go on with what it already has."""
        return self.code in RECOVERABLE

    def __str__(self) -> str:
        """Code and details for logs."""
        shown = ", ".join(f"{name}={value!r}" for name, value in self.details.items())
        return f"{self.code.value}({shown})"
