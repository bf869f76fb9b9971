"""Texts and prompts as data: packaged first, then extensions', then the server's own overrides."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Final, Self

from mcsystem.errors import AssistantError, ErrorCode

FALLBACK: Final = "en_us"
CHINESE: Final = "zh_cn"
PROMPT_LIMIT: Final = 65_536
LANGUAGE_NAMES: Final[Mapping[str, str]] = {"en_us": "English", "zh_cn": "简体中文"}


def text_language(language: str) -> str:
    """The language whose texts a player of `language` reads: Chinese variants share one, all others read English."""
    return CHINESE if language.startswith("zh_") else FALLBACK


def packaged(path: str) -> str:
    """The text of a packaged resource below `data/`."""
    return files("mcsystem").joinpath("data", path).read_text(encoding="utf-8")


@cache
def packaged_texts() -> Mapping[str, Mapping[str, str]]:
    """All packaged texts: language -> key -> template. Files are `data/lang/<area>.<language>.json`."""
    texts: dict[str, dict[str, str]] = {}
    for entry in sorted(files("mcsystem").joinpath("data", "lang").iterdir(), key=lambda item: item.name):
        if entry.name.endswith(".json"):
            language = entry.name.split(".")[-2]
            texts.setdefault(language, {}).update(json.loads(entry.read_text(encoding="utf-8")))
    return texts


class _Slots(dict[str, object]):
    """Slot values; one that nobody gave shows as a question mark, not as `${name}`."""

    def __missing__(self, name: str) -> str:
        return "?"


@dataclass(frozen=True, slots=True)
class Texts:
    """Every sentence that a person reads, by language and key.

    Attributes:
        layers: from weakest to strongest; each maps language -> key -> `string.Template` text.
    """

    layers: tuple[Mapping[str, Mapping[str, str]], ...]

    @classmethod
    def packaged(cls) -> Self:
        """The texts that ship with System."""
        return cls((packaged_texts(),))

    def adding(self, layer: Mapping[str, Mapping[str, str]]) -> Self:
        """The same texts with a stronger layer on top."""
        return type(self)((*self.layers, layer))

    def tr(self, language: str, key: str, /, **slots: object) -> str:
        """The text `key` in `language` (else English) with its `${slots}` filled; values are not expanded again."""
        template = self.find(language, key)
        return key if template is None else Template(template).safe_substitute(_Slots(slots))

    def find(self, language: str, key: str) -> str | None:
        """The raw template of `key`, or None when no layer has it."""
        for wanted in dict.fromkeys((language, text_language(language), FALLBACK)):
            for layer in reversed(self.layers):
                found = layer.get(wanted, {}).get(key)
                if found is not None:
                    return found
        return None

    def error(self, language: str, error: AssistantError) -> str:
        """The sentence for people that says what happened and what to do; known reasons are said in their language."""
        details = dict(error.details)
        if "reason" in details:
            details["reason"] = self.find(language, f"reason.{details['reason']}") or details["reason"]
        return self.tr(language, f"error.{error.code.value}", **details)


def read_texts(folder: Path) -> Mapping[str, Mapping[str, str]]:
    """An admin's overrides: `<folder>/<language>.json`, flat objects of key -> text; empty without a folder.

    Errors: CONFIG_INVALID with the file and what was expected.
    """
    layer: dict[str, dict[str, str]] = {}
    if not folder.is_dir():
        return layer
    for path in sorted(folder.glob("*.json")):
        try:
            data: object = json.loads(path.read_text(encoding="utf-8-sig"))
        except (OSError, ValueError) as error:
            raise AssistantError(
                ErrorCode.CONFIG_INVALID, file=path.name, field="", expected="readable JSON text in UTF-8"
            ) from error
        layer[path.stem] = dict(_pairs(path.name, data))
    return layer


def _pairs(name: str, data: object) -> Iterable[tuple[str, str]]:
    if not isinstance(data, dict):
        raise AssistantError(ErrorCode.CONFIG_INVALID, file=name, field="", expected="an object of texts")
    for key, value in data.items():  # pyright: ignore[reportUnknownVariableType]  # JSON object
        if not isinstance(key, str) or not isinstance(value, str):
            raise AssistantError(ErrorCode.CONFIG_INVALID, file=name, field=str(key)[:80], expected="text")  # pyright: ignore[reportUnknownArgumentType]
        yield key, value


def prompt(name: str, overrides: Path | None = None) -> Template:
    """The prompt `name`: the server's own file in `overrides` when there is one, else the packaged one.

    Errors: CONFIG_UNREADABLE when the server's own file is there but cannot be read as UTF-8 text of at most 64 KiB.
    """
    own = overrides / f"{name}.txt" if overrides is not None else None
    if own is None or not own.is_file():
        return Template(packaged(f"prompts/{name}.txt"))
    try:
        text = own.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise AssistantError(ErrorCode.CONFIG_UNREADABLE, file=own.name) from error
    if len(text) > PROMPT_LIMIT:
        raise AssistantError(ErrorCode.CONFIG_UNREADABLE, file=own.name)
    return Template(text)
