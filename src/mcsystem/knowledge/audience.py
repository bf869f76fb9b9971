"""Who may see a document: everyone, a permission level, or named players; what is not understood is nobody."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from mcsystem.ids import PLAYER_NAME

HIGHEST_LEVEL: Final = 4
NO_LEVEL: Final = -1  # no permission level opens the document

_EVERYONE: Final = frozenset({"all", "everyone", "everybody", "public", "anyone", "所有人", "全部", "所有", "公开"})
_LEVEL: Final = re.compile(
    r"(?:(?:permission|level|permission level|op|权限|等级|权限等级)\s*[:=\uff1a]?\s*)?([0-9]{1,9})"
)
_PLAYERS: Final = re.compile(r"(?:players?|玩家)\s*[:=\uff1a]\s*(.*)", re.DOTALL)
_SEPARATOR: Final = re.compile(r"[,;\uff0c\u3001\uff1b]")
# Words that mean a group, not somebody of that name.
_GROUPS: Final = frozenset(
    """
    staff team admin admins administrator administrators op ops operator operators mod mods moderator moderators
    helper helpers owner owners vip vips member members player players user users guest guests nobody none private
    hidden secret internal draft true false yes no null some default unknown
    """.split()  # noqa: SIM905 - words read better than a list
)


@dataclass(frozen=True, slots=True)
class Viewer:
    """The one for whom a search is made, in the host's word.

    Attributes:
        uuid: the account.
        name: the player's name.
        permission: the server's permission level, 0 to 4.
    """

    uuid: UUID
    name: str
    permission: int = 0


@dataclass(frozen=True, slots=True)
class Audience:
    """Who may see a document.

    Attributes:
        level: the least permission level that may; 0 is everyone, `NO_LEVEL` none.
        players: names in lower case and UUIDs of players who may whatever their level is.
    """

    level: int = 0
    players: frozenset[str] = frozenset()

    @classmethod
    def everyone(cls) -> "Audience":
        """Every player."""
        return cls()

    @classmethod
    def nobody(cls) -> "Audience":
        """No player; admins still see the document with the knowledge commands."""
        return cls(NO_LEVEL)

    @classmethod
    def at_least(cls, level: int) -> "Audience":
        """Players of this permission level or a higher one."""
        return cls(level)

    @classmethod
    def named(cls, players: Sequence[str]) -> "Audience":
        """The players with these names or UUIDs alone."""
        return cls(NO_LEVEL, frozenset(_player(player) for player in players))

    @classmethod
    def parse(cls, text: str) -> "Audience":
        """The audience that `text` names, nobody when it is not understood; see `read_audience`."""
        return read_audience(text).audience

    def admits(self, viewer: Viewer | None) -> bool:
        """Whether `viewer` may see it; None, the admin at the keyboard, may see everything."""
        if viewer is None:
            return True
        if self.level != NO_LEVEL and viewer.permission >= self.level:
            return True
        return viewer.name.casefold() in self.players or str(viewer.uuid) in self.players

    @property
    def text(self) -> str:
        """The audience as front matter writes it."""
        if self.players:
            level = [] if self.level == NO_LEVEL else [str(self.level)]
            return f"[{', '.join([*level, *sorted(self.players)])}]"
        if self.level == NO_LEVEL:
            return "nobody"
        return str(self.level) if self.level else "all"


@dataclass(frozen=True, slots=True)
class AudienceReading:
    """What an `audience` value was taken for.

    Attributes:
        audience: who may see the document; nobody when the value is not understood.
        known: whether it was understood.
        guessed: whether a bare word was taken for a player's name, which brackets would have made certain.
    """

    audience: Audience
    known: bool = True
    guessed: bool = False


UNKNOWN: Final = AudienceReading(Audience.nobody(), known=False)


def read_audience(value: str | Sequence[str]) -> AudienceReading:
    """Understand an `audience` value.

    `all`; a level `0` to `4` (also `level 2`); a list of names, UUIDs and levels such as `[Alex, Steve]`; the same
    without brackets when there is a comma or `players:` before it; a bare word is taken for a player's name and said to
    be guessed. Anything else is nobody.
    """
    if not isinstance(value, str):
        return _read_list([entry.strip() for entry in value])
    text = value.strip()
    folded = text.casefold()
    if folded in _EVERYONE:
        return AudienceReading(Audience.everyone())
    if named := _PLAYERS.fullmatch(text):
        return _read_list(_split(named[1]))
    if _LEVEL.fullmatch(folded) or _SEPARATOR.search(text) or _uuid(text):
        return _read_list(_split(text))
    if folded in _GROUPS or not PLAYER_NAME.fullmatch(text) or " " in text:
        return UNKNOWN
    return AudienceReading(Audience.named([text]), guessed=True)


def _split(text: str) -> list[str]:
    return [part.strip() for part in _SEPARATOR.split(text)]


def _read_list(entries: Sequence[str]) -> AudienceReading:
    """Names, UUIDs and levels; one entry that is none of them makes the whole list unknown."""
    level, players = NO_LEVEL, set[str]()
    for entry in entries:
        folded = entry.casefold()
        if folded in _EVERYONE:
            return AudienceReading(Audience.everyone()) if len(entries) == 1 else UNKNOWN
        if found := _LEVEL.fullmatch(folded):
            if int(found[1]) > HIGHEST_LEVEL:
                return UNKNOWN
            level = int(found[1]) if level == NO_LEVEL else min(level, int(found[1]))
        elif _uuid(entry) or (PLAYER_NAME.fullmatch(entry) and folded not in _GROUPS):
            players.add(_player(entry))
        else:
            return UNKNOWN
    return AudienceReading(Audience(level, frozenset(players))) if entries else UNKNOWN


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _player(text: str) -> str:
    found = _uuid(text)
    return text.strip().casefold() if found is None else str(found)
