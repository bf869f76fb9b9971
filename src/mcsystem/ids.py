"""Who asks, what they asked, and where a request came from: plain values that every layer may hold."""

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from uuid import UUID

from mcsystem.errors import AssistantError, ErrorCode

NAMESPACED: Final = re.compile(r"[a-z0-9_.-]{1,64}:[a-z0-9_./-]{1,128}")
LANGUAGE: Final = re.compile(r"[a-z]{2,3}_[a-z0-9]{2,4}")
PLAYER_NAME: Final = re.compile(r"[.*_A-Za-z0-9][A-Za-z0-9_ ]{0,30}")


class Origin(StrEnum):
    """How a module was chosen; write tools are refused for LOCAL and CACHE."""

    EXPLICIT = "explicit"
    LOCAL = "local"
    CACHE = "cache"
    MODEL = "model"
    EVENT = "event"


class AnsweredBy(StrEnum):
    """What made the answer that is shown."""

    COMMAND = "command"
    LOCAL = "local"
    MODEL = "model"
    WEB = "web"


class Proof(StrEnum):
    """Whether the host knows the speaker (PROVEN) or only read a name (CLAIMED)."""

    CLAIMED = "claimed"
    PROVEN = "proven"


@dataclass(frozen=True, slots=True)
class Player:
    """A player as the host knows them.

    Attributes:
        uuid: the account's UUID; names their database file.
        name: shown name.
        language: a Minecraft language code such as `en_us` or `zh_cn`.
        permission: the server's permission level, 0 (player) to 4 (owner).
    """

    uuid: UUID
    name: str
    language: str
    permission: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """One thing a player typed or pressed.

    Attributes:
        player: who asks, in the host's word.
        text: what they typed, as they typed it.
        proof: whether the host can prove the speaker.
        language: the language this one request is asked in, stronger than what the player chose; empty without one.
    """

    player: Player
    text: str
    proof: Proof = Proof.PROVEN
    language: str = ""


def check_id(text: str) -> str:
    """Return `text` when it is a namespaced ID such as `example:notes`.

    Errors: STORAGE_ID_INVALID.
    """
    if not NAMESPACED.fullmatch(text):
        raise AssistantError(ErrorCode.STORAGE_ID_INVALID, id=text[:80], expected="namespace:name")
    return text


def check_language(text: str) -> str:
    """Return the normal form of a language code (`zh-CN` -> `zh_cn`).

    Errors: LANGUAGE_UNKNOWN when it has not the shape of one.
    """
    code = text.strip().lower().replace("-", "_")
    if not LANGUAGE.fullmatch(code):
        raise AssistantError(ErrorCode.LANGUAGE_UNKNOWN, language=text[:20])
    return code


def offline_uuid(name: str) -> UUID:
    """The UUID that a server in offline mode gives to `name` (UUID v3 of `OfflinePlayer:<name>`)."""
    digest = bytearray(hashlib.md5(f"OfflinePlayer:{name}".encode(), usedforsecurity=False).digest())
    digest[6] = (digest[6] & 0x0F) | 0x30
    digest[8] = (digest[8] & 0x3F) | 0x80
    return UUID(bytes=bytes(digest))
