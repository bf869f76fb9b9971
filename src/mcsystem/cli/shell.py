"""What every command has: the language to speak, the world to work on, and where to print."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from mcsystem.app import Plan
from mcsystem.config import Config
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.hosts.demo_world import ensure_demo
from mcsystem.hosts.places import Place, find_place, find_player
from mcsystem.ids import Player, check_language
from mcsystem.render.safe import safe_json, safe_lines
from mcsystem.resources import CHINESE, FALLBACK, Texts, text_language

LANGUAGE_VARIABLES: Final = ("MCSYSTEM_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
DEFAULT_PLAYER: Final = "Player"


class Missing(Exception):  # noqa: N818  # not an error of the program: the sentence is ready
    """What the user asked for is not there; the text says so in their language."""


@dataclass(slots=True)
class Shell:
    """One run of the program.

    Attributes:
        environ: environment variables.
        folder: the current folder.
        texts: every sentence.
        world: `--world`, None for the default.
        config: `--config`, None for the default.
        asked: `--lang` as it was given, empty when it was not.
        json: whether the result is JSON.
        debug: whether tracebacks go to standard error.
    """

    environ: Mapping[str, str]
    folder: Path
    texts: Texts
    world: Path | None = None
    config: Path | None = None
    asked: str = ""
    json: bool = False
    debug: bool = False

    @property
    def own_language(self) -> str:
        """The language of the one at the keyboard, from the environment."""
        return environment_language(self.environ)

    @property
    def language(self) -> str:
        """The language to speak: `--lang` where it is one, else the environment's."""
        try:
            return self.chosen_language
        except AssistantError:
            return self.own_language

    @property
    def chosen_language(self) -> str:
        """`--lang`, else the environment's language.

        Errors: LANGUAGE_UNKNOWN.
        """
        return check_language(self.asked) if self.asked else self.own_language

    @property
    def place(self) -> Place:
        """The world and its config."""
        return find_place(self.world, self.config, environ=self.environ, folder=self.folder)

    def writable(self) -> Place:
        """The world, which may still have to be made.

        Errors: WORLD_NOT_FOUND when something else than a folder is there.
        """
        place = self.place
        if place.world.exists() and not place.world.is_dir():
            raise AssistantError(ErrorCode.WORLD_NOT_FOUND, path=str(place.world))
        return place

    def existing(self) -> Place:
        """The world, which must be there; the demo world is made when nobody named another one.

        Errors: WORLD_NOT_FOUND, STORAGE_*.
        """
        place = self.place
        if place.demo:
            ensure_demo(place.world)
        if not place.world.is_dir():
            raise AssistantError(ErrorCode.WORLD_NOT_FOUND, path=str(place.world))
        return place

    def player(self, name: str | None, place: Place, *, permission: int | None = None) -> Player:
        """Who asks; without a name somebody without rights.

        Errors: PLAYER_UNKNOWN, LANGUAGE_UNKNOWN.
        """
        given = DEFAULT_PLAYER if name is None else name
        return find_player(given, place, language=self.chosen_language, permission=permission)

    def plan(self, place: Place, *, write: bool) -> Plan:
        """How the assistant of a world is built."""
        return Plan(place.world, place.config, write=write, environ=self.environ)

    def speak(self, place: Place) -> None:
        """Use the texts that this server's own `lang` folder overrides; mistakes in the config go to standard error."""
        config = Config(place.config)
        problems = config.load()
        self.texts = config.texts
        for problem in problems:
            slots = {"file": problem.file, "field": problem.field, "expected": problem.expected}
            self.tell(self.tr("error.CONFIG_INVALID", **slots))

    def tr(self, key: str, /, **slots: object) -> str:
        """A text in the language to speak."""
        return self.texts.tr(self.language, key, **slots)

    def out(self, text: str) -> None:
        """Lines on standard output, harmless to any terminal."""
        click.echo(safe_lines(text))

    def tell(self, text: str) -> None:
        """Lines on standard error, harmless to any terminal."""
        click.echo(safe_lines(text), err=True)

    def data(self, value: Any) -> None:  # noqa: ANN401  # whatever JSON can hold
        """JSON on standard output: on one line for programs, indented for a terminal."""
        click.echo(safe_json(value, indent=2 if sys.stdout.isatty() else None))


def environment_language(environ: Mapping[str, str]) -> str:
    """Chinese where the environment says so, else English; any language that `MCSYSTEM_LANG` names."""
    for name in LANGUAGE_VARIABLES:
        value = environ.get(name, "").split(".")[0].split("@")[0]
        if not value:
            continue
        if value.casefold().startswith("zh"):
            return CHINESE
        try:
            return check_language(value) if name == LANGUAGE_VARIABLES[0] else text_language(check_language(value))
        except AssistantError:
            return FALLBACK
    return FALLBACK
