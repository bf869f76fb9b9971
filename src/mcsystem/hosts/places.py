"""Where things are: the world, its config, the server's folder, and which account a player's name is."""

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast
from uuid import UUID

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.ids import PLAYER_NAME, Player, offline_uuid

WORLD_VARIABLE: Final = "MCSYSTEM_WORLD"
PROPERTIES: Final = "server.properties"
USER_CACHE: Final = "usercache.json"
OPERATORS: Final = "ops.json"
CONFIG: Final = Path("config", "system")
ABOVE: Final = 3  # folders above the world in which a server is looked for
FILE_LIMIT: Final = 16 * 1024 * 1024
HIGHEST_LEVEL: Final = 4
NAME_LENGTH: Final = 32
_PAIR: Final = re.compile(r"\s*([\w.-]+)\s*[=:]\s*(.*?)\s*")
_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\(.)")


@dataclass(frozen=True, slots=True)
class Place:
    """One world and what belongs to it.

    Attributes:
        world: the world save's folder; it need not exist.
        config: the config folder; it need not exist.
        server: the folder of the Minecraft server it belongs to, None without one.
        demo: whether it is the user's own demo world, which is made when it is first used.
    """

    world: Path
    config: Path
    server: Path | None
    demo: bool = False


def find_place(world: Path | None, config: Path | None, *, environ: Mapping[str, str], folder: Path) -> Place:
    """The world to work on: the one given, `$MCSYSTEM_WORLD`, that of `folder/server.properties`, else the demo world.

    Args:
        world: as given by the user, None for the default.
        config: as given by the user, None for `config/system` in the server's folder, else beside the world.
        environ: environment variables.
        folder: the current folder.
    """
    named = world or (Path(environ[WORLD_VARIABLE]) if environ.get(WORLD_VARIABLE) else None)
    demo = False
    if named is None:
        named = level_folder(folder)
    if named is None:
        named, demo = data_folder(environ) / "demo" / "world", True
    place = folder / named.expanduser()
    server = None if demo else server_folder(place)
    return Place(place, config or (server or place.parent) / CONFIG, server, demo)


def data_folder(environ: Mapping[str, str]) -> Path:
    """Where programs keep this user's data, by the rules of the system."""
    home = Path(environ.get("HOME") or Path.home())
    if sys.platform == "win32":
        base = Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        given = environ.get("XDG_DATA_HOME", "")
        base = Path(given) if Path(given).is_absolute() else home / ".local" / "share"
    return base / "mcsystem"


def level_folder(server: Path) -> Path | None:
    """The world that `server.properties` in this folder names; None without that file."""
    text = _read(server / PROPERTIES)
    if text is None:
        return None
    name = "world"
    for line in text.splitlines():
        found = _PAIR.fullmatch(line)
        if found and found[1] == "level-name" and not line.lstrip().startswith(("#", "!")):
            name = _ESCAPE.sub(_unescaped, found[2]) or name
    return server / name


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else found[2]


def server_folder(world: Path) -> Path | None:
    """The nearest folder above a world that has a `server.properties`, at most three up."""
    above = [*Path(os.path.abspath(world)).parents][:ABOVE]  # noqa: PTH100  # links above a world are the admin's own
    return next((folder for folder in above if (folder / PROPERTIES).is_file()), None)


def find_player(name: str, place: Place, *, language: str, permission: int | None) -> Player:
    """A player by name or UUID, with the server's word on who that is and what they may.

    The account is looked up in `usercache.json`, else it is the one of a server in offline mode. Without `permission`
    the level stands in `ops.json`, else it is 0.

    Errors: PLAYER_UNKNOWN.
    """
    given = _uuid(name)
    if given is None and not PLAYER_NAME.fullmatch(name):
        raise AssistantError(ErrorCode.PLAYER_UNKNOWN, player=name[:NAME_LENGTH])
    known = _accounts(place.server)
    if given is not None:
        shown = next((one for one, uuid in known.values() if uuid == given), str(given))
        account = (shown, given)
    else:
        account = known.get(name.casefold(), (name, offline_uuid(name)))
    level = _level(place.server, account[1]) if permission is None else permission
    return Player(account[1], account[0], language, level)


def _accounts(server: Path | None) -> dict[str, tuple[str, UUID]]:
    known: dict[str, tuple[str, UUID]] = {}
    for entry in _entries(server, USER_CACHE):
        name, uuid = entry.get("name"), _uuid(entry.get("uuid"))
        if isinstance(name, str) and uuid is not None:
            known.setdefault(name.casefold(), (name, uuid))
    return known


def _level(server: Path | None, uuid: UUID) -> int:
    for entry in _entries(server, OPERATORS):
        level = entry.get("level")
        if _uuid(entry.get("uuid")) == uuid and isinstance(level, int):
            return max(0, min(HIGHEST_LEVEL, level))
    return 0


def _entries(server: Path | None, name: str) -> list[dict[str, object]]:
    """The objects of a list that the server wrote; empty when it is not there or cannot be read."""
    text = _read(server / name) if server is not None else None
    try:
        data: object = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return []
    items = cast("list[object]", data) if isinstance(data, list) else []
    return [cast("dict[str, object]", item) for item in items if isinstance(item, dict)]


def _uuid(text: object) -> UUID | None:
    try:
        return UUID(text) if isinstance(text, str) and len(text) in {32, 36} else None
    except ValueError:
        return None


def _read(path: Path) -> str | None:
    try:
        with path.open("rb") as stream:
            return stream.read(FILE_LIMIT).decode("utf-8", "replace")
    except OSError:
        return None
