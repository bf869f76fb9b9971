"""`mcsystem doctor`: one line a check, each with its fix, in both languages."""

from typing import Any

import pytest
from loopback import Loopback, refusal
from stranger import KEY, Console, Machine

LEVELS = {"ok", "warning", "error"}


def checks(machine: Machine, *options: str, code: int = 0, lang: str | None = None) -> dict[str, dict[str, Any]]:
    """The checks by name."""
    result = machine.run("doctor", "--json", *options, lang=lang)
    assert result.code == code, result
    return {row["name"]: row for row in result.array()}


def test_a_healthy_world(library: Machine) -> None:
    """UI-07: Python, folders, disk, lock, files, knowledge per language, model: one line each, exit code 0."""
    rows = library.ok("doctor", "--json", "--offline").array()
    names = {row["name"] for row in rows}
    assert {"python", "world", "config", "disk", "lock", "files", "knowledge", "settings", "model"} <= names
    assert {row["level"] for row in rows} == {"ok"}
    spoken = [row["text"] for row in rows if row["name"] == "knowledge"]
    assert len(spoken) == 2
    assert any("en_us" in text for text in spoken)
    assert any("zh_cn" in text for text in spoken)


@pytest.mark.parametrize(("lang", "good", "bad"), [("en_us", "ok", "error"), ("zh_cn", "正常", "错误")])
def test_the_lines_a_person_reads(library: Machine, lang: str, good: str, bad: str) -> None:
    """UI-07: the same lines in both languages; an error has its fix below and makes the exit code 1."""
    healthy = library.ok("doctor", "--offline", lang=lang)
    assert sum(good in line for line in healthy.out.splitlines()) >= 9
    library.shared.write_bytes(b"garbage")
    sick = library.run("doctor", "--offline", lang=lang)
    lines = sick.out.splitlines()
    at = next(n for n, line in enumerate(lines) if bad in line)
    assert sick.code == 1
    assert str(library.shared) in lines[at]
    assert lines[at + 1].lstrip().startswith("→")
    assert library.shared.read_bytes() == b"garbage"


def test_every_problem_has_a_fix(library: Machine) -> None:
    """UI-07: each line that is not ok says what to do, and one error leaves exit code 1."""
    library.settings(limits={"dailyModelCalls": "many"}, policies={"system:nothing": {"modelCalls": 1}})
    library.players()[0].write_bytes(b"garbage")
    rows = checks(library, "--offline", code=1)
    troubled = [row for row in rows.values() if row["level"] != "ok"]
    assert {row["name"] for row in troubled} >= {"files", "settings", "policies"}
    assert all(row["level"] in LEVELS and row["fix"] for row in troubled)
    assert "limits.dailyModelCalls" in rows["settings"]["text"]
    assert "system:nothing" in rows["policies"]["text"]


def test_a_world_without_documents(machine: Machine) -> None:
    """UI-07: a world without documents is not an error but a line that says how to import some."""
    machine.world.mkdir(parents=True)
    row = checks(machine, "--offline")["knowledge"]
    assert row["level"] == "warning"
    assert "mcsystem knowledge import" in row["fix"]


def test_a_world_that_is_not_there(machine: Machine) -> None:
    """UI-07 and issue 2: a missing world is an error with its fix, and is not created."""
    row = checks(machine, "--offline", code=1)["world"]
    assert row["level"] == "error"
    assert row["fix"]
    assert not machine.world.exists()


def test_who_holds_the_world(library: Machine) -> None:
    """UI-07 and DB-24: the lock's line names the process that holds the world, without being an error."""
    with Console(library) as console:
        console.say("/question how do I claim land", "golden shovel")
        row = checks(library, "--offline")["lock"]
        assert row["level"] in {"ok", "warning"}
        assert str(console.process.pid) in row["text"]


def test_the_model_is_asked_for_nothing(connected: Machine, service: Loopback) -> None:
    """UI-07: a reachable service is ok without a paid call; --offline opens no connection."""
    assert checks(connected, "--offline")["model"]["level"] in {"ok", "warning"}
    assert service.connections == 0
    assert checks(connected)["model"]["level"] == "ok"
    assert service.asked == []


def test_a_key_that_is_not_taken(connected: Machine, service: Loopback) -> None:
    """UI-07 and CFG-03: a refused key is an error with its fix; the key is not shown."""
    service.reply = refusal(401, f"bad key {KEY}")
    row = checks(connected, code=1)["model"]
    assert row["level"] == "error"
    assert row["fix"]
    assert KEY not in str(row)


def test_a_service_that_is_not_there(connected: Machine, service: Loopback) -> None:
    """UI-07: a closed port is named with its fix, in Chinese as well."""
    service.stop()
    result = connected.run("doctor", "--json", lang="zh_cn")
    row = next(row for row in result.array() if row["name"] == "model")
    assert row["level"] in {"warning", "error"}
    assert any("一" <= letter <= "鿿" for letter in row["fix"])
