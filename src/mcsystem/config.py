"""Reads the config folder: writes missing files from defaults, names wrong fields, keeps the last good."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar, cast, get_args, get_origin

import msgspec

from mcsystem.errors import AssistantError
from mcsystem.resources import Texts, packaged, read_texts
from mcsystem.settings import AgentSettings, KnowledgeSettings, ModelSettings, Settings

S = TypeVar("S", bound=msgspec.Struct)

AGENT_FILE: Final = "system-agent.json"
KNOWLEDGE_FILE: Final = "system-knowledge.json"
NO_MODEL: Final = ModelSettings(base_url="", api_key_environment="")
FILES: Final[Mapping[str, type[msgspec.Struct]]] = {AGENT_FILE: AgentSettings, KNOWLEDGE_FILE: KnowledgeSettings}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in a config file.

    Attributes:
        file: file name in the config folder.
        field: path such as `limits.queue`; empty when the whole file is meant.
        expected: what should stand there.
    """

    file: str
    field: str
    expected: str


@dataclass(slots=True)
class Config:
    """The config folder of one server.

    Settings are whole frozen values: a reload swaps one reference, and a run keeps the one it started with.
    """

    folder: Path
    settings: Settings = field(default_factory=Settings)
    texts: Texts = field(default_factory=Texts.packaged)
    problems: tuple[Problem, ...] = ()
    _loaded: bool = False

    @property
    def prompts(self) -> Path:
        """Where the server's own prompts may lie."""
        return self.folder / "prompts"

    def load(self) -> tuple[Problem, ...]:
        """Read everything again; a bad file leaves what was in force, at first start its good fields and our defaults.

        Missing files are written from the packaged defaults where the folder can be written; existing ones never are.
        """
        problems: list[Problem] = []
        agent = self._file(AGENT_FILE, AgentSettings, self.settings.agent, problems)
        if not self._loaded and any(_about_model(problem) for problem in problems):
            agent = msgspec.structs.replace(agent, model=NO_MODEL)
        knowledge = self._file(KNOWLEDGE_FILE, KnowledgeSettings, self.settings.knowledge, problems)
        self.settings = Settings(agent=agent, knowledge=knowledge)
        try:
            self.texts = Texts.packaged().adding(read_texts(self.folder / "lang"))
        except AssistantError as error:
            file, where, expected = (str(error.details.get(name, "")) for name in ("file", "field", "expected"))
            problems.append(Problem(f"lang/{file}", where, expected))
        self.problems, self._loaded = tuple(problems), True
        return self.problems

    def _file(self, name: str, kind: type[S], current: S, problems: list[Problem]) -> S:
        path = self.folder / name
        if not path.exists():
            write_default(path)
            return current if self._loaded else kind()
        found: list[Problem] = []
        decoded = read_struct(path, kind, found)
        problems.extend(found)
        return current if found and self._loaded else decoded


def _about_model(problem: Problem) -> bool:
    """Whether it can no longer be known which model the admin meant: nothing is sent to another one, nor a key."""
    return not problem.field or problem.field.split(".")[0] == "model"


def write_default(path: Path) -> bool:
    """Create `path` from the packaged default of that name; False where the folder cannot be written."""
    text = packaged(f"defaults/{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except OSError:
        return False
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except OSError:  # a full disk must not leave half a file that is a mistake from then on
        path.unlink(missing_ok=True)
        return False
    return True


def read_struct(path: Path, kind: type[S], problems: list[Problem]) -> S:
    """Decode a JSON file field by field: each wrong one is named in `problems` and keeps its default."""
    try:
        data: object = json.loads(path.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        problems.append(Problem(path.name, "", f"JSON (line {error.lineno}, column {error.colno})"))
        return kind()
    except (OSError, ValueError, RecursionError):
        problems.append(Problem(path.name, "", "a readable JSON file in UTF-8"))
        return kind()
    return _struct(kind, data, _Place(path.name, "", problems))


@dataclass(frozen=True, slots=True)
class _Place:
    file: str
    field: str
    problems: list[Problem]

    def below(self, name: str) -> "_Place":
        return _Place(self.file, f"{self.field}.{name}" if self.field else name, self.problems)

    def wrong(self, expected: str) -> None:
        self.problems.append(Problem(self.file, self.field, expected))


def _struct(kind: type[S], data: object, place: _Place) -> S:
    if not isinstance(data, dict):
        place.wrong("an object")
        return kind()
    values = cast("dict[str, object]", data)
    good: dict[str, Any] = {}
    for info in msgspec.structs.fields(kind):
        if info.encode_name in values:
            decoded = _value(info.type, values[info.encode_name], place.below(info.encode_name))
            if decoded is not msgspec.UNSET:
                good[info.name] = decoded
    return kind(**good)


def _value(kind: Any, data: object, place: _Place) -> object:  # noqa: ANN401  # a type form as msgspec reports it
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _struct(kind, data, place)
    if get_origin(kind) is dict and isinstance(data, dict):
        inner = get_args(kind)[1]
        entries = cast("dict[str, object]", data).items()
        decoded = {key: _value(inner, value, place.below(key)) for key, value in entries}
        return {key: value for key, value in decoded.items() if value is not msgspec.UNSET}
    try:
        return cast("object", msgspec.convert(data, cast("Any", kind), strict=True))
    except UnicodeError:
        place.wrong("text without broken characters")
        return msgspec.UNSET
    except msgspec.ValidationError as error:
        expected = str(error).removeprefix("Expected ").split(", got")[0].split(" - at")[0].replace("`", "")
        place.wrong(expected)
        return msgspec.UNSET
