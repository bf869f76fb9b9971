"""The example of the docs is an extension that works: handed over, as a file, and as an installed package (MOD-08)."""

import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from mcsystem.api import Status
from mcsystem.storage import Databases
from mcsystem.testing import Play

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "waypoints.py"

INSTALLED = """
import asyncio, sys
from pathlib import Path
from mcsystem.app import Plan, open_assistant
from mcsystem.ids import Player, Request, offline_uuid
from mcsystem.testing import RecordingHost

async def main():
    folder = Path(sys.argv[1])
    async with open_assistant(Plan(folder / "world", folder / "config", environ={}), RecordingHost()) as assistant:
        for line in ("/waypoints", "/help"):
            card = await assistant.ask(Request(Player(offline_uuid("A"), "A", "en_us"), line))
            print(card.code, card.title, card.text)

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = spec_from_file_location("waypoints_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_example_shows_a_players_own_places(tmp_path: Path, example: ModuleType) -> None:
    """MOD-08, DB-04: rows of the player's own table, in both languages, and nobody else's."""
    play = Play(tmp_path, extensions=(example.setup,))
    assert play.say("/waypoints").status is Status.ANSWERED
    databases = Databases.open(play.world, write=True)
    databases.player(play.who.uuid).put(example.WAYPOINTS, "home", example.Waypoint(1, 64, -3))
    databases.close()
    card = play.say("/waypoints")
    assert (card.title, card.text, card.module) == ("Your places", "home: 1 64 -3", "example:waypoints")
    play.player, play.language = "Ben", "zh_cn"
    assert (play.say("/waypoints").title, play.say("/waypoints").text) == ("你的路径点", "")


def installed(tmp_path: Path) -> str:
    (tmp_path / "world").mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", INSTALLED, str(tmp_path)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env={"PYTHONPATH": str(tmp_path / "site"), "PATH": "", "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_installed_package_is_found_by_its_entry_point(tmp_path: Path) -> None:
    """MOD-08: an ordinary package with an entry point in `mcsystem.modules` is loaded without any setting."""
    site = tmp_path / "site"
    info = site / "waypoints-1.0.dist-info"
    info.mkdir(parents=True)
    shutil.copy(EXAMPLE, site / "waypoints.py")
    info.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: waypoints\nVersion: 1.0\n", encoding="utf-8")
    info.joinpath("entry_points.txt").write_text("[mcsystem.modules]\nwaypoints = waypoints:setup\n", encoding="utf-8")
    assert "None Your places" in installed(tmp_path)


def test_a_file_in_the_config_folder_is_enough_and_a_broken_one_is_disabled_alone(tmp_path: Path) -> None:
    """MOD-08: a file is loaded, files that fail are disabled by name, the server goes on."""
    folder = tmp_path / "config" / "extensions"
    folder.mkdir(parents=True)
    shutil.copy(EXAMPLE, folder / "waypoints.py")
    (folder / "a_broken.py").write_text("raise RuntimeError('boo')\n", encoding="utf-8")
    (folder / "b_syntax.py").write_text("def (:\n", encoding="utf-8")
    (folder / "c_future.py").write_text("MCSYSTEM_API = 99\ndef setup(registry): ...\n", encoding="utf-8")
    (folder / "d_empty.py").write_text("", encoding="utf-8")
    said = installed(tmp_path)
    assert "None Your places" in said
    assert "/waypoints" in said
