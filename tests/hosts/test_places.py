"""Where the world, its config and a player's account are, by the words of the user, the environment and the server."""

import json
from pathlib import Path
from uuid import UUID

import pytest

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.hosts.places import Place, data_folder, find_place, find_player, level_folder
from mcsystem.ids import offline_uuid

NOTCH = UUID("069a79f4-44e9-4726-a5be-fca90e38aaf5")


def test_the_world_is_the_one_named_then_the_environments_then_the_servers_then_the_demo(tmp_path: Path) -> None:
    """--world, $MCSYSTEM_WORLD, ./server.properties, the demo world: the first that is there."""
    server = tmp_path / "server"
    server.mkdir()
    environ = {"XDG_DATA_HOME": str(tmp_path / "data"), "HOME": str(tmp_path)}
    assert find_place(None, None, environ=environ, folder=server).demo
    (server / "server.properties").write_text("#level-name=no\nlevel-name=my world\n")
    named = find_place(None, None, environ=environ, folder=server)
    assert named == Place(server / "my world", server / "config" / "system", server)
    environ["MCSYSTEM_WORLD"] = "other"
    assert find_place(None, None, environ=environ, folder=server).world == server / "other"
    assert find_place(Path("third"), None, environ=environ, folder=server).world == server / "third"


def test_config_lies_in_the_servers_folder_else_beside_the_world(tmp_path: Path) -> None:
    """Without a server it is beside the world; --config wins over both."""
    world = tmp_path / "a" / "worlds" / "w"
    world.mkdir(parents=True)
    assert (
        find_place(world, None, environ={}, folder=tmp_path).config == tmp_path / "a" / "worlds" / "config" / "system"
    )
    (tmp_path / "a" / "server.properties").write_text("level-name=worlds/w")
    assert find_place(world, None, environ={}, folder=tmp_path).config == tmp_path / "a" / "config" / "system"
    assert find_place(world, tmp_path / "c", environ={}, folder=tmp_path).config == tmp_path / "c"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("level-name=world", "world"),
        ("level-name = spaced ", "spaced"),
        ("level-name:colon", "colon"),
        ("level-name=\\u4e16\\u754c", "世界"),
        ("level-name=a\\:b\\ c", "a:b c"),
        ("level-name=", "world"),
        ("motd=x", "world"),
        ("level-name=\xff", "\xff"),
    ],
)
def test_server_properties_are_read_as_java_writes_them(tmp_path: Path, text: str, name: str) -> None:
    """Escapes, separators and defaults of the properties format."""
    (tmp_path / "server.properties").write_text(text, encoding="utf-8")
    assert level_folder(tmp_path) == tmp_path / name


def test_the_users_data_folder_follows_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """XDG on Linux (a relative one is ignored), Application Support on macOS, LOCALAPPDATA on Windows."""
    home = {"HOME": str(tmp_path)}
    monkeypatch.setattr("sys.platform", "linux")
    assert data_folder(home) == tmp_path / ".local" / "share" / "mcsystem"
    assert data_folder({**home, "XDG_DATA_HOME": "relative"}) == tmp_path / ".local" / "share" / "mcsystem"
    assert data_folder({**home, "XDG_DATA_HOME": str(tmp_path / "x")}) == tmp_path / "x" / "mcsystem"
    monkeypatch.setattr("sys.platform", "darwin")
    assert data_folder(home) == tmp_path / "Library" / "Application Support" / "mcsystem"
    monkeypatch.setattr("sys.platform", "win32")
    assert data_folder({**home, "LOCALAPPDATA": str(tmp_path / "L")}) == tmp_path / "L" / "mcsystem"


def test_a_name_is_the_account_that_the_server_knows(tmp_path: Path) -> None:
    """usercache.json decides, in any case of letters; who is not in it has the account of offline mode."""
    place = Place(tmp_path / "world", tmp_path, tmp_path)
    (tmp_path / "usercache.json").write_text(json.dumps([{"name": "Notch", "uuid": str(NOTCH)}, {"name": 3}, "x"]))
    (tmp_path / "ops.json").write_text(json.dumps([{"uuid": str(NOTCH), "name": "Notch", "level": 9}]))
    known = find_player("notch", place, language="en_us", permission=None)
    assert (known.uuid, known.name, known.permission) == (NOTCH, "Notch", 4)
    assert find_player(str(NOTCH), place, language="en_us", permission=0).name == "Notch"
    assert find_player("notch", place, language="en_us", permission=1).permission == 1
    other = find_player("Steve", place, language="en_us", permission=None)
    assert (other.uuid, other.permission) == (offline_uuid("Steve"), 0)


@pytest.mark.parametrize("content", ["", "{}", "[[", '{"a":1}', "null", "[" * 100_000])
def test_a_damaged_user_cache_is_passed_over(tmp_path: Path, content: str) -> None:
    """What cannot be read there is as if it were not there."""
    (tmp_path / "usercache.json").write_text(content)
    place = Place(tmp_path / "world", tmp_path, tmp_path)
    assert find_player("Alex", place, language="en_us", permission=None).uuid == offline_uuid("Alex")


@pytest.mark.parametrize("name", ["", "a/b", "x" * 60, "名字", "../x", "\x1b[31m"])
def test_what_is_no_name_is_refused(tmp_path: Path, name: str) -> None:
    """One clear error, nothing guessed."""
    with pytest.raises(AssistantError) as caught:
        find_player(name, Place(tmp_path, tmp_path, None), language="en_us", permission=None)
    assert caught.value.code is ErrorCode.PLAYER_UNKNOWN
