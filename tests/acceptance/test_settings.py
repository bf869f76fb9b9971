"""Settings: defaults, mistakes that are named, and what stays in force."""

import json
from typing import Any, Final

import pytest
from loopback import Loopback, claims
from stranger import KEY, KEY_NAME, Console, Machine

QUESTION = "how do I claim land"


def test_defaults_are_written_once(library: Machine) -> None:
    """CFG-01: a missing file is written from the defaults; an existing one is never overwritten."""
    shipped = library.config / "system-agent.json"
    shipped.unlink(missing_ok=True)
    library.ask(QUESTION)
    defaults: dict[str, Any] = json.loads(shipped.read_text("utf-8"))
    assert defaults["model"]["apiKeyEnvironment"] == KEY_NAME
    assert defaults["externalAi"]["default"] is False
    assert defaults["policies"]["system:question"]["modelCalls"] == 6
    own = b'{"limits": {"questionCharacters": 25}, "mine": [1, 2]}\n\n'
    shipped.write_bytes(own)
    card = library.ask("how do I claim my land " * 9, code=3)
    assert (card["code"], card["status"]) == ("REQUEST_TOO_LONG", "notice")
    assert shipped.read_bytes() == own


def test_config_says_where(library: Machine) -> None:
    """CFG-04: without a server the settings lie beside the world; --config overrides, a server's folder wins."""
    library.config.joinpath("system-agent.json").unlink(missing_ok=True)
    library.ok("config", "show", "--config", "elsewhere")
    assert (library.folder / "elsewhere" / "system-agent.json").exists()
    assert not (library.config / "system-agent.json").exists()
    library.ok("config", "show")
    assert (library.config / "system-agent.json").exists()


def test_unknown_and_missing_fields_are_tolerated(library: Machine) -> None:
    """CFG-01: fields that nobody knows and fields that are not there are no mistakes."""
    library.settings(limits={"dailyModelCalls": 7, "tomorrow": True}, novel={"x": 1})
    shown = library.ok("config", "show")
    assert shown.err == ""
    assert '"dailyModelCalls": 7' in shown.out
    assert '"concurrentModelCalls": 4' in shown.out


MISTAKES: Final = {
    "limits": {"dailyModelCalls": "many", "workers": 0},
    "externalAi": {"default": "yes"},
    "model": {"baseUrl": 5},
    "policies": {"system:question": {"modelCalls": "x"}},
}
FIELDS: Final = ("limits.dailyModelCalls", "limits.workers", "externalAi.default", "model.baseUrl", "modelCalls")


def test_mistakes_are_named(library: Machine) -> None:
    """CFG-01 and issue 2: wrong types and ranges name file, field and what was expected; the file stays as it is."""
    path = library.settings(**MISTAKES)
    before = path.read_bytes()
    result = library.run("config", "show")
    lines = result.err.splitlines()
    assert (result.code, len(lines)) == (1, len(FIELDS))
    assert all("system-agent.json" in line and "should be" in line for line in lines)
    assert all(sum(field in line for line in lines) == 1 for field in FIELDS)
    assert path.read_bytes() == before


def test_a_mistake_leaves_the_rest_in_force(library: Machine) -> None:
    """CFG-01: one wrong field keeps its default, the other fields of the file count, and questions are answered."""
    library.settings(limits={"dailyModelCalls": "many", "questionCharacters": 25})
    assert library.ask(QUESTION)["status"] == "material"
    assert library.ask("how do I claim all of the land " * 9, code=3)["code"] == "REQUEST_TOO_LONG"


def test_a_mistake_is_said_where_it_matters(library: Machine) -> None:
    """CFG-01 and issue 2: who starts the console or asks is told of the mistake once, on standard error."""
    library.settings(limits={"dailyModelCalls": "many"})
    for result in (library.ok("play", typed=f"/question {QUESTION}\n"), library.ok("ask", QUESTION)):
        assert "golden shovel" in result.out
        assert result.err.count("limits.dailyModelCalls") == 1


def test_a_mistake_is_named_in_chinese(library: Machine) -> None:
    """CFG-01: the same line in the admin's language."""
    library.settings(limits={"dailyModelCalls": "many"})
    result = library.run("config", "show", lang="zh_cn")
    assert (result.code, len(result.err.splitlines())) == (1, 1)
    assert "字段" in result.err
    assert "limits.dailyModelCalls" in result.err
    assert "should be" not in result.err


@pytest.mark.parametrize(
    "content", [b'{"limits": ', b"\xff\xfe\x00\x80", b"[]", b""], ids=["cut", "binary", "list", "empty"]
)
def test_a_file_that_is_no_settings(library: Machine, content: bytes) -> None:
    """CFG-01: a file that cannot be read is named and kept as it is."""
    path = library.write("server/config/system/system-agent.json", content)
    result = library.run("config", "show")
    assert (result.code, len(result.err.splitlines())) == (1, 1)
    assert "system-agent.json" in result.err
    assert path.read_bytes() == content


def test_a_key_in_the_wrong_place_is_not_repeated(library: Machine) -> None:
    """CFG-03: a key written where the name of its variable belongs is refused and never printed."""
    library.settings(model={"apiKeyEnvironment": KEY}, externalAi={"default": True})
    for words in (("config", "show"), ("doctor", "--offline")):
        assert KEY not in library.run(*words).said, words


def test_the_model_is_read_again_while_playing(connected: Machine, service: Loopback) -> None:
    """CFG-04: a changed model name counts after /system reload, no restart; a mistake keeps the last good one."""
    with Console(connected) as console:
        console.say("/question " + QUESTION, "Use a golden shovel.")
        service.reply = claims(("Take the shovel of gold.", [1]))
        connected.settings(model={"baseUrl": service.url, "model": "newer"}, externalAi={"default": True})
        console.say("/system reload", "\n\n")
        console.say("/question " + QUESTION, "Take the shovel of gold.")
        connected.settings(model={"baseUrl": service.url, "model": 5}, externalAi={"default": True})
        assert "model.model" in console.say("/system reload", "\n\n")
        console.say("/question " + QUESTION, "Take the shovel of gold.")
    assert [request["model"] for request in service.asked] == ["scripted", "newer", "newer"]
